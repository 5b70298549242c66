/** What the engine is asked before the rules of a manifest are kept. */

import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../../base/log.ts';
import type { EngineHandler } from '../../../engine/contract/evaluation.ts';
import { serveEngineService } from '../../../engine/link/engine-service.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

/** Numbers of the rules in each text that was compiled, with and without the ruleset. */
const alone: string[][] = [];
const whole: string[][] = [];
const tooMany = 'rule 10502 does not go with rule 10501';

const handler: Pick<EngineHandler, 'compile'> = {
  compile: ({ seclangEntry, files }) => {
    const rule = /(?:id:|custom-rules\/)(105\d\d)/g;
    const ids = [...seclangEntry.matchAll(rule)].map(([, id]) => id!).toSorted();
    const withRuleset = [...files.keys()].some((path) => path.startsWith('crs/'));
    (withRuleset ? whole : alone).push(ids);
    const ok = !(ids.includes('10502') && ids.includes('10501') && ids.includes('10509'));
    const place = {
      file: 'policy.conf',
      line: 1,
      column: 1,
      severity: 'error',
      code: 'x',
    } as const;
    const diagnostics = ok ? [] : [{ ...place, message: tooMany }];
    return Promise.resolve({ ok, diagnostics, ruleCount: ids.length });
  },
};

let waf: TestControl;
let engine: { close(): Promise<void> };

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  engine = await serveEngineService({
    socketPath: join(waf.folder, 'engine.sock'),
    logger: silentLogger,
    handler: handler as EngineHandler,
  });
});
beforeEach(() => {
  alone.length = 0;
  whole.length = 0;
});
afterAll(async () => {
  await engine.close();
  await waf.control.close();
});

async function apply(name: string, rules: readonly { ruleId: string; enabled: boolean }[]) {
  const customRules = rules.map(({ ruleId, enabled }) => {
    const seclang = `SecRule ARGS "@contains evil" "id:${ruleId},phase:2,deny"`;
    return { name: ruleId, ruleId, enabled, seclang };
  });
  const spec = { crsRulesetRef: 'default', customRules };
  const document = { apiVersion: 'waf.io/v1', kind: 'Policy', metadata: { name }, spec };
  const manifestYaml = Buffer.from(JSON.stringify(document)).toString('base64');
  return waf.call('SystemService/Apply', { manifestYaml });
}

const on = (ruleId: string) => ({ ruleId, enabled: true });

test('all rules are compiled without the ruleset, and the policy once with all that are enabled', async () => {
  const rules = [on('10501'), on('10502'), { ruleId: '10503', enabled: false }, on('10504')];
  expect((await apply('counted', rules)).text).toContain('"plan"');
  const all = ['10501', '10502', '10503', '10504'];
  expect(alone).toEqual([all]);
  // A disabled rule as it would be if it were enabled.
  expect(whole).toEqual([all, ['10501', '10502', '10504']]);
});

test('rules that do not go with each other are refused; nothing is kept', async () => {
  const answer = await apply('refused', [on('10501'), on('10502'), on('10509')]);
  expect(answer.body).toMatchObject({ code: 'invalid_argument' });
  expect(answer.text).toContain('spec.customRules: ');
  expect(answer.text).toContain(tooMany);
  const { body } = await waf.call('PolicyService/ListPolicies', {});
  expect(JSON.stringify(body)).not.toContain('refused');
});
