/**
 * Says of each rule that the product puts beside a ruleset whether an exclusion or override can
 * change it; else what it refuses, why none is meant for it, and what to do instead. Pure.
 * `policy-body-rules.ts` and `policy-seclang.ts` hold the rules.
 */

const parseAction =
  'set httpPolicy.requestBodyParseFailureAction to HTTP_POLICY_VIOLATION_ACTION_OBSERVE';
const limitAction = 'set crsCore.requestBodyLimit or crsCore.requestBodyLimitAction of the policy';
const argumentAction = 'set argLimits.argumentLimitAction of the policy, or the limit itself';
const processors = 'name the media type in httpPolicy.bodyProcessorOverrides of the policy';
const oneReading =
  'servers would read the request in different ways, and an attack would hide in one of them';

/** What a rule does, and what to do instead of excluding it; by number. */
const notes: Readonly<Record<number, readonly [what: string, instead: string]>> = {
  198000: [
    'compares the score of detection with the thresholds of the policy',
    'exclude the detectors and rules that its event names, or set crsCore.blockScore',
  ],
  199203: [
    'refuses methods in the parameter _method',
    'set httpPolicy.allowMethodOverrideParameter of the policy',
  ],
  199205: [
    'records that sampling left the request out',
    'set crsCore.samplingPercentage of the policy',
  ],
  199206: [
    'keeps the address of the client for other rules',
    'set crsCore.enableDefaultCollections of the policy',
  ],
  199400: ['compares the body with the limit of the policy', limitAction],
  199401: [
    'refuses a multipart body that cannot be read',
    `send it as RFC 7578 writes it: ${oneReading}`,
  ],
  199402: [
    'finds a part that is a field to some servers and a file to others',
    `${parseAction}: the part is then inspected as both, or send name and filename in quotes`,
  ],
  199403: ['finds that a limit of inspection was reached', argumentAction],
  199404: ['compares the fields of a form with the limit of the policy', limitAction],
  199405: ['finds that rules reached a limit while they ran', argumentAction],
  199406: [
    'records that the rest of an answer was not inspected',
    'set crsCore.responseBodyLimit of the policy',
  ],
  199407: [
    'refuses XML, a part or a whole body in an encoding that is not read',
    'send text in UTF-8 or UTF-16, and a body in gzip, deflate or br, if in any coding: what it ' +
      'says is hidden from every rule otherwise',
  ],
  199408: [
    'refuses a part in base64 or quoted-printable',
    'send the part as it is: only some servers decode it, so rules see another text than they do',
  ],
  199409: [
    'refuses a compressed body that holds more than is inspected',
    'set crsCore.requestBodyLimit of the policy, or send the body as it is',
  ],
  200000: ['chooses the parser of the body', processors],
  200001: ['chooses the parser of the body', processors],
  200002: ['refuses a body that its parser cannot read', parseAction],
  200003: [
    'refuses a multipart body that servers read in different ways',
    `its message says what: send CRLF line ends, one boundary and parts in UTF-8: ${oneReading}`,
  ],
  200004: [
    'refuses a form whose boundary stands where only some servers see it',
    `have the client choose a boundary that its content does not hold: ${oneReading}`,
  ],
  200005: ['reports a failed inspection', 'see waf log errors'],
  200006: ['chooses the parser of the body', processors],
};

const openRules: ReadonlySet<number> = new Set([
  ...[199_100, 199_101, 199_102, 199_103],
  ...[199_200, 199_201, 199_202, 199_209, 199_214],
]);

/** True for a rule of the product's own that overrides and exclusions can change. */
export function isOpenOwnRule(ruleId: number): boolean {
  return openRules.has(ruleId);
}

/** Why a rule of the product's own cannot be excluded; null for all that can. */
export function ownRuleNote(ruleId: number): string | null {
  if (isOpenOwnRule(ruleId)) return null;
  const [what, instead] = notes[ruleId] ?? familyNote(ruleId);
  if (what === '') return null;
  const start = `Rule ${ruleId} is the product's own and cannot be excluded`;
  return `${start}: it ${what}. Instead: ${instead}.`;
}

function familyNote(ruleId: number): readonly [what: string, instead: string] {
  if (ruleId >= 199_100 && ruleId < 199_200) {
    return ['compares files with argLimits of the policy', 'set that limit of the policy'];
  }
  if (ruleId >= 199_250 && ruleId < 199_260) {
    return ['compares the scores of phase 1', 'set crsCore.earlyBlocking of the policy'];
  }
  if (ruleId >= 199_260 && ruleId < 199_270) {
    return ['adds up scores for reports', 'set crsCore.reportingLevel of the policy'];
  }
  if (ruleId > 199_200 && ruleId < 199_250) {
    return [
      'tells documents of GraphQL from commands and refuses nothing',
      'exclude the rule of the ruleset that refused the request',
    ];
  }
  if (ruleId >= 199_300 && ruleId < 199_400) return ['chooses the parser of the body', processors];
  return ['', ''];
}
