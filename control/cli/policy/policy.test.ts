/** The proof of `waf policy`, `waf rule` and `waf crs` against a running control. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

const commands = await loadCommands([]);

let waf: TestControl;
const folder = mkdtempSync(join(tmpdir(), 'waf-cli-policy-'));
let out = '';
let err = '';

beforeAll(async () => {
  waf = await startTestControl();
});
afterAll(async () => {
  await waf.control.close();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => vi.restoreAllMocks());

async function run(...words: string[]): Promise<number> {
  const printed = keepPrinted();
  const code = await runCommandLine(commands, [...words, '--admin-socket', waf.socket]);
  ({ out, err } = printed);
  return code;
}

/** Runs with JSON output; the exit code must be `code`. */
async function json(code: number, ...words: string[]): Promise<Record<string, unknown>> {
  const got = await run(...words, '--output', 'json');
  expect(`${got} ${err}`).toBe(`${code} ${err}`);
  return JSON.parse(out) as Record<string, unknown>;
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function newPolicy(name: string): Promise<string> {
  const made = await json(0, 'policy', 'create', '--name', name, '--template', 'template-light');
  return (made['policy'] as { id: string }).id;
}

test('a policy is made, changed by mask and layer, compared and rolled back', async () => {
  const id = await newPolicy('one');
  const core = file(
    'core.yaml',
    'crsCore: {blockingParanoiaLevel: 2, detectionParanoiaLevel: 2, reportingLevel: 1}',
  );
  const levels = ['blocking', 'detection'].map((one) => `crsCore.${one}ParanoiaLevel`);
  const mask = levels.flatMap((path) => ['--mask', path]);
  await json(0, 'policy', 'update', id, '--file', core, ...mask);
  const limits = file('limits.json', '{"maxNumArgs": 9}');
  await json(0, 'policy', 'set-layer', id, 'arg-limits', '--file', limits);
  const off = await json(0, 'policy', 'engine', id, 'detection-only');
  expect(off['policy']).toMatchObject({
    engineState: 'ENGINE_STATE_DETECTION_ONLY',
    revision: '4',
  });
  const { items } = (await json(0, 'policy', 'versions', id)) as { items: { id: string }[] };
  expect(items).toHaveLength(4);
  const [newest, , , oldest] = items.map((one) => one.id);
  expect(await run('policy', 'diff', oldest ?? '', newest ?? '')).toBe(2);
  expect(out).toContain('crsCore.blockingParanoiaLevel');
  expect(out).not.toMatch(/updatedAt|reportingLevel/);
  // Revisions, as lists show them, name versions as well.
  expect(await run('policy', 'diff', `${id}:1`, '4')).toBe(2);
  expect(out).toContain('crsCore.blockingParanoiaLevel');
  expect(await run('policy', 'diff', '1', '4')).not.toBe(0);
  expect(err).toContain('which policy? Write POLICY:1');
  const shown = await json(0, 'policy', 'version', `${id}:4`);
  expect(shown['version']).toMatchObject({ id: newest });
  expect(await run('policy', 'rollback', id, '99')).not.toBe(0);
  expect(err).toContain('No saved version has revision 99');
  expect(await run('policy', 'rollback', id, '1')).toBe(0);
  const back = await json(0, 'policy', 'get', id);
  expect(back['policy']).toMatchObject({ crsCore: { blockingParanoiaLevel: 1 }, revision: '5' });
  expect(await run('policy', 'update', id, '--name', 'x', '--revision', '3')).toBe(1);
  expect(err).toContain('aborted');
  expect(await run('policy', 'delete', id)).toBe(0);
});

test('overrides and custom rules are set, listed, previewed and removed', async () => {
  const id = await newPolicy('two');
  await json(0, 'rule', 'override', id, '942999', 'default', '--without', 'ARGS:note');
  await json(0, 'rule', 'override', id, '942999', 'disable', '--scope', '/editor');
  expect(await run('rule', 'overrides', id)).toBe(0);
  expect(out).toContain('!ARGS:note');
  expect(out).toContain('/editor');
  const raw = file('rule.conf', 'SecRule ARGS:x "@streq 1" "id:77,phase:2,pass,log"');
  const made = await json(0, 'rule', 'create', id, '--name', 'raw', '--seclang', raw);
  const { id: ruleId } = made['rule'] as { id: string };
  expect(await run('policy', 'preview', id)).toBe(0);
  expect(out).toContain('id:77');
  await json(0, 'rule', 'update', ruleId, '--run', 'off');
  expect(await run('policy', 'preview', id)).toBe(0);
  expect(out).not.toContain('id:77');
  await json(0, 'rule', 'from-template', id, 'block-path', '--set', 'path=/private');
  const visual = file('visual.yaml', 'conditions: [{variable: ARGS, value: x}]');
  expect(await run('rule', 'preview', '--name', 'v', '--visual', visual)).toBe(0);
  expect(out).toContain('SecRule ARGS "@contains x"');
  expect(await run('rule', 'create', id, '--name', 'bad', '--seclang', file('bad', 'SecX'))).toBe(
    1,
  );
  expect(err).toContain('rule.seclang: line 1');
  expect(await run('rule', 'delete', ruleId)).toBe(0);
});

test('a ruleset comes from a folder; a policy moves to it; its plugins are switched on', async () => {
  for (const name of ['rules', 'plugins'])
    mkdirSync(join(folder, 'own', name), { recursive: true });
  const text = `SecRule ARGS "@rx new" "id:942998,phase:2,deny,ver:'OWASP_CRS/4.9.9',severity:2"\n`;
  file('own/rules/REQUEST-942.conf', text);
  file('own/plugins/guard-before.conf', 'SecAction "id:9599100,phase:1,pass,nolog"\n');
  const { ruleset } = await json(0, 'crs', 'import', join(folder, 'own'));
  const { id: rulesetId } = ruleset as { id: string };
  expect(ruleset).toMatchObject({ version: '4.9.9', pluginCount: 1, source: 'uploaded' });
  expect(await run('crs', 'rule', rulesetId, '942998')).toBe(0);
  expect(out).toContain('@rx new');
  const id = await newPolicy('three');
  await json(0, 'rule', 'override', id, '942999', 'disable');
  expect(await run('policy', 'impact', id, rulesetId)).toBe(0);
  expect(out).toContain('2 added, 1 removed, 0 changed, 1 overrides without a rule');
  expect(await run('policy', 'ruleset', id, rulesetId)).toBe(1);
  expect(await run('policy', 'ruleset', id, rulesetId, '--leave-exclusions')).toBe(0);
  const plugins = file('plugins.yaml', 'plugins: [{pluginId: guard, enabled: true}]');
  expect(await run('policy', 'set-layer', id, 'plugins', '--file', plugins)).toBe(0);
  expect(await run('policy', 'preview', id)).toBe(0);
  expect(out).toContain('Include crs/plugins/guard-before.conf');
  expect(err).toContain('override of rule 942999');
  expect(await run('crs', 'delete', rulesetId)).toBe(1);
  expect(err).toContain(id);
});

test('exclusion plugins are brought in and used under a path', async () => {
  mkdirSync(join(folder, 'phpbb', 'plugins'), { recursive: true });
  const rule =
    'SecRule TX:phpbb-rule-exclusions-plugin_enabled "@eq 0" "id:9599200,phase:1,pass"\n';
  file('phpbb/plugins/phpbb-rule-exclusions-before.conf', rule);
  const id = await newPolicy('four');
  expect(await run('crs', 'exclusion-use', id, 'phpbb')).toBe(1);
  expect(err).toContain('import it first');
  expect(await run('crs', 'exclusion-import', 'phpbb', join(folder, 'phpbb'))).toBe(0);
  expect(await run('crs', 'exclusion-use', id, 'phpbb', '--path', '/forum')).toBe(0);
  expect(await run('policy', 'preview', id)).toBe(0);
  expect(out).toContain("setvar:'tx.phpbb-rule-exclusions-plugin_enabled=1'");
  expect(await run('crs', 'exclusion-uses', id)).toBe(0);
  expect(out).toContain('/forum');
});
