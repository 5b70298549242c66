/** `waf rate-limit`: how many requests a client may send. */

import type { RateLimitEndpointRecord } from '../../proto/gen/waf/v1/rate_limit_pb.ts';
import type { CommandContext, CommandDefinition, FlagDefinition } from './command.ts';
import { listFlag, switchFlag, textFlag } from './command.ts';
import { badFlag } from './input.ts';
import { showMessage, showRemoved } from './show.ts';

const placeFlags: readonly FlagDefinition[] = [
  { flags: '--policy <policy>', summary: 'a policy', resource: 'policy' },
  { flags: '--site <site>', summary: 'a site', resource: 'site' },
];

/** Commands on rate limits. */
export const rateLimitCommands: readonly CommandDefinition[] = [
  {
    path: ['rate-limit', 'list'],
    summary: 'List the rate limits of a policy or site',
    help: '',
    arguments: [],
    flags: placeFlags,
    run: async (context, _args, flags) => {
      const { items } = await (
        await context.api()
      ).rateLimits.listRateLimitEndpoints({
        policyId: textFlag(flags, 'policy') ?? '',
        siteId: textFlag(flags, 'site') ?? '',
      });
      return showLimits(context, items);
    },
  },
  {
    path: ['rate-limit', 'set'],
    summary: 'Create or change a rate limit; the same path and methods are the same limit',
    help: 'Example: waf rate-limit set --site SITE --path /login --requests 5 --window 60 --action ban',
    arguments: [],
    flags: [
      ...placeFlags,
      { flags: '--path <pattern>', summary: 'path, with stars for parts of it', required: true },
      { flags: '--method <method>', summary: 'only these methods; repeatable', repeatable: true },
      { flags: '--requests <count>', summary: 'requests that are let through', required: true },
      { flags: '--window <seconds>', summary: 'in a rolling window of', required: true },
      {
        flags: '--action <action>',
        summary: 'what the next request meets',
        choices: ['block', 'ban', 'challenge'],
        default: 'block',
      },
      { flags: '--for <seconds>', summary: 'how long the action lasts' },
      { flags: '--key <key>', summary: 'ip, session or header:NAME', default: 'ip' },
      { flags: '--observe', summary: 'count and record only' },
    ],
    run: async (context, _args, flags) => {
      const methods = [...listFlag(flags, 'method')];
      const { endpoint } = await (
        await context.api()
      ).rateLimits.upsertRateLimitEndpoint({
        endpoint: {
          policyId: textFlag(flags, 'policy') ?? '',
          siteId: textFlag(flags, 'site') ?? '',
          pathPattern: textFlag(flags, 'path') ?? '',
          methodMode: methods.length > 0 ? 'include' : 'any',
          methods,
          action: textFlag(flags, 'action') ?? '',
          requestCount: numberOf(textFlag(flags, 'requests'), '--requests'),
          windowSeconds: numberOf(textFlag(flags, 'window'), '--window'),
          mitigationSeconds: numberOf(textFlag(flags, 'for') ?? '0', '--for'),
          countingKey: textFlag(flags, 'key') ?? '',
          enforcementMode: switchFlag(flags, 'observe') ? 'observe' : 'enforce',
        },
      });
      return showLimits(context, endpoint === undefined ? [] : [endpoint]);
    },
  },
  {
    path: ['rate-limit', 'delete'],
    summary: 'Remove a rate limit',
    help: '',
    arguments: [{ name: '<id>', summary: 'limit id' }],
    flags: [],
    run: async (context, [id = '']) => {
      await (await context.api()).rateLimits.deleteRateLimitEndpoint({ id });
      showRemoved(context, 'rate limit', id);
      return 0;
    },
  },
];

function numberOf(text: string | undefined, flag: string): number {
  if (text !== undefined && /^\d{1,9}$/.test(text)) return Number(text);
  throw badFlag(`${flag} wants a whole number`);
}

async function showLimits(
  context: CommandContext,
  limits: readonly RateLimitEndpointRecord[],
): Promise<number> {
  const { ListRateLimitEndpointsResponseSchema } =
    await import('../../proto/gen/waf/v1/rate_limit_pb.ts');
  const { create } = await import('@bufbuild/protobuf');
  const response = create(ListRateLimitEndpointsResponseSchema, { items: [...limits] });
  await showMessage(context, ListRateLimitEndpointsResponseSchema, response, {
    columns: ['ID', 'PATH', 'METHODS', 'REQUESTS', 'WINDOW', 'ACTION', 'KEY', 'MODE'],
    rows: limits.map((one) => [
      one.id,
      one.pathPattern,
      one.methods.join(' ') || 'any',
      String(one.requestCount),
      `${one.windowSeconds} s`,
      one.action,
      one.countingKey,
      one.enforcementMode,
    ]),
  });
  return 0;
}
