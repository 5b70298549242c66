/** Proves that no way into a policy takes a pattern that the engine cannot build in time. */

import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packArchive } from '../../control/publish/ruleset-pack.ts';
import { silentLogger } from '../../engine/base/log.ts';
import { serveEngineService } from '../../engine/link/engine-service.ts';
import { SharedFiles } from '../../engine/policies/keyed-policies.ts';
import { PatternTrial } from '../../engine/rollout/pattern-trial.ts';
import { createEvaluator, type EvaluatorOptions } from '../../engine/simulate/evaluate.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';

/** Within the static bound, but minutes of work; the other is past the bound. */
const slow = '(a|b{900}|c{900}){10}';
const nested = '((a{1,100}){1,100}){1,100}';
const entry = new URL('../../.build/engine/threads/trial-process.js', import.meta.url);
let waf: TestControl;
let engine: { close(): Promise<void> };
let policyId = '';

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const made = await waf.call('PolicyService/CreatePolicy', { policy: { name: 'tried' } });
  policyId = (made.body['policy'] as { id: string }).id;
  // Only what compiling needs.
  const options: Partial<EvaluatorOptions> = {
    trial: new PatternTrial(entry, 1500),
    files: new SharedFiles(),
    status: () => ({ revision: '1', sha256: '', version: '1', uptimeMs: 1, libraries: {} }),
  };
  const handler = createEvaluator(options as EvaluatorOptions);
  const socketPath = join(waf.folder, 'engine.sock');
  engine = await serveEngineService({ socketPath, handler, logger: silentLogger });
});
afterAll(async () => {
  await engine.close();
  await waf.control.close();
});

const seclangOf = (pattern: string, id = 11): string =>
  `SecRule ARGS "@rx ${pattern}" "id:${id},phase:2,deny"`;

/** Every way in, by name: the call that brings a pattern. */
const ways: Readonly<Record<string, (pattern: string) => Promise<string>>> = {
  'a custom rule': (pattern) =>
    call('CustomRuleService/CreateCustomRule', {
      rule: { policyId, name: 'r', enabled: true, seclang: seclangOf(pattern) },
    }),
  'a visual rule': (pattern) =>
    call('CustomRuleService/CreateCustomRule', {
      rule: {
        policyId,
        name: 'v',
        enabled: true,
        visualSpec: {
          conditions: [{ variable: 'ARGS', operator: 'rx', value: pattern }],
          action: 'block',
        },
      },
    }),
  'a manifest': (pattern) =>
    call('SystemService/Apply', {
      manifestYaml: Buffer.from(
        [
          'apiVersion: waf.io/v1',
          'kind: Policy',
          'metadata: { name: applied }',
          'spec:',
          '  crsRulesetRef: default',
          '  customRules:',
          `    - { name: m, enabled: true, seclang: ${JSON.stringify(seclangOf(pattern, 12))} }`,
          '',
        ].join('\n'),
      ).toString('base64'),
    }),
  'a plugin': (pattern) => {
    const files = [
      {
        path: 'plugins/guard-before.conf',
        content: new TextEncoder().encode(`${seclangOf(pattern, 9_599_100)}\n`),
      },
    ];
    const archive = Buffer.from(packArchive(files)).toString('base64');
    return call('CrsService/ImportCrsExclusionPlugin', { idOrSlug: 'guard', archive });
  },
};

async function call(rpc: string, body: object): Promise<string> {
  const answer = await waf.call(rpc, body);
  return `${answer.status} ${String(answer.body['message'])}`;
}

test.each(Object.entries(ways))('%s', async (_, bring) => {
  const late = await bring(slow);
  expect(late).toMatch(/^400 .*rule \d+: the pattern is not built after 1\.5 seconds/);
  expect(late).toMatch(/line \d+, column \d+|:\d+:\d+/);
  expect(await bring(nested)).toMatch(/^400 .*the pattern grows to|^400 .*more than a million/);
  expect(await bring('union\\\\s+select')).toMatch(/^200 /);
});
