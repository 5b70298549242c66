/** AIService/TranslateLogQuery: a question becomes filters that QuerySecurityEvents takes. */

import { create } from '@bufbuild/protobuf';
import {
  SecurityEventQuerySchema,
  type AIService,
  type SecurityEventQuery,
} from '../../../proto/gen/waf/v1/ai_pb.ts';
import {
  QuerySecurityEventsRequestSchema,
  SecurityEventOutcome,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { AppError } from '../../../base/errors.ts';
import { requireAssistant } from '../../assist/assistant.ts';
import { escapeMarkup } from '../../assist/plain-text.ts';
import { translationPrompt } from '../../assist/prompts.ts';
import { meets, type Caller } from '../../auth/permissions.ts';
import { readJsonAnswer } from '../../domain/policy/drafted-rule.ts';
import { refusal } from '../../domain/errors.ts';
import { aiLimits } from '../../limits/ai-limits.ts';
import { securityFilter } from '../../observe/query.ts';
import { sites } from '../../store/collections.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import { requireText } from '../convert.ts';
import type { Method } from '../method.ts';
import { ownedBy } from '../resource/owned.ts';
import { assistantOf } from './shared-assistant.ts';

/** The filters are held to the rules of the query before they are handed out. */
export function translateLogQuery(
  parts: Uses<'store' | 'clock'>,
): Method<typeof AIService, 'translateLogQuery'> {
  return async ({ query: question }, context) => {
    requireAssistant(parts.store);
    const caller = callerOf(context);
    const known = sitesOf(parts, caller);
    const messages = translationPrompt(requireText(question, 'query'), known);
    const { signal } = context;
    const actor = actorNote(caller);
    const asked = { actor, purpose: 'translate', messages, signal } as const;
    const answer = await assistantOf(parts).askWhole(asked);
    const read = readJsonAnswer(answer);
    const query = readQuery(read, new Set(known.map(({ id }) => id)));
    checkQuery(caller, query);
    const notes = typeof read['notes'] === 'string' ? read['notes'] : '';
    return { query, notes: escapeMarkup(notes.slice(0, 2000)) };
  };
}

/** Sites that the caller may see. */
function sitesOf({ store }: Uses<'store'>, { permissions, tenantId }: Caller) {
  const needed = { public: false, anyPermission: ['site:read'], allPermission: [] };
  if (!meets(needed, permissions)) return [];
  return ownedBy(store, { tenantId }, { collection: sites })
    .slice(0, aiLimits.sitesNamedMax)
    .map(({ id, name }) => ({ id, name: name ?? '' }));
}

const outcomes: Readonly<Record<string, SecurityEventOutcome>> = {
  any: SecurityEventOutcome.ANY,
  blocked: SecurityEventOutcome.BLOCKED,
  passed: SecurityEventOutcome.PASSED,
};
const fields = ['siteId', 'clientIpCidrs', 'ruleIds', 'lookbackSeconds', 'outcome', 'notes'];

/** Errors: failed_precondition for what is no query. */
function readQuery(
  answer: Readonly<Record<string, unknown>>,
  siteIds: ReadonlySet<string>,
): SecurityEventQuery {
  const wrong = (): AppError =>
    refusal('failed_precondition', 'the model gave filters that no query takes; ask otherwise');
  if (Object.keys(answer).some((name) => !fields.includes(name))) throw wrong();
  const texts = (value: unknown): string[] => {
    const list = value ?? [];
    if (!Array.isArray(list) || !list.every((one) => typeof one === 'string')) throw wrong();
    return list;
  };
  const { siteId = '', lookbackSeconds = 0, outcome = 'any' } = answer;
  if (typeof siteId !== 'string' || (siteId !== '' && !siteIds.has(siteId))) throw wrong();
  const back = Number.isSafeInteger(lookbackSeconds) ? Number(lookbackSeconds) : -1;
  if (back < 0 || back > aiLimits.lookbackSecondsMax) throw wrong();
  const known = typeof outcome === 'string' ? outcomes[outcome] : undefined;
  if (known === undefined) throw wrong();
  const ruleIds = texts(answer['ruleIds']);
  if (!ruleIds.every((id) => /^\d{1,9}$/.test(id))) throw wrong();
  const clientIpCidrs = texts(answer['clientIpCidrs']);
  const lookback = { lookbackSeconds: BigInt(back) };
  return create(SecurityEventQuerySchema, {
    ...{ siteId, clientIpCidrs, ruleIds, outcome: known },
    ...lookback,
  });
}

/** Holds the filters to the rules of QuerySecurityEvents. Errors: failed_precondition. */
function checkQuery({ tenantId }: Caller, query: SecurityEventQuery): void {
  const { siteId, clientIpCidrs, ruleIds, outcome } = query;
  const asked = create(QuerySecurityEventsRequestSchema, {
    ...{ siteId, clientIpCidrs, ruleIds, outcome },
  });
  try {
    securityFilter(tenantId, asked);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const problem = 'the model gave filters that no query takes; ask otherwise';
    throw refusal('failed_precondition', problem);
  }
}
