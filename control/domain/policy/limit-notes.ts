/**
 * Says of a request that met a limit which one it was, what it is set to, and the command that
 * changes it. Limits are those of the policy as it is now. Pure.
 */

import type { SecurityEventJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { ArgLimitsJson, PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { httpLimits } from '../../../base/delivery-limits.ts';
import { valueLimits } from '../../../base/rule-limits.ts';
import { bodyExcessOf, bodyLimitsOf, longestBodyBytes } from './policy-seclang.ts';

/** A setting of a policy with the value that counts, and one that would be larger. */
interface Setting {
  readonly layer: 'crsCore' | 'argLimits';
  readonly name: string;
  readonly value: number;
}

/** The largest values that settings can have. */
const mosts: Readonly<Record<string, number>> = {
  requestBodyLimit: 4_194_304,
  requestBodyInspectionLimit: 1_073_741_824,
  responseBodyLimit: 1_073_741_824,
  maxNumArgs: 1_000_000,
  argNameLength: 10_000_000,
  argLength: 100_000_000,
  totalArgLength: 1_000_000_000,
  maxFileSize: 1_000_000_000_000,
  combinedFileSizes: 1_000_000_000_000,
};

/** Refusals of the proxy itself: no setting changes their limits. */
const fixed: Readonly<Record<string, readonly [what: string, value: number, unit: string]>> = {
  head_too_large: ['The request line and header fields', httpLimits.headBytesMax, 'bytes'],
  too_many_fields: ['A request', httpLimits.fieldsMax, 'header fields'],
  target_too_long: ['The request target', httpLimits.targetBytesMax, 'bytes'],
  body_too_large: ['A request body', longestBodyBytes, 'bytes'],
};

/** Rules that compare a value with a setting. */
const limitRules: Readonly<Record<string, keyof ArgLimitsJson>> = {
  199100: 'maxNumArgs',
  199101: 'argNameLength',
  199102: 'argLength',
  199103: 'totalArgLength',
  199104: 'maxFileSize',
  199105: 'combinedFileSizes',
  920360: 'argNameLength',
  920370: 'argLength',
  920380: 'maxNumArgs',
  920390: 'totalArgLength',
  920400: 'maxFileSize',
  920410: 'combinedFileSizes',
};

/** Limits of inspection that every policy has; `argumentLimitAction` says what follows. */
const inspectionLimits: Readonly<Record<string, number>> = {
  cookies: valueLimits.cookiesMax,
  arguments: 1_000,
  'argument-rows': valueLimits.argumentRowsMax,
  'json-depth': 512,
  'json-nesting': valueLimits.jsonStackMax,
  'json-names': valueLimits.jsonPathBytesMax,
  'json-name-bytes': valueLimits.jsonNameBytesMax,
  'xml-elements': valueLimits.xmlElementsMax,
  'xml-depth': valueLimits.xmlDepthMax,
  'xml-attributes': valueLimits.xmlAttributesMax,
  'grpc-depth': valueLimits.grpcDepthMax,
  'grpc-fields': valueLimits.grpcFieldsMax,
  'multipart-parts': valueLimits.multipartPartsMax,
  'multipart-depth': valueLimits.multipartDepthMax,
  'multipart-part-headers': valueLimits.multipartPartHeadersMax,
  'multipart-header-bytes': valueLimits.multipartHeaderBytesMax,
  'xpath-nodes': valueLimits.xpathVisitsMax,
  'xpath-text': valueLimits.xpathTextCharsMax,
};

const pastBudget = new Set(['199400', '199404']);

/** True for a rule that only compares with a limit; no exclusion is meant for it. */
export function isLimitRule(ruleId: string): boolean {
  return /^19940[03456]$/.test(ruleId) || /^1991\d\d$/.test(ruleId);
}

/**
 * The limits that an event met, a sentence each; `policy` undefined where none inspects now, and
 * `bodyBytes` 0 where the length of the body is not known.
 */
export function limitNotes(
  event: SecurityEventJson,
  policy: PolicyJson | undefined,
  bodyBytes = 0,
): string[] {
  const { raw = {}, messages = [] } = event;
  const refusal = typeof raw['refusal'] === 'string' ? raw['refusal'] : '';
  const notes: string[] = [];
  const bound = fixed[refusal];
  if (bound !== undefined) {
    notes.push(`${bound[0]} may have ${bound[1]} ${bound[2]}; no setting changes this limit.`);
  }
  if (policy === undefined) return notes;
  const ids = new Set(messages.map(({ ruleId = '' }) => ruleId));
  if (refusal === 'body_over_inspection_limit') notes.push(...refusedBody(policy, bodyBytes));
  if (refusal === 'response_over_inspection_limit') notes.push(...cutAnswer(policy));
  if ([...ids].some((id) => pastBudget.has(id))) notes.push(...longBody(policy, ids));
  const names = new Set([...ids].flatMap((id) => limitRules[id] ?? []));
  for (const name of names) notes.push(...argumentNote(name, policy));
  const reached = Array.isArray(raw['limitsReached']) ? raw['limitsReached'] : [];
  const uninspected = raw['uninspectedBytes'];
  for (const limit of reached) {
    if (limit === 'body-bytes') notes.push(...endOfInspection(policy, uninspected));
    else if (typeof limit === 'string') notes.push(inspectionNote(limit, policy));
  }
  return notes;
}

function refusedBody(policy: PolicyJson, bodyBytes: number): string[] {
  const { crsCore = {}, argLimits = {} } = policy;
  const { limit, upload } = bodyLimitsOf(crsCore, argLimits);
  const files = { layer: 'argLimits', name: 'combinedFileSizes', value: upload } as const;
  const how = change(files, policy, bodyBytes);
  const uploads = `A multipart body may have ${upload + limit} bytes: ${how}`;
  if (crsCore.requestBodyLimitAction === 'REQUEST_BODY_LIMIT_ACTION_OBSERVE') return [uploads];
  const budget = { layer: 'crsCore', name: 'requestBodyLimit', value: limit } as const;
  return [
    `A body that is not multipart may have ${limit} bytes: ${change(budget, policy, bodyBytes)}`,
    uploads,
  ];
}

function longBody(policy: PolicyJson, ids: ReadonlySet<string>): string[] {
  const { limit } = bodyLimitsOf(policy.crsCore ?? {}, policy.argLimits ?? {});
  const setting = { layer: 'crsCore', name: 'requestBodyLimit', value: limit } as const;
  const what = ids.has('199404')
    ? `Fields of a multipart body may have ${limit + valueLimits.bodyExcessBytesMax} bytes`
    : `The body is longer than the ${limit} bytes that decide as a whole`;
  return [`${what}: ${change(setting, policy)}`];
}

function cutAnswer(policy: PolicyJson): string[] {
  const value = Number(policy.crsCore?.responseBodyLimit ?? 0);
  const setting = { layer: 'crsCore', name: 'responseBodyLimit', value } as const;
  return [`The answer is longer than ${value} bytes: ${change(setting, policy)}`];
}

function argumentNote(name: keyof ArgLimitsJson, policy: PolicyJson): string[] {
  const { crsCore = {}, argLimits = {} } = policy;
  const stated = Number(argLimits[name] ?? 0);
  const value = name === 'combinedFileSizes' ? bodyLimitsOf(crsCore, argLimits).upload : stated;
  if (value === 0) return [];
  const how = change({ layer: 'argLimits', name, value }, policy);
  return [`The limit is argLimits.${name}, ${value}: ${how}`];
}

function endOfInspection(policy: PolicyJson, uninspected: unknown): string[] {
  const { inspected } = bodyExcessOf(policy.crsCore ?? {}, policy.argLimits ?? {});
  const setting = {
    layer: 'crsCore',
    name: 'requestBodyInspectionLimit',
    value: inspected,
  } as const;
  const count = typeof uninspected === 'number' ? `${uninspected} bytes` : 'The end';
  const start = `${count} of the body were not inspected: inspection ends at byte ${inspected}`;
  return [`${start}. ${change(setting, policy)}`];
}

function inspectionNote(limit: string, { id = 'POLICY', argLimits }: PolicyJson): string {
  const value = inspectionLimits[limit];
  const bound = value === undefined ? '' : ` (${value})`;
  const observed = argLimits?.argumentLimitAction === 'ARGUMENT_LIMIT_ACTION_OBSERVE';
  const start = `The request reached the limit ${limit}${bound}, which no setting raises`;
  if (observed) return `${start}; what follows was inspected as well as can be.`;
  const records = 'ARGUMENT_LIMIT_ACTION_OBSERVE';
  const how = command(id, 'argLimits', 'argumentLimitAction', records);
  return `${start}. To record such requests: ${how}`;
}

/** The command that doubles a setting until it is at least `needed`, as far as it can be set. */
function change(
  { layer, name, value }: Setting,
  { id = 'POLICY' }: PolicyJson,
  needed = 0,
): string {
  const most = mosts[name] ?? Number.MAX_SAFE_INTEGER;
  if (value >= most) return `no larger ${layer}.${name} can be set`;
  let larger = Math.max(1, 2 * value);
  while (larger < Math.min(needed, most)) larger *= 2;
  return `change it with ${command(id, layer, name, String(Math.min(larger, most)))}`;
}

function command(id: string, layer: string, name: string, value: string): string {
  return `echo '${layer}: {${name}: ${value}}' | waf policy update ${id} --file -`;
}
