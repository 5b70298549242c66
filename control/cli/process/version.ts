/** `waf version`: this package's version, and with --server the running service's. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { switchFlag, type CommandContext, type CommandDefinition } from '../command.ts';

/** The command. */
export const versionCommand: CommandDefinition = {
  path: ['version'],
  summary: 'Print version and platform',
  flags: [{ flags: '--server', summary: "the running service's version instead" }],
  run: async (context, _args, flags) => {
    const { output, packageFolder } = context;
    if (switchFlag(flags, 'server')) return printServerVersion(context);
    const text = readFileSync(join(packageFolder, 'package.json'), 'utf8');
    const { version } = JSON.parse(text) as { version: string };
    const platform = `${process.platform}-${process.arch}`;
    const value = { version, node: process.version, platform };
    output.result(value, {
      columns: ['VERSION', 'NODE', 'PLATFORM'],
      rows: [[version, process.version, platform]],
    });
    return 0;
  },
};

async function printServerVersion(context: CommandContext): Promise<number> {
  const { VersionResponseSchema } = await import('../../../proto/gen/waf/v1/system_pb.ts');
  const { toJson } = await import('@bufbuild/protobuf');
  const response = await (await context.api()).system.version({});
  context.output.result(toJson(VersionResponseSchema, response), {
    columns: ['VERSION', 'COMMIT', 'BUILT'],
    rows: [
      [response.build?.version, response.build?.commit, response.build?.buildDate].map(String),
    ],
  });
  return 0;
}
