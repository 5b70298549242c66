/** Proves that rules that are fine one by one are measured together, and refused where slow. */

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { PolicySource } from '../contract/policy.ts';
import { knownInMemory } from '../../test/support/known-patterns.ts';
import { ownRules, RuleSetTrial } from './rule-set-trial.ts';

const entry = new URL('../../.build/engine/threads/rule-set-process.js', import.meta.url);

const policyOf = (...rules: string[]): PolicySource => {
  const text = ['SecRuleEngine Off', 'SecRequestBodyAccess On', 'Include crs/rules/A.conf'];
  const files = new Map([['crs/rules/A.conf', Buffer.from('SecRule ARGS "@rx (" "id:1"')]]);
  const seclangEntry = [...text, ...rules, ''].join('\n');
  return { id: 'p', name: 'p', revision: '1', seclangEntry, files };
};
const each = (count: number, rule: (at: number) => string): string[] =>
  Array.from({ length: count }, (_one, at) => rule(at));

/** Matches every value of every request. */
const matchesAll = (at: number): string =>
  `SecRule ARGS|REQUEST_HEADERS "@rx [a-z]{${1 + (at % 3)}}" ` +
  `"id:${10_000 + at},phase:2,pass,setvar:tx.a${at}=1"`;
const usual = (at: number): string =>
  `SecRule ARGS "@rx (?i)word${at}[a-z]+x" "id:${10_000 + at},phase:2,deny,t:urlDecodeUni"`;

test('500 usual rules pass; 1,000 that match everything are refused with their figure', async () => {
  const trial = new RuleSetTrial(entry);
  expect(await trial.try(policyOf(...each(500, usual)))).toEqual([]);
  const slow = policyOf(...each(1_000, matchesAll));
  expect(await trial.try(slow)).toMatchObject([
    {
      code: 'rules-slow',
      message: expect.stringMatching(
        /^the set of 1000 rules of the policy's own takes [\d.]+ ms of CPU time for a .*; at most/,
      ) as string,
    },
  ]);
  // What was refused is not remembered as quick.
  expect(await trial.try(slow)).toHaveLength(1);
});

test('a rule that blocks does not hide those after it', async () => {
  const trial = new RuleSetTrial(entry, { requestMsMax: 0.5 });
  const first = 'SecAction "id:1,phase:1,deny,status:403"';
  expect(await trial.try(policyOf(first, ...each(300, matchesAll)))).toHaveLength(1);
});

test('a marker of the ruleset hides no rule', async () => {
  const trial = new RuleSetTrial(entry);
  const policy = policyOf(...each(1_000, matchesAll));
  const seclangEntry = `SecAction "id:2,phase:2,pass,skipAfter:END-A"\n${policy.seclangEntry}`;
  const ruleset = 'SecRule ARGS "@rx never" "id:1,phase:2,pass"\nSecMarker END-A\n';
  const files = new Map([['crs/rules/A.conf', Buffer.from(ruleset)]]);
  const found = await trial.try({ ...policy, seclangEntry, files });
  expect(found).toMatchObject([{ code: 'rules-slow' }]);
});

test('rules that cannot stand alone are measured with the ruleset', async () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'waf-set-')), 'whole.mjs');
  const slow = { kind: 'measured', ms: 9, request: 'a GET' };
  writeFileSync(
    file,
    `process.once('message', ({ files }) => {
      const whole = files.get('crs/rules/A.conf').length > 0;
      process.send(whole ? ${JSON.stringify(slow)} : { kind: 'unlinked' });
      process.disconnect();
    });`,
  );
  const trial = new RuleSetTrial(pathToFileURL(file));
  expect(await trial.try(policyOf(...each(60, usual)))).toMatchObject([{ code: 'rules-slow' }]);
});

test('few rules are not measured, and a set is measured again once much of it is new', async () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'waf-set-')), 'slow.mjs');
  const answer = { kind: 'measured', ms: 1, request: 'a GET' };
  writeFileSync(
    file,
    `process.once('message', ({ seclangEntry }) => {
      const ms = seclangEntry.includes('word119[') ? 9 : 1;
      process.send({ ...${JSON.stringify(answer)}, ms });
      process.disconnect();
    });`,
  );
  const trial = new RuleSetTrial(pathToFileURL(file));
  const found = async (count: number): Promise<number> =>
    (await trial.try(policyOf(...each(count, usual)))).length;
  expect(await found(100)).toBe(0);
  expect(await found(104)).toBe(0);
  expect(await found(120)).toBe(1);
  expect(await trial.try(policyOf(usual(119)))).toEqual([]);
});

test('what was measured for one policy is known for others, and after a restart', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waf-set-'));
  const file = path.join(folder, 'counts.mjs');
  const runs = path.join(folder, 'runs');
  writeFileSync(
    file,
    `import { appendFileSync } from 'node:fs';
    process.once('message', ({ seclangEntry }) => {
      appendFileSync(${JSON.stringify(runs)}, '.');
      const ms = seclangEntry.includes('word99[') ? 9 : 1;
      process.send({ kind: 'measured', ms, request: 'a GET' });
      process.disconnect();
    });`,
  );
  const [known, entryOfCounts] = [knownInMemory(), pathToFileURL(file)];
  const measured = (): number => readFileSync(runs, 'utf8').length;
  const before = new RuleSetTrial(entryOfCounts, {}, known);
  const policy = policyOf(...each(60, usual));
  expect(await before.try(policy)).toEqual([]);
  expect(await before.try({ ...policy, id: 'other' })).toEqual([]);
  expect(measured()).toBe(1);
  const after = new RuleSetTrial(entryOfCounts, {}, known);
  expect(await after.try(policy)).toEqual([]);
  expect(measured()).toBe(1);
  // Another data file is another set; a slow one stays refused.
  const files = new Map([...policy.files, ['crs/a.data', Buffer.from('x')] as const]);
  expect(await new RuleSetTrial(entryOfCounts, {}, known).try({ ...policy, files })).toEqual([]);
  expect(measured()).toBe(2);
  const slow = policyOf(...each(100, usual));
  expect(await after.try(slow)).toHaveLength(1);
  expect(await new RuleSetTrial(entryOfCounts, {}, known).try(slow)).toHaveLength(1);
});

test('a set that takes too long to build is ended', async () => {
  const trial = new RuleSetTrial(entry, { patternCpuMs: 1 });
  expect(await trial.try(policyOf(...each(400, usual)))).toMatchObject([
    { message: expect.stringContaining('is not built after 0.001 seconds') as string },
  ]);
});

test('of the ruleset markers and data files are left', () => {
  const { files, ...policy } = policyOf('SecRule ARGS "@pmFromFile crs/a.data" "id:7"');
  const all = new Map([
    ...files,
    ['crs/rules/B.conf', Buffer.from('# SecMarker\nSecRule ARGS "x" "id:2"\n SecMarker "END-B"\n')],
    ['crs/a.data', Buffer.from('x')],
    ['plugins/p.conf', Buffer.from('y')],
  ]);
  const own = ownRules({ ...policy, files: all });
  const texts = [...own.files].map(([name, bytes]) => [name, Buffer.from(bytes).toString()]);
  expect(texts).toEqual([
    ['crs/rules/A.conf', ''],
    ['crs/rules/B.conf', ' SecMarker "END-B"'],
    ['crs/a.data', 'x'],
    ['plugins/p.conf', 'y'],
  ]);
  expect(own.seclangEntry).toMatch(/SecRuleEngine DetectionOnly\nSecDecision crs\n$/);
});
