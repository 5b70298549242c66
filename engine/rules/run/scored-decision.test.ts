/** Tests what a score leads to under each decision, what events say, and what takes it out. */

import { afterAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../../base/log.ts';
import { decisions, type Decision } from '../../contract/decision.ts';
import type { TransactionRecord } from '../../contract/verdict.ts';
import type { DetectedLeaf, DetectedValue, Detection } from '../../detect/detection.ts';
import type { Weights } from '../../detect/weights.ts';
import { fullCatalog } from '../features/full-catalog.ts';
import { loadText } from '../language/include.ts';
import { requestFrom, responseFrom, samplePorts } from '../load/test-sample.ts';
import { buildPlan } from '../plan/build-plan.ts';
import { buildProgram } from '../program/build-program.ts';
import { IdleTransactions } from './idle-transactions.ts';
import { PolicyEngine } from './policy-engine.ts';
import { refuses } from './scored-decision.ts';

const detector = 198_100;
const rule = 942_100;
const tagRule = 941_160;

const thresholds = { watch: 30, challenge: 40, block: 50 };
const points = (version: string, ...rows: (readonly [number, number])[]): Weights => ({
  ...{ version, ruleset: '', thresholds },
  points: new Map(rows),
  pairs: new Map([[detector, 10]]),
});

const bytesOf = ({ bytes, start, end }: DetectedValue): Buffer =>
  Buffer.from(bytes.subarray(start, end));

/** Bytes of the values that were searched last. */
let searchedBytes = 0;

/** Finds the word `sign` in values, and the word `opened` as if it stood in an encoding. */
const detection: Detection = {
  weights: points('test-1', [detector, 40], [rule, 20], [tagRule, 20]),
  openedWeights: points('test-none', [detector, 49]),
  facts: { isStrong: (id) => id === detector, confirmedBy: (id) => (id === detector ? [942] : []) },
  proves: (id) => (id === detector ? 'a sign stands' : ''),
  findsAddresses: (id) => id === detector,
  detect: (values, decider) => {
    searchedBytes = 0;
    const leaves: DetectedLeaf[] = [];
    const complete = !values.some((one) => bytesOf(one).includes('too deep'));
    for (const [value, one] of values.entries()) {
      const bytes = bytesOf(one);
      searchedBytes += bytes.length;
      const start = bytes.indexOf('sign');
      if (start < 0) continue;
      const hits = [{ id: detector, start, end: start + 4 }];
      leaves.push({ value, path: one.path, bytes, opened: bytes.includes('opened'), hits });
      if (decider?.decides(leaves.at(-1)!) === true) return { leaves, complete, settled: true };
    }
    return { leaves, complete, settled: false };
  },
};

const engines: PolicyEngine[] = [];
afterAll(() => engines.forEach((engine) => engine.retire()));

const targets =
  'ARGS|ARGS_NAMES|REQUEST_COOKIES|REQUEST_COOKIES_NAMES|REQUEST_HEADERS|REQUEST_FILENAME';

/** A ruleset of one rule and a comparison of scores, and one detector. */
function engineFor(decision: Decision, more = ''): PolicyEngine {
  const text = `SecRuleEngine On
SecDecision ${decision}
SecRule ${targets} "@detected" "id:${detector},phase:2,pass,log,msg:'A sign',tag:'attack-sqli'"
SecRule ARGS|REQUEST_HEADERS|QUERY_STRING "@rx by (?:rule|%72ule)" "id:${rule},phase:2,pass,log,capture,msg:'A rule',\\
logdata:'Matched Data: %{TX.0} found within %{MATCHED_VAR_NAME}',setvar:tx.score=+5"
${more}
SecRule TX:score "@ge 5" "id:949110,phase:2,deny,status:403,log,msg:'Anomaly score'"
SecRule ARGS "@rx own" "id:7,phase:2,deny,status:406,log"`;
  const { program, diagnostics } = buildProgram(loadText(text, 't.conf'), fullCatalog, () => null);
  if (!program) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  const log = createLogger('test', 'error');
  const cache = { get: () => null, put: () => undefined };
  const plan = buildPlan(program, { cache, log, ports: samplePorts });
  const engine = new PolicyEngine(plan, samplePorts, new IdleTransactions(), detection);
  engines.push(engine);
  return engine;
}

function inspect(engine: PolicyEngine, target: string, lines = ''): TransactionRecord {
  const session = engine.open(requestFrom(`GET ${target} HTTP/1.1\r\nHost: a${lines}`));
  if (session.requestHead().action === 'pass') session.requestBody(null);
  return session.finish();
}

const ids = ({ matchedRules }: TransactionRecord): number[] =>
  matchedRules.map(({ ruleId }) => ruleId).filter((id) => id < 940_000 || id === rule);
const told = ({ matchedRules }: TransactionRecord) =>
  matchedRules.find(({ ruleId }) => ruleId === 198_000);

const both = '/?q=a+sign+by+rule';
const signOnly = '/?q=a+sign';
const ruleOnly = '/?q=by+rule';

/** Decision, request, and the rule that refuses; 0 for none. */
const outcomes: readonly (readonly [Decision, string, number])[] = [
  ['crs', both, 949_110],
  ['crs', ruleOnly, 949_110],
  ['crs', signOnly, 0],
  ['score', both, 198_000],
  ['score', ruleOnly, 0],
  ['score', signOnly, 0],
  ['both', both, 198_000],
  ['both', ruleOnly, 949_110],
  ['both', signOnly, 0],
  ['scoreConfirms', both, 198_000],
  ['scoreConfirms', ruleOnly, 0],
  ['scoreConfirms', signOnly, 0],
];

describe('the decision of a policy', () => {
  test.each(outcomes)('%s: %s is refused by %i', (decision, target, by) => {
    const { verdict } = inspect(engineFor(decision), target);
    expect(verdict.ruleId).toBe(by);
    expect(verdict.action).toBe(by === 0 ? 'pass' : 'block');
  });

  test.each(decisions)('%s leaves other rules to refuse', (decision) => {
    expect(inspect(engineFor(decision), '/?q=own+sign').verdict).toMatchObject({
      ...{ action: 'block', status: 406, ruleId: 7 },
    });
  });

  test('leaves the anomaly score to refuse what was not opened', () => {
    for (const decision of decisions) {
      const { verdict } = inspect(engineFor(decision), '/?q=by+rule&r=too+deep');
      expect(verdict, decision).toMatchObject({ action: 'block', ruleId: 949_110 });
    }
  });

  test.each([911_100, 913_100, 920_420, 920_430, 920_440, 920_450, 920_470, 920_480])(
    'leaves list %i of the policy to refuse',
    (list) => {
      const text = `SecRule ARGS "@streq listed" "id:${list},phase:2,pass,log,setvar:tx.score=+5"`;
      for (const decision of decisions) {
        const { verdict } = inspect(engineFor(decision, text), '/?q=listed');
        expect(verdict, decision).toMatchObject({ action: 'block', ruleId: 949_110 });
        expect(inspect(engineFor(decision, text), '/?q=other').verdict.action).toBe('pass');
      }
    },
  );

  test('lets a list that adds no points pass', () => {
    const text = 'SecRule ARGS "@streq listed" "id:911100,phase:2,pass,log"';
    for (const decision of decisions) {
      expect(inspect(engineFor(decision, text), '/?q=listed').verdict.action).toBe('pass');
    }
  });

  test('leaves answers to their anomaly score', () => {
    const answers = 'SecRule RESPONSE_STATUS "@streq 500" "id:959100,phase:3,deny,status:403,log"';
    for (const decision of decisions) {
      const session = engineFor(decision, answers).open(requestFrom('GET / HTTP/1.1\r\nHost: a'));
      session.requestHead();
      session.requestBody(null);
      const verdict = session.responseHead(responseFrom('HTTP/1.1 500 Error\r\nServer: a'));
      expect(verdict, decision).toMatchObject({ action: 'block', ruleId: 959_100 });
      session.finish();
    }
  });

  test('says what it refuses', () => {
    const all = [true, false].flatMap((score) => [true, false].map((crs) => [score, crs] as const));
    const table = decisions.map((one) => all.map(([score, crs]) => refuses(one, score, crs)));
    expect(table).toEqual([
      [true, false, true, false],
      [true, true, false, false],
      [true, true, true, false],
      [true, false, false, false],
    ]);
  });
});

describe('an event', () => {
  test('tells score, place, points and what each decision would have done', () => {
    const record = inspect(engineFor('score'), '/?q=so+a+sign+by+rule');
    expect(ids(record)).toEqual([rule, detector, 198_000]);
    expect(told(record)).toMatchObject({
      message: 'Score 70 of 100 (block): a sign stands in args.q',
      matched: [{ name: 'ARGS:q', value: 'so a sign by rule' }],
      disruptive: true,
      tags: [
        ...['decision/score', 'weights/test-1', 'would/crs=block', 'would/score=block'],
        ...['would/both=block', 'would/scoreConfirms=block'],
        ...[`points/${detector}=40`, `points/${rule}=20`, `points/${detector}+rule=10`],
      ],
    });
    const marked = Buffer.from(told(record)!.data, 'latin1').toString('utf8');
    expect(marked).toBe('so a »sign by rule«');
  });

  test('tells of an opened leaf by the points for leaves that rules do not see', () => {
    const record = inspect(engineFor('score'), '/?q=opened+sign');
    expect(told(record)!.message).toMatch(/^Score 49 of 100/);
    expect(told(record)!.tags).toContain('weights/test-none');
    // What a rule confirms keeps its own points where they are higher.
    const confirmed = inspect(engineFor('score'), '/?q=opened+sign+by+rule');
    expect(told(confirmed)!.message).toMatch(/^Score 70 of 100/);
    expect(told(confirmed)!.tags).toContain('weights/test-1');
  });

  test('below the threshold of refusal names the threshold that is reached', () => {
    const record = inspect(engineFor('score'), signOnly);
    expect(told(record)).toMatchObject({ disruptive: false });
    expect(told(record)!.message).toMatch(/^Score 40 of 100 \(challenge\)/);
    expect(told(record)!.tags).toContain('would/crs=pass');
  });

  test('says nothing of a score below watch', () => {
    const record = inspect(engineFor('score', 'SecWatchScore 45\nSecChallengeScore 46'), signOnly);
    expect(ids(record)).toEqual([]);
  });

  test('of an engine that only records says what it would have done', () => {
    const engine = engineFor('score', 'SecRuleEngine DetectionOnly');
    const record = inspect(engine, both);
    expect(record).toMatchObject({ detectionOnly: true, verdict: { ruleId: 198_000 } });
    expect(told(record)!.disruptive).toBe(false);
  });
});

test('a rule that matched the query as it was sent counts in the arguments', () => {
  const record = inspect(engineFor('score'), '/?q=a+sign&p=by+%72ule&r=1');
  expect(record.verdict.action).toBe('pass');
  const raw = inspect(engineFor('score'), '/?q=a+sign&by %72ule');
  expect(raw.verdict.ruleId).toBe(198_000);
  expect(told(raw)!.message).toContain(' in args.q');
});

test('an address of the host that the request names is no sign', () => {
  const found = (target: string): string | undefined =>
    told(inspect(engineFor('score'), target))?.message;
  for (const own of ['sign://a/x', 'sign://a', 'sign://A?b']) {
    expect(found(`/?q=${encodeURIComponent(own)}`), own).toBe(undefined);
  }
  for (const other of ['sign://b/x', 'sign://a.b/', 'sign://a@b/', 'sign://a:80/', 'sign a']) {
    expect(found(`/?q=${encodeURIComponent(other)}`), other).toContain('a sign stands in args.q');
  }
});

describe('markup of editors', () => {
  const engine = engineFor('score', `SecRule ARGS "@rx <img" "id:${tagRule},phase:2,pass,log"`);
  const refuses = (...values: readonly string[]): boolean => {
    const query = values.map((value) => `q=${encodeURIComponent(value)}`).join('&');
    return inspect(engine, `/?${query}`).verdict.ruleId === 198_000;
  };
  const harmless = '<p>a sign <img src="a.png" style="width: 25%;"></p>';

  test('adds no points for its tags', () => {
    expect(refuses(harmless)).toBe(false);
    expect(refuses('<p>a sign <img src="a.png" onerror="go()"></p>')).toBe(true);
  });

  test('hides no other value of its name, and no other value that a rule matched', () => {
    expect(refuses(harmless, '<img src=x onerror=a> sign')).toBe(true);
    expect(refuses('<img src=x onerror=a> sign', harmless)).toBe(true);
    expect(refuses(harmless, 'plain')).toBe(false);
  });

  test('hides no other sign', () => {
    expect(refuses(`${harmless} by rule`)).toBe(true);
  });
});

describe('thresholds of a policy', () => {
  test('come before those of the weights', () => {
    expect(inspect(engineFor('score', 'SecBlockScore 40'), signOnly).verdict.ruleId).toBe(198_000);
    expect(inspect(engineFor('score', 'SecBlockScore 71'), both).verdict.action).toBe('pass');
  });
});

describe('values after many that refuse', () => {
  const text = 'SecBlockScore 40';
  const query = (count: number, value: string): string =>
    Array.from({ length: count }, (_, at) => `q${at}=${value}`).join('&');
  const searched = (engine: PolicyEngine, target: string): readonly [number, boolean] => {
    const record = inspect(engine, target);
    const inPart = told(record)!.tags.includes('searched/in-part');
    return [searchedBytes, inPart && record.verdict.ruleId === 198_000];
  };

  test('are not searched, which the event says', () => {
    const engine = engineFor('score', text);
    expect(searched(engine, `/?${query(100, 'a+sign')}`)).toEqual([16 * 'a sign'.length, true]);
    expect(searched(engine, `/?${query(10, 'a+sign')}&${query(90, 'not+one')}`)[1]).toBe(false);
  });

  test('are searched where those before them do not refuse', () => {
    const weak = engineFor('score', 'SecBlockScore 41');
    const [bytes, inPart] = searched(weak, `/?${query(100, 'a+sign')}`);
    expect([bytes > 600, inPart]).toEqual([true, false]);
    // No excluded value hides one that is not.
    const own = Array.from({ length: 100 }, (_, at) => `!ARGS:q${at}`).join(',');
    const excluded = `${text}\nSecRuleUpdateTargetById ${detector} "${own}"`;
    const [, cut] = searched(engineFor('score', excluded), `/?${query(100, 'a+sign')}&r=a+sign`);
    expect(cut).toBe(false);
    expect(
      told(inspect(engineFor('score', excluded), `/?${query(100, 'a+sign')}&r=a+sign`))!.message,
    ).toContain(' in args.r');
  });
});

/** What takes the detector out of the request, and where. */
const exclusions: readonly (readonly [string, string])[] = [
  ['SecRuleRemoveById', `SecRuleRemoveById ${detector}`],
  ['SecRuleRemoveById with a range', 'SecRuleRemoveById 198000-198999'],
  ['SecRuleRemoveByTag', 'SecRuleRemoveByTag attack-sqli'],
  ['SecRuleUpdateTargetById', `SecRuleUpdateTargetById ${detector} "!ARGS:q"`],
  ['ctl:ruleRemoveById', `SecAction "id:8,phase:1,pass,nolog,ctl:ruleRemoveById=${detector}"`],
  ['ctl:ruleRemoveByTag', 'SecAction "id:8,phase:1,pass,nolog,ctl:ruleRemoveByTag=attack-sqli"'],
  [
    'ctl:ruleRemoveTargetById',
    `SecAction "id:8,phase:1,pass,nolog,ctl:ruleRemoveTargetById=${detector};ARGS:q"`,
  ],
];

describe('a detector', () => {
  test.each(exclusions)('is taken out by %s', (_, text) => {
    const record = inspect(engineFor('score', text), both);
    expect(record.verdict.action).toBe('pass');
    expect(ids(record)).toContain(rule);
    expect(ids(record)).not.toContain(detector);
  });

  test('that is taken out for one argument looks at others', () => {
    const engine = engineFor('score', `SecRuleUpdateTargetById ${detector} "!ARGS:q"`);
    expect(inspect(engine, '/?p=a+sign+by+rule').verdict.ruleId).toBe(198_000);
  });

  test.each([
    ['a name of an argument', '/?a+sign=1&q=by+rule', '', 'the name of an argument'],
    ['a name of a cookie', '/', '\r\nCookie: a sign=1', 'the name of a cookie'],
    ['a cookie', '/', '\r\nCookie: c=a sign', 'cookies.c'],
    ['the Referer', '/', '\r\nReferer: http://a/?sign', 'headers.referer'],
    ['Authorization', '/', '\r\nAuthorization: sign', 'headers.authorization'],
    ['a field of a list with a telling byte', '/', '\r\nAccept: ${sign', 'headers.accept'],
    ['a field of text', '/', '\r\nX-A: a=1;sign', 'headers.x-a'],
    ['User-Agent', '/', '\r\nUser-Agent: a/1 (sign)', 'headers.user-agent'],
    ['the path', '/%3Csign', '', 'path'],
  ])('looks at %s', (_, target, lines, path) => {
    const record = inspect(engineFor('score'), target, lines);
    expect(told(record)?.message).toContain(` in ${path}`);
  });

  test('does not look where rules have the request passed over', () => {
    const engine = engineFor('score', 'SecAction "id:8,phase:1,allow,nolog"');
    expect(ids(inspect(engine, both))).toEqual([]);
    const off = engineFor('score', 'SecAction "id:8,phase:1,pass,nolog,ctl:ruleEngine=Off"');
    expect(ids(inspect(off, both))).toEqual([]);
  });
});

describe('names that begin with the one before', () => {
  const long = 'json.'.repeat(200);
  const names = Array.from({ length: 50 }, (_, at) => `${long}m${at}=1`).join('&');

  test('are searched where they differ', () => {
    inspect(engineFor('score'), `/?${names}`);
    expect(searchedBytes).toBeLessThan(long.length + 50 * 150);
  });

  test.each([
    ['after it', `${names}&${long}sign=1`],
    ['in it', `${long.slice(0, 900)}sign.a=1&${long.slice(0, 900)}sign.b=1`],
    ['across its end', `${long}sixth=1&${long}sign=1`],
    ['beside a shorter one', `${long}a=1&x=2&${long}sign=1`],
  ])('hide no sign %s', (_, query) => {
    expect(ids(inspect(engineFor('score'), `/?${query}`))).toContain(detector);
  });
});
