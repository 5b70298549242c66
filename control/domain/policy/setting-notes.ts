/**
 * Which rules check a list of the policy: what they refuse is allowed by that list, and no
 * exclusion of the check is proposed. Texts of requests are shown only where they are plain. Pure.
 */

import type { SecurityEventJson, SecurityMessageJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { HttpPolicyJson, PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';

type Lists =
  | 'allowedMethods'
  | 'allowedRequestContentTypes'
  | 'allowedHttpVersions'
  | 'restrictedExtensions'
  | 'restrictedHeadersBasic'
  | 'restrictedHeadersExtended'
  | 'allowedRequestContentCharsets';

interface Setting {
  readonly list: Lists & keyof HttpPolicyJson;
  /** What the request had. */
  readonly valueOf: (event: SecurityEventJson, message: SecurityMessageJson) => string;
}

const matched = ({ matchedValues = [], matchValue = '' }: SecurityMessageJson): string =>
  matchedValues[0]?.value ?? matchValue;
const header: Setting['valueOf'] = (_event, message) =>
  (message.matchedValues?.[0]?.key || matched(message)).toLowerCase();
const charset: Setting['valueOf'] = (_event, message) =>
  (/charset\s*=\s*["']?([^;"'\s]+)/i.exec(matched(message))?.[1] ?? matched(message))
    .replaceAll('|', '')
    .toLowerCase();

const settings: Readonly<Record<string, Setting>> = {
  911100: { list: 'allowedMethods', valueOf: ({ method = '' }) => method },
  920420: {
    list: 'allowedRequestContentTypes',
    valueOf: (_event, message) =>
      (matched(message).split(';')[0] ?? '').replaceAll('|', '').trim().toLowerCase(),
  },
  920430: { list: 'allowedHttpVersions', valueOf: (_event, message) => matched(message) },
  920440: {
    list: 'restrictedExtensions',
    valueOf: ({ path = '' }) => /\.[^./]+$/.exec(path)?.[0]?.toLowerCase() ?? '',
  },
  920450: { list: 'restrictedHeadersBasic', valueOf: header },
  920451: { list: 'restrictedHeadersExtended', valueOf: header },
  920480: { list: 'allowedRequestContentCharsets', valueOf: charset },
};

/** Methods where a policy names none. */
const crsMethods = ['GET', 'HEAD', 'POST', 'OPTIONS'];

/** The field of `httpPolicy` that a rule checks; null for other rules. */
export function settingOfRule(ruleId: string): string | null {
  return Object.hasOwn(settings, ruleId) ? settings[ruleId]!.list : null;
}

/** What to set so that the request of an event passes such a rule. */
export function settingNote(
  event: SecurityEventJson,
  message: SecurityMessageJson,
  policy: PolicyJson | undefined,
): string {
  const { ruleId = '' } = message;
  const { list, valueOf } = settings[ruleId]!;
  const value = valueOf(event, message);
  const shown = /^[\w!#$&^.+/-]{1,128}$/.test(value) ? value : '';
  const own = policy?.httpPolicy?.[list] ?? [];
  const known = own.length === 0 && list === 'allowedMethods' ? crsMethods : own;
  const allows = list.startsWith('allowed');
  const what = shown === '' ? 'what the request has' : shown;
  const start = `Rule ${ruleId} checks httpPolicy.${list}: `;
  if (known.length === 0 || shown === '') {
    return `${start}set the list ${allows ? 'with' : 'without'} ${what}, by waf policy update.`;
  }
  const lower = shown.toLowerCase();
  const rest = known.filter((one) => one.toLowerCase() !== lower);
  const next = allows ? [...rest, shown] : rest;
  const name = policy?.name ?? 'POLICY';
  const file = `httpPolicy: { ${list}: [${next.join(', ')}] }`;
  return `${start}echo '${file}' | waf policy update '${name.replaceAll("'", '')}' --file -`;
}
