/** Tests that the policy of the benchmarks finds the files that its text includes. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { policyFiles, policyText, type Ruleset } from '../e2e/ruleset.ts';
import { buildPolicy } from './policy.ts';
import { readShapes } from './samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-policy-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const rule = 'SecRule ARGS "@pmFromFile bad.data" "id:1,phase:2,deny,status:403,t:none"\n';
const workload = {
  title: 'mix',
  variants: 2,
  requests: [
    { method: 'GET', path: '/?q=good', expect: { plain: 200, waf: 200 } },
    { method: 'GET', path: '/?q=wicked', expect: { plain: 200, waf: 403 } },
  ],
};

function writeRuleset(): Ruleset {
  const rulesFolder = join(folder, 'rules');
  mkdirSync(rulesFolder);
  writeFileSync(join(folder, 'crs-setup.conf.example'), 'SecAction "id:2,phase:1,pass,nolog"\n');
  writeFileSync(join(rulesFolder, 'REQUEST-1.conf'), rule);
  writeFileSync(join(rulesFolder, 'bad.data'), 'wicked\n');
  return {
    name: 'small',
    title: 'small',
    setupFile: join(folder, 'crs-setup.conf.example'),
    rulesFolder,
    paranoiaLevel: 1,
    levelVariables: ['blocking_paranoia_level'],
  };
}

test('a rule set of two folders builds, with its data files, and blocks', () => {
  const ruleset = writeRuleset();
  const included = [...policyText(ruleset, folder).matchAll(/^Include (.+)$/gm)].map(
    ([, at]) => at,
  );
  expect(included).toHaveLength(2);
  expect([...policyFiles(ruleset).keys()]).toEqual(expect.arrayContaining(included));
  mkdirSync(join(folder, 'loads'));
  writeFileSync(join(folder, 'loads', 'mix.json'), JSON.stringify(workload));
  const engine = buildPolicy(ruleset, join(folder, 'cache'));
  try {
    const [shape] = readShapes(join(folder, 'loads'));
    expect(shape!.name).toBe('attack');
    const session = engine.open(shape!.requests[0]!.snapshot);
    expect(session.requestHead()).toMatchObject({ action: 'pass' });
    expect(session.requestBody(null)).toMatchObject({ status: 403 });
    void session.finish();
  } finally {
    engine.retire();
  }
});
