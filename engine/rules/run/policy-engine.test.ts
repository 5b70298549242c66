/** Tests the results of sessions: records that outlive their transaction, withheld verdicts. */

import { afterAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { poolLimits } from '../../base/limits.ts';
import { ruleRunLimits, valueLimits } from '../../../base/rule-limits.ts';
import { createLogger } from '../../../base/log.ts';
import type { BodyNeed, TransactionRecord } from '../../contract/verdict.ts';
import { fullCatalog } from '../features/full-catalog.ts';
import { requestFrom } from '../load/test-sample.ts';
import type { RulePorts } from '../transaction/ports.ts';
import { loadText } from '../language/include.ts';
import { buildPlan } from '../plan/build-plan.ts';
import { buildProgram } from '../program/build-program.ts';
import { PolicyEngine } from './policy-engine.ts';

const ports: RulePorts = {
  clock: systemClock,
  collections: null,
  geo: null,
  rbl: null,
  env: new Map(),
};
const engines: PolicyEngine[] = [];
afterAll(() => engines.forEach((engine) => engine.retire()));

function engineFor(
  rules: string,
  used: RulePorts = ports,
  unicodeMap: Uint8Array | null = null,
): PolicyEngine {
  const { program, diagnostics } = buildProgram(loadText(rules, 't.conf'), fullCatalog, () => null);
  if (!program) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  const log = createLogger('test', 'error');
  const cache = { get: () => null, put: () => undefined };
  const mapped = { ...program, settings: { ...program.settings, unicodeMap } };
  const engine = new PolicyEngine(buildPlan(mapped, { cache, log, ports: used }), used);
  engines.push(engine);
  return engine;
}

function inspect(engine: PolicyEngine, target: string): TransactionRecord {
  const session = engine.open(requestFrom(`GET ${target} HTTP/1.1\r\nHost: a`));
  if (session.requestHead().action === 'pass') session.requestBody(null);
  return session.finish();
}

const deny = 'SecRule ARGS "@contains bad" "id:1,phase:2,deny,status:406,msg:\'m\'"';

test('the record of a request without matches stays empty when its runner is used again', () => {
  const engine = engineFor(`SecRuleEngine On\n${deny}`);
  const clean = inspect(engine, '/?a=good');
  const dirty = inspect(engine, '/?a=bad');
  const last = inspect(engine, '/?a=good');
  expect(dirty.matchedRules.map(({ ruleId }) => ruleId)).toEqual([1]);
  expect([clean, last].map(({ matchedRules }) => matchedRules)).toEqual([[], []]);
});

test('an engine that acts records what it did', () => {
  const engine = engineFor(`SecRuleEngine On\n${deny}`);
  const verdict = { action: 'block', status: 406, ruleId: 1, phase: 2 };
  expect(inspect(engine, '/?a=bad')).toMatchObject({ verdict, detectionOnly: false });
});

test('detection-only mode passes and records the first verdict that it held back', () => {
  const later = 'SecAction "id:2,phase:2,drop"';
  const engine = engineFor(`SecRuleEngine DetectionOnly\n${deny}\n${later}`);
  const verdict = { action: 'block', status: 406, ruleId: 1, phase: 2 };
  const record = inspect(engine, '/?a=bad');
  expect(record).toMatchObject({ verdict, detectionOnly: true });
  expect(inspect(engine, '/?a=good').verdict.action).toBe('drop');
});

test('detection-only mode withholds nothing where no rule blocks', () => {
  const engine = engineFor(`SecRuleEngine DetectionOnly\n${deny}`);
  const verdict = { action: 'pass', status: 0, ruleId: 0, phase: 0 };
  expect(inspect(engine, '/?a=good')).toMatchObject({ verdict, detectionOnly: false });
});

test('each session has its own Unicode map, whichever sessions run between its phases', () => {
  const rules = 'SecRuleEngine On\nSecRule ARGS "@rx ^(z)$" "id:1,phase:2,t:urlDecodeUni,capture"';
  const map = new Uint8Array(0x10000);
  map[0x4e00] = 'z'.charCodeAt(0);
  const mapped = engineFor(rules, ports, map);
  const session = mapped.open(requestFrom('GET /?a=%25u4e00 HTTP/1.1\r\nHost: a'));
  session.requestHead();
  expect(inspect(engineFor(rules), '/?a=%25u4e00').matchedRules).toEqual([]);
  session.requestBody(null);
  expect(session.finish().matchedRules.map(({ ruleId }) => ruleId)).toEqual([1]);
});

describe('a pattern that runs into a PCRE2 limit', () => {
  // A back-reference needs PCRE2. The value could match but for it, so that every split is tried.
  const slow = '^(a+|b)+\\1\\1x$';
  const target = `/?q=${'a'.repeat(40)}bax`;
  const limited = (rest: string): TransactionRecord => {
    const head = 'SecRuleEngine On\nSecPcreMatchLimit 500';
    return inspect(engineFor(`${head}\n${rest}`), target);
  };
  const seen = 'SecRule TX:MSC_PCRE_LIMITS_EXCEEDED "@eq 1" "id:9,phase:2,deny,status:500"';

  test('is recorded with its rule, finds nothing, and is visible to rules after it', () => {
    const rule = `SecRule ARGS "@rx ${slow}" "id:7,phase:1,deny"`;
    const record = limited(`${rule}\n${seen}`);
    expect(record.pcreLimitedRules).toEqual([7]);
    expect(record.verdict).toMatchObject({ ruleId: 9, status: 500 });
    expect(record.failure).toBeUndefined();
    const variable = seen.replace('TX:MSC', 'MSC');
    expect(limited(`${rule}\n${variable}`).verdict.ruleId).toBe(9);
  });

  test('makes a negated rule match', () => {
    const record = limited(`SecRule ARGS "!@rx ${slow}" "id:7,phase:2,deny"`);
    expect(record).toMatchObject({ verdict: { ruleId: 7 }, pcreLimitedRules: [7] });
  });

  test('counts for the rule whose link asks, and for verify operators', () => {
    const chain = `SecRule ARGS "@rx a" "id:7,phase:1,deny,chain"\nSecRule ARGS "@rx ${slow}"`;
    expect(limited(`${chain}\n${seen}`)).toMatchObject({ pcreLimitedRules: [7] });
    const verify = `SecRule ARGS "@verifyCC ${slow}" "id:8,phase:1,deny"`;
    expect(limited(`${verify}\n${seen}`)).toMatchObject({
      verdict: { ruleId: 9 },
      pcreLimitedRules: [8],
    });
  });

  test('is nothing that the next request knows of', () => {
    const engine = engineFor(
      `SecRuleEngine On\nSecPcreMatchLimit 500\nSecRule ARGS "@rx ${slow}" "id:7,phase:1,deny"`,
    );
    expect(inspect(engine, target).pcreLimitedRules).toEqual([7]);
    expect(inspect(engine, '/?q=x').pcreLimitedRules).toBeUndefined();
    expect(inspect(engine, target).pcreLimitedRules).toEqual([7]);
  });
});

test('a rejecting limit for bodies without files counts while they are read', () => {
  const limits = 'SecRequestBodyLimit 13000000\nSecRequestBodyNoFilesLimit 70000';
  const access = `SecRequestBodyAccess On\n${limits}\nSecRequestBodyLimitAction`;
  const needOf = (rules: string, type: string): BodyNeed => {
    const session = engineFor(rules).open(
      requestFrom(`POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: 9`),
    );
    session.requestHead();
    const { bodyNeed } = session;
    session.finish();
    return bodyNeed;
  };
  const reject = `SecRuleEngine On\n${access} Reject`;
  const xml = `${reject}\nSecAction "id:1,phase:1,pass,ctl:requestBodyProcessor=XML"`;
  const form = 'application/x-www-form-urlencoded';
  const multipart = 'multipart/form-data; boundary=b';
  const small = { limitBytes: 70_000, onExcess: 'reject' };
  expect(needOf(reject, form)).toMatchObject(small);
  expect(needOf(reject, 'application/octet-stream')).toMatchObject(small);
  expect(needOf(xml, multipart)).toMatchObject(small);
  const large = { limitBytes: 13_000_000, onExcess: 'reject' };
  expect(needOf(reject, multipart)).toMatchObject(large);
  const observed = { limitBytes: 13_000_000, onExcess: 'prefix' };
  expect(needOf(`SecRuleEngine On\n${access} ProcessPartial`, form)).toMatchObject(observed);
  // Past the limit of bodies without files, by as much as templates that observe.
  const seen = { limitBytes: 70_000 + valueLimits.bodyExcessBytesMax, onExcess: 'prefix' };
  expect(needOf(`SecRuleEngine DetectionOnly\n${access} Reject`, form)).toMatchObject(seen);
});

describe('the time of a request', () => {
  let nowUs = 0;
  let stepUs = 0;
  const clock = {
    nowMs: () => 0,
    monotonicUs: () => {
      nowUs += stepUs;
      return nowUs;
    },
  };
  const rules = Array.from(
    { length: 100 },
    (_, at) => `SecRule &ARGS "@eq 9" "id:${at + 1},phase:2,deny"`,
  );
  const text = ['SecRuleEngine On', ...rules, deny.replace('id:1', 'id:900')].join('\n');
  const late = { action: 'failed', reason: 'deadline' };

  test('ends a phase that takes too long, and records it', () => {
    const engine = engineFor(text, { ...ports, clock });
    stepUs = 0;
    expect(inspect(engine, '/?a=bad')).toMatchObject({ verdict: { ruleId: 900 } });
    const session = engine.open(requestFrom('GET /?a=bad HTTP/1.1\r\nHost: a'));
    expect(session.requestHead().action).toBe('pass');
    stepUs = (poolLimits.requestBudgetMs * 1000) / 5;
    expect(session.requestBody(null)).toEqual(late);
    stepUs = 0;
    const record = session.finish();
    expect(record).toMatchObject({ failure: 'deadline', verdict: { action: 'pass' } });
    expect(inspect(engine, '/?a=bad').failure).toBeUndefined();
  });

  test('is that of all phases together', () => {
    const engine = engineFor(text, { ...ports, clock });
    stepUs = 0;
    const session = engine.open(requestFrom('GET / HTTP/1.1\r\nHost: a'));
    stepUs = (poolLimits.requestBudgetMs * 1000) / 12;
    expect(session.requestHead().action).toBe('pass');
    expect(session.requestBody(null)).toEqual(late);
    stepUs = 0;
    expect(session.finish().failure).toBe('deadline');
  });

  test('is what its thread worked, where that is known', () => {
    let stopped = true;
    const workedUs = (): number => (stopped ? 0 : clock.monotonicUs());
    const engine = engineFor(text, { ...ports, clock, workedUs });
    stepUs = (poolLimits.requestBudgetMs * 1000) / 5;
    expect(inspect(engine, '/?a=bad')).toMatchObject({ verdict: { ruleId: 900 } });
    stopped = false;
    expect(inspect(engine, '/?a=bad').failure).toBe('deadline');
  });

  test('does not count against a rule that only logs', () => {
    const engine = engineFor('SecRuleEngine On\nSecAction "id:5,phase:5,pass,log"', {
      ...ports,
      clock,
    });
    stepUs = 0;
    const session = engine.open(requestFrom('GET / HTTP/1.1\r\nHost: a'));
    session.requestHead();
    expect(session.finish().matchedRules.map(({ ruleId }) => ruleId)).toEqual([5]);
  });
});

test('numbers past those that a verify operator checks are a limit that rules see', () => {
  const rules = [
    'SecRuleEngine On',
    String.raw`SecRule ARGS "@verifyCC \d{16}" "id:1,phase:2,pass,log,msg:'card'"`,
    `SecRule INSPECTION_LIMIT_ERROR "!@eq 0" "id:2,phase:2,pass,log,msg:'limit'"`,
  ].join('\n');
  const engine = engineFor(rules);
  const most = ruleRunLimits.verifyCandidatesMax;
  const card = '4111111111111111';
  const idsOf = ({ matchedRules }: TransactionRecord): number[] => {
    return matchedRules.map(({ ruleId }) => ruleId);
  };
  // Each digit but the last fifteen begins a number, none of which is a card's.
  const within = inspect(engine, `/?a=${'1'.repeat(most - 1)}x${card}`);
  expect([idsOf(within), within.limitsReached]).toEqual([[1], undefined]);
  const past = inspect(engine, `/?a=${'1'.repeat(most + 15)}x${card}`);
  expect([idsOf(past), past.limitsReached]).toEqual([[2], ['verify-candidates']]);
});

describe('a body in steps', () => {
  const rules = `SecRuleEngine On
SecRequestBodyAccess On
SecRule ARGS "@rx b[a]d" "id:1,phase:2,pass,log,msg:'%{MATCHED_VAR_NAME}'"
SecRule ARGS_NAMES "@contains odd" "id:2,phase:2,pass,log,t:lowercase"
SecRule REQUEST_BODY "@pm bad worse" "id:3,phase:2,pass,log,t:removeWhitespace"
SecRule REQUEST_HEADERS:Host "@streq a" "id:4,phase:5,pass,log"`;
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded';
  const large = 'x'.repeat(3 * poolLimits.stepBytes);
  const bodies = {
    'many small values': 'a=good&odd=1&'.repeat(20_000) + 'c=bad',
    'one large value': `c=${large}bad`,
    'large and small values by turns': `a=bad&b=${large}&c=bad&odd=${large}&d=${large}bad`,
    'large names': `a=1&${large}odd=bad`,
  };

  test.each(Object.entries(bodies))('finds what the whole does: %s', (_, text) => {
    const engine = engineFor(rules);
    const body = { bytes: Buffer.from(text), truncated: false };
    const whole = engine.open(requestFrom(head));
    whole.requestHead();
    whole.requestBody(body);
    const expected = whole.finish().matchedRules;
    expect(expected.length).toBeGreaterThan(1);
    const session = engine.open(requestFrom(head));
    session.requestHead();
    let steps = 0;
    for (const phase = session.requestBodyInSteps(body); phase.next().done !== true;) {
      steps++;
      // Another request of the same policy has its turn.
      expect(inspect(engine, '/?a=bad').matchedRules.map(({ ruleId }) => ruleId)).toEqual([1, 4]);
    }
    expect(steps).toBeGreaterThan(1);
    expect(session.finish().matchedRules).toEqual(expected);
  });

  test('one that is given up is not scanned to its end', () => {
    const engine = engineFor(rules);
    const session = engine.open(requestFrom(head));
    session.requestHead();
    const steps = session.requestBodyInSteps({
      bytes: Buffer.from(`c=${large}bad`),
      truncated: false,
    });
    steps.next();
    const before = engine.plan.scan!.stats().bytes;
    expect(session.finish().matchedRules.map(({ ruleId }) => ruleId)).toEqual([4]);
    expect(engine.plan.scan!.stats().bytes - before).toBeLessThan(large.length);
  });
});

test('a policy that only records holds little more of a body than one that rejects', () => {
  const limits = `SecRequestBodyAccess On
SecRequestBodyLimit 13107200
SecRequestBodyNoFilesLimit 65536
SecRequestBodyLimitAction Reject`;
  const need = (mode: string, type: string): BodyNeed => {
    const session = engineFor(`SecRuleEngine ${mode}\n${limits}`).open(
      requestFrom(`POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}`),
    );
    session.requestHead();
    const { bodyNeed } = session;
    session.finish();
    return bodyNeed;
  };
  expect(need('On', 'text/xml')).toMatchObject({ limitBytes: 65_536, onExcess: 'reject' });
  expect(need('DetectionOnly', 'text/xml')).toMatchObject({
    limitBytes: 65_536 + valueLimits.bodyExcessBytesMax,
    onExcess: 'prefix',
  });
  const multipart = 'multipart/form-data; boundary=b';
  expect(need('DetectionOnly', multipart)).toMatchObject({ limitBytes: 65_536 * 200 });
});

test('the record states what each rule added to the scores, once for each value', () => {
  const adds = "setvar:'tx.inbound_anomaly_score_pl1=+%{tx.critical_anomaly_score}'";
  const less = "setvar:'tx.inbound_anomaly_score_pl1=-2'";
  const engine = engineFor(
    `SecRuleEngine On
    SecAction "id:1,phase:1,pass,nolog,setvar:tx.critical_anomaly_score=5"
    SecRule ARGS "@contains bad" "id:2,phase:2,pass,log,t:none,${adds},setvar:tx.sql_score=+9"
    SecRule ARGS:b "@contains bad" "id:3,phase:2,pass,log,${adds},${less}"
    SecRule ARGS:b "@contains bad" "id:4,phase:2,pass,log,chain,${adds}"
      SecRule ARGS:none "@contains bad" "t:none"
    SecRule ARGS:b "@contains bad" "id:5,phase:2,pass,log"`,
  );
  const { matchedRules } = inspect(engine, '/?a=bad&b=bad');
  expect(matchedRules.map(({ ruleId, score }) => [ruleId, score])).toEqual([
    [2, 10],
    [3, 3],
    [5, undefined],
  ]);
});
