/** `waf agent install|install-status|token|show|update|delete`: nodes come, change and go. */

import type { Agent } from '../../../proto/gen/waf/v1/agent_pb.ts';
import {
  listFlag,
  textFlag,
  type CommandDefinition,
  type FlagDefinition,
  type FlagValues,
} from '../command.ts';
import { AppError } from '../../../base/errors.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { callCommand } from '../regular-commands.ts';
import { showMessage, timeText } from '../show.ts';

const tokenFlags: readonly FlagDefinition[] = [
  { flags: '--tag <tag>', summary: 'label of the nodes that enroll', repeatable: true },
  { flags: '--ttl <seconds>', summary: '60 to 2592000; default 86400' },
  { flags: '--nodes <n>', summary: 'nodes that may enroll, 1 to 1000; default 1' },
];
const agentArgument = [nameArgument('node')];

/** Commands that change nodes. */
export const agentChangeCommands: readonly CommandDefinition[] = [
  {
    path: ['agent', 'install'],
    summary: 'Print the command that installs and enrolls a node',
    help: 'The command holds the enrollment secret: whoever has it can enroll a node until it expires.',
    flags: [
      {
        flags: '--controller <url>',
        summary: 'management URL as the node reaches it, https://HOST:PORT',
        required: true,
      },
      ...tokenFlags,
      {
        flags: '--print <what>',
        summary: 'what to print; default command',
        choices: ['command', 'foreground', 'script', 'foreground-script'],
      },
    ],
    run: async (context, _args, flags) => {
      const { agents } = await context.api();
      const answer = await agents.createNodeInstallation({
        controllerUrl: textFlag(flags, 'controller') ?? '',
        ...tokenWish(flags),
      });
      const texts: Readonly<Record<string, string>> = {
        command: answer.command,
        foreground: answer.foregroundCommand,
        script: answer.script,
        'foreground-script': answer.foregroundScript,
      };
      if (context.output.format === 'json') {
        return showMessage(context, answer, empty);
      }
      process.stdout.write(`${texts[textFlag(flags, 'print') ?? 'command'] ?? ''}\n`);
      process.stderr.write(
        `Token ${answer.tokenId}, nodes: ${answer.maxNodes}, until ${timeText(answer.expiresAt)}.\n`,
      );
      return 0;
    },
  },
  callCommand({
    path: ['agent', 'install-status'],
    summary: 'Show how many nodes used an enrollment token',
    arguments: [{ name: '<token>', summary: 'id of the token' }],
    call: ({ agents }, [tokenId = '']) => agents.getNodeInstallStatus({ tokenId }),
    table: (answer, [tokenId = '']) => ({
      columns: ['TOKEN', 'ENROLLED', 'OF', 'EXPIRES'],
      rows: [
        [
          tokenId,
          String(answer.registeredNodes),
          String(answer.maxNodes),
          timeText(answer.expiresAt),
        ],
      ],
    }),
  }),
  callCommand({
    path: ['agent', 'token'],
    summary: 'Issue an enrollment token; it is shown once',
    flags: tokenFlags,
    call: ({ agents }, _args, flags) => agents.issueEnrollmentToken(tokenWish(flags)),
    table: (answer) => ({
      columns: ['ID', 'TOKEN', 'NODES', 'EXPIRES'],
      rows: [[answer.tokenId, answer.token, String(answer.maxNodes), timeText(answer.expiresAt)]],
    }),
  }),
  callCommand({
    path: ['agent', 'show'],
    summary: 'Show an enrolled node',
    arguments: agentArgument,
    call: ({ agents }, [id = '']) => agents.getAgent({ id }),
    table: ({ agent }) => agentTable(agent),
  }),
  {
    path: ['agent', 'update'],
    summary: 'Change the name or the tags of a node',
    help: 'Unspecified options are unchanged. Tags are added, without --replace or --remove.',
    arguments: agentArgument,
    flags: [
      { flags: '--name <name>', summary: 'what people call it' },
      { flags: '--tag <tag>', summary: 'label of the node', repeatable: true },
      ...listChangeFlags,
    ],
    run: async (context, [id = ''], flags) => {
      const { agents } = await context.api();
      const name = textFlag(flags, 'name');
      const named = listFlag(flags, 'tag');
      const mode = listMode(flags);
      const changes = named.length > 0 || mode === 'replace';
      const present = (await agents.getAgent({ id })).agent?.tags ?? [];
      const tags = changes ? changeList(mode, present, named, '--tag') : [...present];
      const mask = [...(name === undefined ? [] : ['name']), ...(changes ? ['tags'] : [])];
      const agent = { id, name: name ?? '', tags };
      const answer = await agents.updateAgent({ agent, updateMask: mask.join(',') });
      noteChange(context.output, 'tags removed', present, answer.agent?.tags ?? []);
      return showMessage(context, answer, agentTable(answer.agent));
    },
  },
  callCommand({
    path: ['agent', 'delete'],
    summary: 'Remove a node; its streams end and its certificate is no longer accepted',
    help: 'It serves its last configuration until it is stopped. It cannot enroll with the same token again.',
    arguments: agentArgument,
    call: ({ agents }, [id = '']) => agents.deleteAgent({ id }),
    table: (answer, [id = '']) => ({
      columns: ['ID', 'DELETED'],
      rows: [[id, answer.result?.changed === true ? 'yes' : 'no']],
    }),
  }),
];

const empty: Table = { columns: [], rows: [] };

function tokenWish(flags: FlagValues) {
  return {
    tags: [...listFlag(flags, 'tag')],
    ttlSeconds: whole(flags, 'ttl'),
    maxNodes: whole(flags, 'nodes'),
  };
}

/** Zero where the flag is absent, which acts as the default. Errors: AppError bad_flag. */
function whole(flags: FlagValues, name: string): number {
  const text = textFlag(flags, name);
  if (text === undefined) return 0;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new AppError('bad_flag', `--${name} takes a whole number, not ${text}`, {
    source: 'config',
  });
}

function agentTable(agent: Agent | undefined): Table {
  const rows = agent === undefined ? [] : [agent];
  return {
    columns: ['ID', 'NAME', 'TAGS', 'HOST', 'ADDRESS', 'VERSION', 'LAST SEEN'],
    rows: rows.map((one) => [
      one.id,
      one.name,
      one.tags.join(','),
      one.hostname,
      one.ip,
      one.version,
      timeText(one.lastHeartbeat),
    ]),
  };
}
