/** Tests how the modules of a program are joined; that they run is proved by every other test. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { joinPrograms } from './bundle.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waf-join-'));
  mkdirSync(join(folder, 'engine'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const joined = async (): Promise<string> => {
  const files = await joinPrograms(['engine/one', 'engine/two'], folder);
  return files.map(({ text }) => text).join('\n');
};

test('what two programs import is in a piece that both share', async () => {
  write('engine/shared.ts', "export const shared = 'once';");
  for (const name of ['one', 'two']) {
    write(`engine/${name}.ts`, "import { shared } from './shared.ts'; console.log(shared);");
  }
  expect((await joined()).match(/'once'|"once"/g)).toHaveLength(1);
});

test('CommonJS that is imported while a program runs is refused: it has no names', async () => {
  write('engine/plain.cjs', 'exports.name = 1;');
  write('engine/one.ts', "console.log((await import('./plain.cjs')).name);");
  write('engine/two.ts', '');
  await expect(joined()).rejects.toThrow(/one\.ts imports .*plain\.cjs.*CommonJS/);
});

test('a package that reads files beside itself is refused', async () => {
  mkdirSync(join(folder, 'node_modules/reader'), { recursive: true });
  write('node_modules/reader/index.js', '/* __dirname */ exports.place = __dirname;');
  write('engine/one.ts', "import { place } from 'reader'; console.log(place);");
  write('engine/two.ts', '');
  await expect(joined()).rejects.toThrow(/reader\/index\.js finds files by __dirname/);
});

test('a syntax error names the file and the place', async () => {
  write('engine/one.ts', 'const = 1;');
  write('engine/two.ts', '');
  await expect(joined()).rejects.toThrow(/one\.ts:1:6/);
});
