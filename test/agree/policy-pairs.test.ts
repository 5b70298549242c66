/**
 * Decision, what happens after the request body limit, early blocking, inspection of answers and
 * level of reports, every pair of values under CRS 3.3.4 or 4.28: what each setting does does not
 * depend on the others.
 */

import { describe, expect, test } from 'vitest';
import type { CrsCoreSettingsJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import {
  rulesetFolders,
  sendInProcess,
  templateEngine,
  type TableAnswer,
  type TableRequest,
} from './policy-in-process.ts';
import { missingPairs } from './settings-walk-table.ts';

const timeoutMs = 10 * 60_000;
const bodyLimit = 1_000;

const settings = {
  decision: ['CRS', 'SCORE', 'BOTH', 'SCORE_CONFIRMS'],
  /** `BLOCK` refuses long bodies; the others take them and differ in what follows the limit. */
  body: ['BLOCK', 'OFF', 'RECORD', 'EXCESS'],
  ruleset: ['CRS 3.3.4', 'CRS 4.28.0'],
  early: [false, true],
  skip: [false, true],
  reporting: [0, 4, 5],
} as const;
type Combination = { readonly [Name in keyof typeof settings]: (typeof settings)[Name][number] };

const rows = [
  ['CRS', 'EXCESS', 'CRS 3.3.4', true, false, 5],
  ['SCORE_CONFIRMS', 'OFF', 'CRS 3.3.4', false, true, 0],
  ['BOTH', 'RECORD', 'CRS 4.28.0', true, true, 4],
  ['SCORE', 'BLOCK', 'CRS 4.28.0', false, false, 0],
  ['CRS', 'BLOCK', 'CRS 3.3.4', false, true, 4],
  ['SCORE_CONFIRMS', 'RECORD', 'CRS 4.28.0', false, false, 5],
  ['SCORE', 'OFF', 'CRS 4.28.0', true, false, 4],
  ['BOTH', 'EXCESS', 'CRS 4.28.0', false, false, 0],
  ['SCORE', 'RECORD', 'CRS 3.3.4', false, true, 5],
  ['SCORE_CONFIRMS', 'EXCESS', 'CRS 4.28.0', true, true, 4],
  ['CRS', 'RECORD', 'CRS 4.28.0', true, true, 0],
  ['BOTH', 'BLOCK', 'CRS 3.3.4', true, true, 5],
  ['CRS', 'OFF', 'CRS 3.3.4', true, false, 5],
  ['SCORE', 'EXCESS', 'CRS 4.28.0', true, true, 5],
  ['SCORE_CONFIRMS', 'BLOCK', 'CRS 3.3.4', true, false, 5],
  ['BOTH', 'OFF', 'CRS 4.28.0', true, false, 5],
  // Early blocking of CRS 3 is a rule of another kind.
  ['SCORE', 'RECORD', 'CRS 3.3.4', true, false, 4],
] as const;
const combinations: readonly Combination[] = rows.map(
  ([decision, body, ruleset, early, skip, reporting]) => {
    return { decision, body, ruleset, early, skip, reporting };
  },
);

function coreOf({ decision, body, early, skip, reporting }: Combination): CrsCoreSettingsJson {
  const excess = body === 'EXCESS' ? 'BLOCK' : body;
  const observed = body !== 'BLOCK';
  return {
    decision: `DECISION_${decision}`,
    requestBodyLimitEnabled: true,
    requestBodyLimit: String(bodyLimit),
    requestBodyLimitAction: `REQUEST_BODY_LIMIT_ACTION_${observed ? 'OBSERVE' : 'BLOCK'}`,
    ...(observed && { requestBodyExcessAction: `REQUEST_BODY_EXCESS_ACTION_${excess}` as const }),
    earlyBlocking: early,
    crsSkipResponseAnalysis: skip,
    reportingLevel: reporting,
  };
}

const attack = `1' or '1'='1`;
const sql = { url: `/?id=${encodeURIComponent(attack)}` };
const form = (body: string): TableRequest => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return { method: 'POST', url: '/', headers, body };
};
const filler = `a=${'word+'.repeat(100)}&b=${'word+'.repeat(120)}`;
const evil = `id=${encodeURIComponent(attack)}`;
const leak = "You have an error in your SQL syntax; check the manual near 'x' at line 1";
/** Against a rule on forms, in phase 1 under both rulesets; no attack to the score. */
const unusual: TableRequest = { url: '/', headers: { Accept: 'text/html;charset=evil' } };
/** Against a list, which the score does not judge, in phase 1 under both rulesets. */
const early: TableRequest = { url: '/', headers: { 'Content-Type': 'text/plain; charset=evil' } };
const reports = [980_130, 980_170];
const injections = [942_100];
const leaks = [951_230];

const has = ({ rules }: TableAnswer, wanted: readonly number[]): boolean =>
  rules.some((rule) => wanted.includes(rule));

/** What comes of each request. */
function seenOf(engine: PolicyEngine) {
  const asked = sendInProcess(engine, sql);
  const head = sendInProcess(engine, early);
  const answered = sendInProcess(engine, { url: '/', answer: leak });
  const hidden = sendInProcess(engine, form(`${filler}&${evil}`));
  return {
    clean: sendInProcess(engine, { url: '/?id=hello' }).status,
    attack: [asked.status, has(asked, reports)],
    unusual: sendInProcess(engine, unusual).status,
    early: [head.status, has(head, [949_111, 199_254])],
    leak: [answered.status, has(answered, leaks)],
    short: sendInProcess(engine, form('a=1')).status,
    long: sendInProcess(engine, form(filler)).status,
    before: sendInProcess(engine, form(`${evil}&${filler}`)).status,
    after: [hidden.status, has(hidden, injections)],
  };
}

/** The same, from each setting by itself. */
function expectedOf({ decision, body, early: isEarly, skip, reporting }: Combination) {
  const byAnomaly = decision === 'CRS' || decision === 'BOTH';
  const refusesLong = body === 'BLOCK';
  return {
    clean: 0,
    attack: [403, reporting > 0],
    unusual: byAnomaly ? 403 : 0,
    early: [403, isEarly],
    // Only the anomaly score judges answers.
    leak: [skip ? 0 : 403, !skip],
    short: 0,
    long: refusesLong ? 413 : 0,
    before: refusesLong ? 413 : 403,
    after: [
      refusesLong ? 413 : body === 'EXCESS' ? 403 : 0,
      body === 'RECORD' || body === 'EXCESS',
    ],
  };
}

test('each pair of values is walked', () => {
  expect(missingPairs(settings, combinations)).toEqual([]);
});

describe.skipIf(rulesetFolders.length < 2)('settings of one policy', () => {
  const titled = combinations.map((one) => [Object.values(one).join(', '), one] as const);
  test.each(titled)('%s', { timeout: timeoutMs }, async (_, one) => {
    const { folder } = rulesetFolders.find(({ name }) => name === one.ruleset)!;
    const engine = await templateEngine('Standard', folder, (policy) => {
      return { ...policy, crsCore: { ...policy.crsCore, ...coreOf(one) } };
    });
    const seen = seenOf(engine);
    engine.retire();
    expect(seen).toEqual(expectedOf(one));
  });
});
