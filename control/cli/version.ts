/** `waf version`: this package's version, and with --server the running service's. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandDefinition } from './command.ts';

/** The command. */
export const versionCommand: CommandDefinition = {
  path: ['version'],
  summary: 'Print version and platform',
  help: '',
  arguments: [],
  flags: [],
  run: async ({ output, packageFolder }) => {
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
