/**
 * Proves that the gates check something: plants what each must find in a scratch checkout, runs the
 * real tool with the real configuration, and expects it to fail for that reason.
 */

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { undocumentedExports } from './docstrings.ts';
import { readSources, root } from './source-files.ts';

let scratch = '';
const bin = (name: string): string => join(root, 'node_modules', '.bin', name);

function plant(path: string, text: string): void {
  const target = join(scratch, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}

function runTool(name: string, ...args: string[]): { code: number; output: string } {
  const { status, stdout, stderr } = spawnSync(bin(name), args, {
    cwd: scratch,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
    maxBuffer: 64 << 20,
  });
  return { code: status ?? 128, output: stdout + stderr };
}

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'waf-canary-'));
  symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'));
  const copied = ['.dependency-cruiser.cjs', '.oxlintrc.json', '.prettierrc.json', 'tsconfig.json'];
  for (const name of [...copied, 'package.json', 'test/tidy/arrows.cjs']) {
    mkdirSync(dirname(join(scratch, name)), { recursive: true });
    copyFileSync(join(root, name), join(scratch, name));
  }
  plant('engine/base/fine.ts', 'export const fine = 1;\n');
  plant('control/domain/secret.ts', 'export const secret = 1;\n');
  plant(
    'engine/front/forbidden.ts',
    "import { secret } from '../../control/domain/secret.ts';\nexport const copy = secret;\n",
  );
  plant(
    'engine/rules/run/forbidden-core.ts',
    "import { readFileSync } from 'node:fs';\nexport const read = readFileSync;\n",
  );
  plant(
    'engine/guard/forbidden-package.ts',
    "import { open } from 'lmdb';\nexport const opened = open;\n",
  );
  plant(
    'engine/process/one.ts',
    "import type { Two } from './two.ts';\nexport type One = Two | 1;\n",
  );
  plant(
    'engine/process/two.ts',
    "import type { One } from './one.ts';\nexport type Two = One | 2;\n",
  );
  // A value cycle through a file whose type cycles are allowed.
  plant('engine/rules/transaction/types.ts', "export { b } from './b.ts';\nexport const a = 1;\n");
  plant('engine/rules/transaction/b.ts', "export { a } from './types.ts';\nexport const b = 1;\n");
  plant(
    'engine/pool/floating.ts',
    'const work = async (): Promise<void> => {};\nexport function go(): void {\n  work();\n}\n',
  );
  plant('engine/pool/any.ts', 'export const loose: any = 1;\n');
  plant('engine/pool/wrong-type.ts', "export const count: number = 'one';\n");
  plant('engine/pool/ugly.ts', 'export const a   =  1\n');
  const long = '  n += 1;\n'.repeat(80);
  plant('engine/pool/long.ts', `export function long(n = 0): number {\n${long}  return n;\n}\n`);
  plant('engine/pool/later.ts', `// ${'TO'}${'DO'}: think\nexport const later = 1;\n`);
  const vitest = "import { expect, test } from 'vitest';\n";
  plant('engine/pool/idle.test.ts', `${vitest}test('idle', () => {\n  String(expect);\n});\n`);
  plant('engine/pool/alone.test.ts', `${vitest}test.only('a', () => expect(1).toBe(1));\n`);
  plant('engine/front/main.ts', 'export const started = 1;\n');
  plant('test/support/aid.ts', 'export const aid = 1;\n');
  plant(
    'engine/front/from-leaves.ts',
    "export { aid } from '../../test/support/aid.ts';\nexport { started } from './main.ts';\n",
  );
});

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** What the tools take on a busy machine says nothing of them. */
const timeout = 600_000;

describe('the real tools find what is planted', { timeout }, () => {
  test('dependency-cruiser: forbidden imports and a type-only cycle', () => {
    const config = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json'];
    const { output } = runTool('depcruise', ...config, 'engine', 'control');
    const report = JSON.parse(output) as {
      summary: { violations: { from: string; rule: { name: string } }[] };
    };
    const found = report.summary.violations.map((one) => `${one.rule.name} < ${one.from}`);
    expect(found).toContain('arrow: engine/front < engine/front/forbidden.ts');
    expect(found).toContain('engine never imports control < engine/front/forbidden.ts');
    expect(found).toContain('pure rooms < engine/rules/run/forbidden-core.ts');
    expect(found).toContain('package: lmdb < engine/guard/forbidden-package.ts');
    expect(found).toContain('no cycles < engine/process/one.ts');
    expect(found).toContain('leaves < engine/front/from-leaves.ts');
    expect(found).toContain('nobody imports a main < engine/front/from-leaves.ts');
    expect(found.join('\n')).toMatch(
      /no cycles of values < engine\/rules\/transaction\/(b|types)\.ts/,
    );
    expect(found.filter((line) => line.includes('fine.ts'))).toEqual([]);
  });

  test('oxlint: promises, types, length, and tests that prove nothing', () => {
    const { code, output } = runTool('oxlint', '--type-aware', '--format=unix');
    expect(code).not.toBe(0);
    expect(output).toMatch(/floating\.ts:3:.*Promises must be awaited|no-floating-promises/);
    expect(output).toMatch(/any\.ts.*no-explicit-any|any\.ts:1:.*any/i);
    expect(output).toMatch(/long\.ts:1:.*max-lines-per-function/);
    expect(output).toMatch(/later\.ts:1:.*no-warning-comments/);
    expect(output).toMatch(/idle\.test\.ts:2:.*expect-expect/);
    expect(output).toMatch(/alone\.test\.ts:2:.*no-focused-tests/);
    expect(output).not.toContain('fine.ts');
  });

  test('tsc: a wrong type', () => {
    const { code, output } = runTool('tsc', '--noEmit', '-p', '.');
    expect(code).not.toBe(0);
    expect(output).toContain('engine/pool/wrong-type.ts(1,14): error TS2322');
  });

  test('prettier: a file out of shape', () => {
    const { code, output } = runTool('prettier', '--check', 'engine');
    expect(code).not.toBe(0);
    expect(output).toContain('engine/pool/ugly.ts');
  });
});

test('an export is documented only by a comment of its own', () => {
  const header = '/** Holds nothing. */\n\n';
  const unknown = (text: string): string[] =>
    undocumentedExports({ path: 'a.ts', text, lines: text.split('\n') });
  expect(unknown(`${header}export const a = 1;\n`)).toEqual(['a.ts:3 a']);
  expect(unknown(`${header}/** One. */\nexport const a = 1;\nexport const b = 2;\n`)).toEqual([]);
  expect(unknown(`${header}/** One. */\nexport const a = 1;\n\nexport const b = 2;\n`)).toEqual([
    'a.ts:6 b',
  ]);
  expect(unknown(`${header}import x from 'y';\n\nexport function f(): void {}\n`)).toEqual([
    'a.ts:5 f',
  ]);
});

describe('the real checkout', { timeout }, () => {
  interface Report {
    readonly modules: readonly { readonly source: string }[];
    readonly summary: { readonly violations: readonly { readonly rule: { severity: string } }[] };
  }
  let report: Report;

  beforeAll(() => {
    const folders = ['base', 'engine', 'control', 'native-bindings', 'proto', 'bench', 'test'];
    const { stdout } = spawnSync(
      bin('depcruise'),
      ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...folders],
      { cwd: root, encoding: 'utf8', maxBuffer: 256 << 20 },
    );
    report = JSON.parse(stdout) as Report;
  });

  test('every source file is cruised', () => {
    const cruised = new Set(report.modules.map((one) => one.source));
    const missed = readSources('.ts')
      .map((file) => file.path)
      .filter((path) => !path.endsWith('.d.ts') && !cruised.has(path));
    expect(missed).toEqual([]);
  });

  // What `npm run check` asks, too; `npm test` asks it here alone.
  test('no import goes against an arrow', () => {
    const { violations } = report.summary;
    expect(violations.filter(({ rule }) => rule.severity === 'error')).toEqual([]);
  });

  test('continuous integration runs the command that the README gives', () => {
    expect(readFileSync(join(root, '.ci', 'run'), 'utf8')).toContain('npm test');
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('npm test');
  });
});
