/** Proves that no way into a policy takes a pattern that the engine cannot build in time. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loadCommands } from '../../control/cli/commands.ts';
import { runCommandLine } from '../../control/cli/program.ts';
import { packArchive } from '../../control/publish/rulesets/ruleset-pack.ts';
import { silentLogger } from '../../base/log.ts';
import { serveEngineService } from '../../engine/link/engine-service.ts';
import { SharedFiles } from '../../engine/policies/keyed-policies.ts';
import { PatternTrial } from '../../engine/rollout/pattern-trial.ts';
import { RuleSetTrial } from '../../engine/rollout/rule-set-trial.ts';
import { createEvaluator, type EvaluatorOptions } from '../../engine/simulate/evaluate.ts';
import { knownInMemory } from '../support/known-patterns.ts';
import { keepPrinted } from '../support/printed.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';

/** Within the static bound, but minutes of work; the other is past the bound. */
const slow = '(a|b{900}|c{900}){10}';
const costly = '(a|b{900}|c{900})';
const nested = '((a{1,100}){1,100}){1,100}';
const entry = new URL('../../.build/engine/threads/trial-process.js', import.meta.url);
const setEntry = new URL('../../.build/engine/threads/rule-set-process.js', import.meta.url);
const commands = await loadCommands([]);
const unasked = (): never => expect.unreachable('nothing is planned here');
const unused = { plan: unasked, prepare: unasked, planAhead: unasked };
let waf: TestControl;
let engine: { close(): Promise<void> };
let policyId = '';
let compilations = 0;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const made = await waf.call('PolicyService/CreatePolicy', { policy: { name: 'tried' } });
  policyId = (made.body['policy'] as { id: string }).id;
  // Only what compiling needs.
  const options: Partial<EvaluatorOptions> = {
    // Every thread is busy: rules are linked here.
    planner: { ...unused, link: () => Promise.resolve(null) },
    serves: () => false,
    trial: new PatternTrial(entry, knownInMemory(), { patternCpuMs: 1500 }),
    setTrial: new RuleSetTrial(setEntry, { requestMsMax: 1 }),
    files: new SharedFiles(),
    status: () => ({ revision: '1', sha256: '', version: '1', uptimeMs: 1, libraries: {} }),
  };
  const evaluator = createEvaluator(options as EvaluatorOptions);
  const compile: typeof evaluator.compile = (...asked) => {
    compilations += 1;
    return evaluator.compile(...asked);
  };
  const handler = { ...evaluator, compile };
  const socketPath = join(waf.folder, 'engine.sock');
  engine = await serveEngineService({ socketPath, handler, logger: silentLogger });
});
afterAll(async () => {
  await engine.close();
  await waf.control.close();
});

const seclangOf = (pattern: string, id = 11): string =>
  `SecRule ARGS "@rx ${pattern}" "id:${id},phase:2,deny"`;

const removal = 'ruleRemoveTargetById=942999';

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
  'a target of a custom rule': (pattern) =>
    call('CustomRuleService/CreateCustomRule', {
      rule: {
        policyId,
        name: 't',
        enabled: true,
        seclang: `SecRule ARGS:/${pattern}/ "@streq x" "id:13,phase:2,deny"`,
      },
    }),
  'a control of a custom rule': (pattern) =>
    call('CustomRuleService/CreateCustomRule', {
      rule: {
        policyId,
        name: 'c',
        enabled: true,
        seclang: `SecAction "id:14,phase:1,pass,ctl:'${removal};ARGS:/${pattern}/'"`,
      },
    }),
  'an imported set-up': (pattern) => {
    const folder = mkdtempSync(join(tmpdir(), 'waf-set-up-'));
    const lines = ['SecRuleEngine On', 'SecRule ARGS "@rx fine" "id:15,phase:2,deny"', ''];
    writeFileSync(join(folder, 'modsecurity.conf'), lines.join('\n'));
    const chain = [
      `SecRule REQUEST_METHOD "@streq POST" \\`,
      `    "id:16,phase:2,deny,chain"`,
      `  SecRule ARGS|REQUEST_HEADERS \\`,
      `    "@rx ${pattern}" "t:none"`,
      '',
    ];
    writeFileSync(join(folder, 'own.conf'), chain.join('\n'));
    return importFolder(folder);
  },
  'a ruleset archive': (pattern) => {
    const rule = `SecRule ARGS "@rx ${pattern}" "id:942001,phase:2,deny,ver:'OWASP_CRS/4.9.2'"\n`;
    const path = 'crs/rules/REQUEST-942-APPLICATION-ATTACK-SQLI.conf';
    const files = [{ path, content: new TextEncoder().encode(rule) }];
    const archive = Buffer.from(packArchive(files)).toString('base64');
    return call('SystemService/ImportCrsRuleset', { archive });
  },
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

/** As an operator does it; the answer's message, or what was printed. */
async function importFolder(folder: string): Promise<string> {
  const line = ['policy', 'import', folder, '--name', 'imported', '--output', 'json'];
  const printed = keepPrinted();
  const code = await runCommandLine(commands, [...line, '--admin-socket', waf.socket]);
  vi.restoreAllMocks();
  return `${code === 0 ? 200 : 400} ${printed.err}${printed.out}`.replaceAll(folder, 'SETUP');
}

test.each(Object.entries(ways))('%s', async (_, bring) => {
  const late = await bring(slow);
  expect(late).toMatch(/^400 [^]*the pattern is not built after 1\.5 seconds/);
  expect(late).toMatch(/line \d+, column \d+|:\d+:\d+/);
  expect(await bring(nested)).toMatch(/^400 [^]*the pattern grows to/);
  expect(await bring(costly)).toMatch(/^400 [^]*takes [\d.]+ ms to search 4 KB of/);
  expect(await bring('union.select')).toMatch(/^200 /);
});

test('an imported rule is named where it stands in the set-up', async () => {
  const refusedAt = (reason: string): RegExp =>
    new RegExp(`"own\\.conf"[^{]*"line": 4,[^{]*"column": 10,[^{]*"refused"[^{]*${reason}`);
  expect(await ways['an imported set-up']!(slow)).toMatch(
    refusedAt('rule 16: the pattern is not built'),
  );
  expect(await ways['an imported set-up']!(nested)).toMatch(refusedAt('the pattern grows to'));
});

test('when too many changes wait, the next one is refused', async () => {
  const all = Array.from({ length: 24 }, (_, at) => ways['a visual rule']!(`a${at}x{800}`));
  const answers = await Promise.all([ways['a custom rule']!(slow), ...all]);
  const turnedAway = answers.filter((text) => text.startsWith('429 '));
  expect(turnedAway.length).toBeGreaterThan(0);
  for (const text of turnedAway) expect(text).toContain('try again later');
});

test('a set of rules that is slow as a whole is refused, whichever way it comes', async () => {
  const rules = Array.from({ length: 400 }, (_one, at) => {
    const matches = `"@rx [a-z]{${1 + (at % 3)}}"`;
    return `SecRule ARGS|REQUEST_HEADERS ${matches} "id:${20_000 + at},phase:2,pass"`;
  });
  const seclang = rules.join('\n');
  const bring = (rule: object) =>
    call('CustomRuleService/CreateCustomRule', { rule: { policyId, enabled: true, ...rule } });
  const slowSet = /^400 [^]*the set of 4\d\d rules of the policy's own takes [\d.]+ ms of CPU/;
  expect(await bring({ name: 'many', seclang })).toMatch(slowSet);
  const folder = mkdtempSync(join(tmpdir(), 'waf-set-up-'));
  writeFileSync(join(folder, 'modsecurity.conf'), `SecRuleEngine On\n${seclang}\n`);
  expect(await importFolder(folder)).toMatch(slowSet);
});

/** A manifest of one policy with these rules, each with its number. */
function applyRules(name: string, rules: readonly string[], enabled = true): Promise<string> {
  const customRules = rules.map((seclang, at) => ({ name: `r${at}`, enabled, seclang }));
  const spec = { crsRulesetRef: 'default', customRules };
  const document = { apiVersion: 'waf.io/v1', kind: 'Policy', metadata: { name }, spec };
  const manifestYaml = Buffer.from(JSON.stringify(document)).toString('base64');
  return call('SystemService/Apply', { manifestYaml });
}

const literalRules = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `SecRule ARGS "@streq x${at}" "id:${100 + at},phase:2"`);

test('the rules of a manifest are compiled together', async () => {
  const before = compilations;
  expect(await applyRules('together', literalRules(20))).toMatch(/^200 /);
  expect(compilations - before).toBe(2);
});

test('disabled rules of a manifest are compiled together, as if they were enabled', async () => {
  const before = compilations;
  expect(await applyRules('disabled', literalRules(20), false)).toMatch(/^200 /);
  expect(compilations - before).toBe(2);
  const faulty = literalRules(20).with(3, 'SecRule ARGS "@nothing x" "id:103,phase:2"');
  expect(await applyRules('disabled', faulty, false)).toMatch(
    /^400 .*spec\.customRules\[3\]\.seclang: the rules do not compile: line 1, column/,
  );
});

test('a disabled rule that would not compile beside the ruleset is named', async () => {
  const marker = 'SecRule ARGS "@streq x" "id:104,phase:2,pass,skipAfter:NOWHERE"';
  const rules = literalRules(5).with(4, marker);
  const enabled = await applyRules('skipping', rules);
  expect(await applyRules('skipping', rules, false)).toBe(enabled);
});

test('a rule of many that does not compile is named where it stands in the manifest', async () => {
  const at = (index: number, rule: string): Promise<string> =>
    applyRules('together', literalRules(20).with(index, rule));
  const before = compilations;
  expect(await at(17, 'SecRule ARGS "@nothing x" "id:117,phase:2"')).toMatch(
    /^400 .*spec\.customRules\[17\]\.seclang: the rules do not compile: line 1, column/,
  );
  const twice = 'SecRule ARGS "@streq a" "id:117,phase:2"\nSecAction "id:110,phase:2,pass"';
  const problem = /^400 .*spec\.customRules\[17\]\.seclang: .*Rule id 110 is already used/;
  expect(await at(17, twice)).toMatch(problem);
  expect(compilations - before).toBeLessThan(10);
});

test('a rule cannot have a number of the ruleset or of the product', async () => {
  const refused = /rule id (?:942100|198312) must be between 1 and 99999: higher ones belong to/;
  for (const id of [942_100, 198_312]) {
    const alone = `SecRule ARGS "@streq x" "id:${id},phase:2,deny"`;
    const second = `SecAction "id:7,phase:2,pass"\n${alone}`;
    for (const seclang of [alone, second]) {
      const rule = { policyId, name: 'numbered', enabled: true, seclang };
      const made = await call('CustomRuleService/CreateCustomRule', { rule });
      expect(made).toMatch(/^400 rule\.seclang: line \d: /);
      expect(made).toMatch(refused);
      const applied = await applyRules('numbered', [seclang]);
      expect(applied).toMatch(/^400 .*spec\.customRules\[0\]\.seclang: line \d: /);
      expect(applied).toMatch(refused);
    }
  }
});

test('the number of a rule is its own, not one in its argument', async () => {
  const seclang = 'SecRule ARGS "@rx id:512" "id:78,phase:2,deny"';
  const rule = { policyId, name: 'argument', enabled: true, seclang };
  const { status, body } = await waf.call('CustomRuleService/CreateCustomRule', { rule });
  expect([status, (body['rule'] as { ruleId: string }).ruleId]).toEqual([200, '78']);
});
