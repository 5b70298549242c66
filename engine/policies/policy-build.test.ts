/** Tests of plans that are made once and attached: nothing is linked again, rules are shared. */

import { expect, test } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { runAtOnce } from '../../base/steps.ts';
import { systemClock } from '../../base/clock.ts';
import type { KeyedPolicy } from '../contract/policy.ts';
import { planName, type SharedImages } from '../contract/shared-images.ts';
import { makeConnection, makeRequest } from '../rules/oracle/conformance/exchange.ts';
import type { DatabaseCache } from '../rules/plan/databases.ts';
import { SharedRules } from '../rules/program/shared-rules.ts';
import type { PolicyEngine } from '../rules/run/policy-engine.ts';
import { buildEngineInSteps, planPolicy, type BuildOptions } from './policy-build.ts';

const ports = { clock: systemClock, collections: null, geo: null, rbl: null, env: new Map() };

/** A thread that attaches what `shared` holds; `log` receives its warnings. */
function thread(shared: SharedImages, log: string[] = []): BuildOptions {
  const cache: DatabaseCache = {
    get: () => null,
    put: () => undefined,
    shared: (key) => {
      const image = shared.get(key);
      return image && 'tiers' in image ? image : null;
    },
  };
  const logger = createLogger('test', 'warn', (line) => void log.push(line));
  return { cache, log: logger, ports, rules: new SharedRules() };
}

const rules =
  'SecRule ARGS "@rx union[a-z ]+select" "id:1,phase:1,deny,status:403"\n' +
  'SecRule ARGS "@pmFromFile words.data" "id:2,phase:1,deny,status:406"\n';

function policy(key: string, own: string): KeyedPolicy {
  const seclangEntry = `SecRuleEngine On\n${own}Include rules.conf\n`;
  const files = new Map([
    ['rules.conf', Buffer.from(rules)],
    ['words.data', Buffer.from('etc/passwd\nboot.ini\n')],
  ]);
  return { key, source: { id: key, name: key, revision: '1', seclangEntry, files } };
}

function attach({ key, source }: KeyedPolicy, shared: SharedImages, options: BuildOptions) {
  const image = shared.get(planName(key));
  const plan = image && 'plan' in image ? image.plan : null;
  return runAtOnce(buildEngineInSteps(source, options, plan));
}

function statusOf(engine: PolicyEngine, target: string): number {
  const session = engine.open(makeRequest('GET', target, 'HTTP/1.1', [], makeConnection()));
  const verdict = session.requestHead();
  session.finish();
  return verdict.action === 'block' ? verdict.status : 200;
}

const first = policy('first', '');
const second = policy('second', 'SecRule ARGS "@streq x" "id:3,phase:1,deny,status:404"\n');

test('a planned policy is attached without its rules being read', () => {
  const { shared } = planPolicy(first, thread(new Map()));
  const unreadable = { ...first, source: { ...first.source, seclangEntry: 'This is no rule' } };
  const engine = attach(unreadable, shared!, thread(shared!));
  expect(statusOf(engine, '/?q=union+all+select')).toBe(403);
  expect(statusOf(engine, '/?q=/etc/passwd')).toBe(406);
  expect(statusOf(engine, '/?q=nothing')).toBe(200);
  expect(() => attach(unreadable, new Map(), thread(shared!))).toThrow('This');
});

test('policies of one thread share the rules that they have in common', () => {
  const shared = new Map(
    [first, second].flatMap((one) => [...planPolicy(one, thread(new Map())).shared!]),
  );
  const options = thread(shared);
  const engines = [first, second].map((one) => attach(one, shared, options));
  expect(options.rules!.size).toBe(3);
  const rulesOf = ({ plan }: PolicyEngine) =>
    plan.phases.flatMap(({ items }) => items.filter((item) => item.kind === 'rule'));
  const [left, right] = engines.map((engine) => rulesOf(engine).find(({ id }) => id === 2)!);
  expect(left!.operator).toBe(right!.operator);
  expect(left!.index).not.toBe(right!.index);
  expect(engines.map((engine) => statusOf(engine, '/?q=x'))).toEqual([200, 404]);
  engines[0]!.retire();
  expect(statusOf(engines[1]!, '/?q=/etc/passwd')).toBe(406);
  engines[1]!.retire();
  expect(options.rules!.size).toBe(0);
});

test('a plan whose databases are gone is made again, with a line in the log', () => {
  const { shared } = planPolicy(first, thread(new Map()));
  const lines: string[] = [];
  const options = thread(new Map(), lines);
  const engine = attach(first, shared!, options);
  expect(statusOf(engine, '/?q=union+all+select')).toBe(403);
  expect(lines.join()).toContain('databases of a plan are gone');
  engine.retire();
  expect(options.rules!.size).toBe(0);
});

test('a policy that does not link has no plan and says why', () => {
  const wrong = { ...first, source: { ...first.source, seclangEntry: 'SecRule ARGS' } };
  const { shared, diagnostics } = planPolicy(wrong, thread(new Map()));
  expect(shared).toBeNull();
  expect(diagnostics.some(({ severity }) => severity === 'error')).toBe(true);
});
