/** A simulated policy is built once, from what the planner has in shared memory. */

import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import type { EvaluationInput } from '../contract/evaluation.ts';
import type { KeyedPolicy, PolicySource } from '../contract/policy.ts';
import type { SharedImages } from '../contract/shared-images.ts';
import { SharedFiles } from '../policies/keyed-policies.ts';
import { buildEngine, planPolicy, type BuildOptions } from '../policies/policy-build.ts';
import { createEvaluator, type EvaluatorOptions } from './evaluate.ts';

const options: BuildOptions = {
  cache: { get: () => null, put: () => undefined },
  log: silentLogger,
  ports: { clock: systemClock, collections: null, geo: null, rbl: null, env: new Map() },
};
const input = {
  ...{ siteId: '', clientIp: '192.0.2.1', peerIp: '192.0.2.1', body: new Uint8Array() },
  head: Buffer.from('GET /?q=attack HTTP/1.1\r\nHost: a\r\n\r\n', 'latin1'),
} as unknown as EvaluationInput;

function policy(id: string, seclangEntry: string): PolicySource {
  return { id, name: id, revision: '1', seclangEntry, files: new Map() };
}

function start() {
  const built: SharedImages[] = [];
  const planned: SharedImages[] = [];
  const plan = async (keyed: KeyedPolicy) => {
    const { diagnostics, rules, shared } = planPolicy(keyed, options);
    if (shared !== null) planned.push(shared);
    return { ok: shared !== null, diagnostics, rules, shared: shared ?? new Map() };
  };
  const build: EvaluatorOptions['build'] = ({ source }, shared) => {
    built.push(shared);
    return buildEngine(source, options);
  };
  const none = { guards: null, schema: null, delivery: null, routes: null };
  const site = { ...none, failPolicy: 'closed', grpcFields: false };
  const made = { files: new SharedFiles(), planner: { plan }, build, siteOf: () => site };
  const handler = createEvaluator(made as unknown as EvaluatorOptions);
  return { handler, built, planned };
}

const rule = 'SecRuleEngine On\nSecRule ARGS "@streq attack" "id:7,phase:1,deny,status:403"\n';

test('two questions at one time build a policy once, with what was planned', async () => {
  const { handler, built, planned } = start();
  const asked = [1, 2].map(() => handler.evaluate(policy('a', rule), input));
  for (const { record } of await Promise.all(asked)) {
    expect(record?.verdict).toMatchObject({ status: 403 });
  }
  expect(built).toHaveLength(1);
  expect(planned).toContain(built[0]);
});

test('a policy that does not link answers with its faults and builds nothing', async () => {
  const { handler, built } = start();
  const outcome = await handler.evaluate(policy('b', 'SecRule ARGS "@rx (" "id:1,deny"'), input);
  expect(outcome.record).toBeNull();
  expect(outcome.diagnostics).toMatchObject([{ severity: 'error', line: 1 }]);
  const { outcomes, diagnostics } = await handler.evaluateBatch(policy('b', 'SecRul'), [input]);
  expect([outcomes.length, diagnostics.length, built.length]).toEqual([0, 1, 0]);
});
