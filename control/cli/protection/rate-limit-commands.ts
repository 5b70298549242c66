/** `waf rate-limit`: how many requests a client may send. */

import {
  ListRateLimitEndpointsResponseSchema,
  RateLimitEndpointRecordSchema,
  type RateLimitEndpointRecord,
} from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition, FlagDefinition, FlagValues } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { wordsOf } from '../field-flags.ts';
import { badFlag, wholeNumber } from '../input.ts';
import { deleteCommand } from '../regular-commands.ts';
import { showMessage } from '../show.ts';
import { noteRateLimit } from '../try-lines.ts';
import { listEverywhere } from './every-place.ts';

const placeFlags: readonly FlagDefinition[] = [
  { flags: '--policy <policy>', summary: 'a policy', resource: 'policy' },
  { flags: '--site <site>', summary: 'a site', resource: 'site' },
];

/** Commands on rate limits. */
export const rateLimitCommands: readonly CommandDefinition[] = [
  {
    path: ['rate-limit', 'list'],
    summary: 'List the rate limits of a policy, of a site, or all of them',
    flags: placeFlags,
    run: async (context, _args, flags) => {
      const api = await context.api();
      const place = placeOf(flags);
      if (place.policyId !== '' || place.siteId !== '') {
        return showLimits(context, (await api.rateLimits.listRateLimitEndpoints(place)).items);
      }
      const { rateLimits } = api;
      const all = await listEverywhere(api, (one) => rateLimits.listRateLimitEndpoints(one));
      return showLimits(context, all);
    },
  },
  {
    path: ['rate-limit', 'set'],
    summary: 'Create or change a rate limit; the same path and methods are the same limit',
    help:
      'Unspecified options are unchanged.\n' +
      'Example: waf rate-limit set --site SITE --path /login --requests 5 --window 60 --action ban',
    flags: [
      ...placeFlags,
      { flags: '--path <pattern>', summary: 'path, with stars for parts of it', required: true },
      { flags: '--method <method>', summary: 'only these methods; repeatable', repeatable: true },
      {
        flags: '--requests <count>',
        summary: 'requests that are let through; needed for a new one',
      },
      { flags: '--window <seconds>', summary: 'in a rolling window of; needed for a new one' },
      {
        flags: '--action <action>',
        summary: 'what the next request meets',
        choices: wordsOf(RateLimitEndpointRecordSchema, 'action'),
      },
      { flags: '--for <seconds>', summary: 'how long the action lasts' },
      {
        flags: '--ban-scope <scope>',
        summary: 'with --action ban: where it holds; default is site',
        choices: wordsOf(RateLimitEndpointRecordSchema, 'banScope'),
      },
      { flags: '--key <key>', summary: 'ip, session or header:NAME; a new one has ip' },
      { flags: '--observe', summary: 'count and record only' },
      { flags: '--enforce', summary: 'act again' },
    ],
    run: async (context, _args, flags) => {
      const { rateLimits } = await context.api();
      const place = placeOf(flags);
      if (place.policyId === '' && place.siteId === '') {
        throw badFlag('Name the --policy or the --site that the limit belongs to.');
      }
      const methods = [...listFlag(flags, 'method')];
      const pathPattern = textFlag(flags, 'path') ?? '';
      const asked = { ...place, pathPattern, methods };
      const { endpoint } = await againWhenChanged(async () => {
        const before = (await rateLimits.listRateLimitEndpoints(place)).items.find(
          (one) => sameLimit(one) === sameLimit(asked),
        );
        const wanted = { ...asked, ...limitOf(flags, before) };
        return rateLimits.upsertRateLimitEndpoint({
          endpoint: before === undefined ? wanted : { ...before, ...wanted },
          expectedUpdatedAt: readAt(before?.updatedAt),
        });
      });
      const code = await showLimits(context, endpoint === undefined ? [] : [endpoint]);
      if (endpoint !== undefined) await noteRateLimit(context, endpoint);
      return code;
    },
  },
  deleteCommand({
    path: ['rate-limit', 'delete'],
    summary: 'Remove a rate limit',
    arguments: [{ name: '<id>', summary: 'limit id' }],
    kind: 'rate limit',
    call: ({ rateLimits }, id) => rateLimits.deleteRateLimitEndpoint({ id }),
  }),
];

/** The policy or site that the flags name; '' for what they do not name. */
function placeOf(flags: FlagValues): { policyId: string; siteId: string } {
  return { policyId: textFlag(flags, 'policy') ?? '', siteId: textFlag(flags, 'site') ?? '' };
}

/** Place, path and methods: what makes two limits the same one. */
function sameLimit(
  one: Pick<RateLimitEndpointRecord, 'policyId' | 'siteId' | 'pathPattern' | 'methods'>,
): string {
  const methods = one.methods.map((method) => method.toUpperCase()).sort();
  return JSON.stringify([one.policyId, one.siteId, one.pathPattern, methods]);
}

/** What flags say of a limit; what they do not name is as before. Errors: AppError bad_flag. */
function limitOf(flags: FlagValues, before: RateLimitEndpointRecord | undefined) {
  const [observe, enforce] = [switchFlag(flags, 'observe'), switchFlag(flags, 'enforce')];
  if (observe && enforce) throw badFlag('--observe and --enforce exclude each other');
  const number = (name: string, kept: number | undefined): number => {
    const text = textFlag(flags, name);
    return text === undefined && kept !== undefined ? kept : wholeNumber(text ?? '', `--${name}`);
  };
  const banScope = textFlag(flags, 'banScope');
  return {
    ...(banScope === undefined ? {} : { banScope }),
    methodMode: listFlag(flags, 'method').length > 0 ? 'include' : 'any',
    action: textFlag(flags, 'action') ?? before?.action ?? 'block',
    requestCount: number('requests', before?.requestCount),
    windowSeconds: number('window', before?.windowSeconds),
    mitigationSeconds: number('for', before?.mitigationSeconds ?? 0),
    countingKey: textFlag(flags, 'key') ?? before?.countingKey ?? 'ip',
    enforcementMode: observe
      ? 'observe'
      : enforce
        ? 'enforce'
        : (before?.enforcementMode ?? 'enforce'),
  };
}

async function showLimits(
  context: CommandContext,
  limits: readonly RateLimitEndpointRecord[],
): Promise<number> {
  const { create } = await import('@bufbuild/protobuf');
  const response = create(ListRateLimitEndpointsResponseSchema, { items: [...limits] });
  return showMessage(context, response, {
    columns: ['ID', 'PLACE', 'PATH', 'METHODS', 'REQUESTS', 'WINDOW', 'ACTION', 'KEY', 'MODE'],
    ids: { PLACE: ['site', 'policy'] },
    rows: limits.map((one) => [
      one.id,
      one.siteId === '' ? one.policyId : one.siteId,
      one.pathPattern,
      one.methods.join(' ') || 'any',
      String(one.requestCount),
      `${one.windowSeconds} s`,
      one.action,
      one.countingKey,
      one.enforcementMode,
    ]),
  });
}
