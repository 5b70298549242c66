/** `waf token ...`: API tokens, which programs call the API with. */

import { timestampFromMs, type Timestamp } from '@bufbuild/protobuf/wkt';
import type { ApiToken } from '../../../proto/gen/waf/access/v1/token_pb.ts';
import { boundsOf } from '../../limits/field-bounds.ts';
import { signInLimits } from '../../limits/sign-in-limits.ts';
import type {
  ArgumentDefinition,
  CommandContext,
  CommandDefinition,
  FlagValues,
} from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { badFlag, wholeNumber } from '../input.ts';
import type { Table } from '../output.ts';
import { callCommand, listCommand } from '../regular-commands.ts';
import { showMessage, timeText } from '../show.ts';

const dayMs = 24 * 3600_000;
const never = 'never';
const tokenArgument: readonly ArgumentDefinition[] = [
  { name: '<id>', summary: 'id of the token; see token list' },
];
const daysFlag = { flags: '--days <n>', summary: 'days until the token ends, at most 366' };

/** Commands on API tokens. */
export const tokenCommands: readonly CommandDefinition[] = [
  {
    path: ['token', 'create'],
    summary: 'Create an API token; its text is shown once',
    help:
      'A token never holds more than its owner does at the time of a call. Programs send it as\n' +
      '`Authorization: Bearer`; waf reads it from --token, WAF_TOKEN, or auth login --api-token.\n' +
      'Example: waf token create deploy --role "WAF Operator" --days 90',
    arguments: [{ name: '<name>', summary: 'name, unique among the tokens of the owner' }],
    flags: [
      {
        flags: '--role <role>',
        summary: 'role whose permissions it has',
        required: true,
        resource: 'role',
      },
      {
        flags: '--permission <code>',
        summary: 'only this permission of the role; repeatable',
        repeatable: true,
      },
      {
        flags: '--site <site>',
        summary: 'only this site; repeatable',
        repeatable: true,
        resource: 'site',
      },
      daysFlag,
      { flags: '--no-expiry', summary: 'the token never ends by itself' },
      {
        flags: '--may-manage-tokens',
        summary: 'the token may make tokens, which end with it',
      },
      {
        flags: '--owner <user>',
        summary: 'user who owns it; needed on the local socket',
        resource: 'user',
      },
    ],
    run: runCreate,
  },
  listCommand({
    path: ['token', 'list'],
    summary: 'List your API tokens',
    flags: [{ flags: '--all-owners', summary: 'those of everybody; needs user:read' }],
    call: ({ tokens }, { page }, _args, flags) =>
      tokens.listApiTokens({ page, allOwners: switchFlag(flags, 'allOwners') }),
    table: tableOf,
  }),
  callCommand({
    path: ['token', 'show'],
    summary: 'Show an API token and what it may do now',
    arguments: tokenArgument,
    call: ({ tokens }, [id = '']) => tokens.getApiToken({ id }),
    table: ({ token }) => ({
      columns: ['TOKEN', 'PERMISSION'],
      rows: (token?.effectivePermissions ?? []).map((code) => [token?.name ?? '', code]),
    }),
  }),
  {
    path: ['token', 'rotate'],
    summary: 'Give an API token a new text, which is shown once',
    help: 'The old text works until the overlap ends. Example: waf token rotate 3fK0aZ81bQxY --overlap 24',
    arguments: tokenArgument,
    flags: [
      {
        flags: '--overlap <hours>',
        summary: 'hours that the old text works, at most 168; 0 ends it at once',
        default: '1',
      },
      daysFlag,
    ],
    run: runRotate,
  },
  callCommand({
    path: ['token', 'revoke'],
    summary: 'End an API token at once',
    help: 'Tokens that it made end with it.',
    arguments: tokenArgument,
    call: ({ tokens }, [id = '']) => tokens.revokeApiToken({ id }),
    table: (response, [id = '']) => ({
      columns: ['TOKEN', 'ENDED'],
      rows: [[id, String(response.revokedCount)]],
    }),
  }),
];

async function runCreate(
  context: CommandContext,
  [name = '']: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const end = endOf(flags);
  const noExpiry = flags['expiry'] === false;
  if ((end === undefined) !== noExpiry) {
    throw badFlag('token create wants either --days or --no-expiry');
  }
  const { tokens } = await context.api();
  const response = await tokens.createApiToken({
    name,
    roleId: textFlag(flags, 'role') ?? '',
    permissions: [...listFlag(flags, 'permission')],
    siteIds: [...listFlag(flags, 'site')],
    mayManageTokens: switchFlag(flags, 'mayManageTokens'),
    ownerId: textFlag(flags, 'owner') ?? '',
    noExpiry,
    ...(end === undefined ? {} : { expiresAt: end }),
  });
  return showMessage(context, response, secretTable(response));
}

async function runRotate(
  context: CommandContext,
  [id = '']: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { RotateApiTokenRequestSchema } =
    await import('../../../proto/gen/waf/access/v1/token_pb.ts');
  const { max } = boundsOf(RotateApiTokenRequestSchema, 'overlapSeconds');
  const hours = Number(textFlag(flags, 'overlap'));
  if (!(hours >= 0 && hours * 3600 <= max)) {
    throw badFlag(`--overlap wants hours, from 0 to ${max / 3600}`);
  }
  const end = endOf(flags);
  const { tokens } = await context.api();
  const response = await tokens.rotateApiToken({
    id,
    overlapSeconds: Math.round(hours * 3600),
    ...(end === undefined ? {} : { expiresAt: end }),
  });
  return showMessage(context, response, secretTable(response));
}

function endOf(flags: FlagValues): Timestamp | undefined {
  const text = textFlag(flags, 'days');
  if (text === undefined) return undefined;
  const days = wholeNumber(text, '--days', { min: 1, max: signInLimits.tokenMs / dayMs });
  return timestampFromMs(Date.now() + days * dayMs);
}

function secretTable(answer: { readonly token?: ApiToken | undefined; readonly secret: string }) {
  const { token, secret } = answer;
  return {
    columns: ['ID', 'NAME', 'ENDS', 'TOKEN (SHOWN ONCE)'],
    rows: [[token?.id ?? '', token?.name ?? '', timeText(token?.expiresAt) || never, secret]],
  };
}

function tableOf(tokens: readonly ApiToken[]): Table {
  return {
    columns: ['ID', 'NAME', 'OWNER', 'ROLE', 'SITES', 'ENDS', 'LAST USED', 'FROM', 'USABLE'],
    rows: tokens.map((token) => [
      token.id,
      token.name,
      token.ownerName,
      token.roleName,
      token.siteIds.length === 0 ? 'all' : String(token.siteIds.length),
      timeText(token.expiresAt) || never,
      timeText(token.lastUsedAt) || never,
      token.lastUsedAddress,
      token.usable ? 'yes' : 'no',
    ]),
  };
}
