/** Proves that a break of the contract is found: planted in clones, judged by the real check. */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compareContract } from './breaking.mjs';
import { inRoot } from './paths.mjs';

let folder = '';
let checkout = '';

function git(...args: string[]): void {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@test.invalid'];
  const { status, stderr } = spawnSync('git', [...identity, ...args], {
    cwd: checkout,
    encoding: 'utf8',
  });
  expect([args[0], status, status === 0 ? '' : stderr]).toEqual([args[0], 0, '']);
}

function edit(name: string, change: (text: string) => string): void {
  const path = join(checkout, 'proto', 'waf', 'v1', name);
  const text = readFileSync(path, 'utf8');
  const after = change(text);
  expect(after).not.toBe(text);
  writeFileSync(path, after);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waf-breaking-'));
  checkout = join(folder, 'checkout');
  const accept = (path: string): boolean => !path.endsWith('/gen');
  cpSync(inRoot('proto'), join(checkout, 'proto'), { recursive: true, filter: accept });
  git('init', '--quiet', '--initial-branch', 'main');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const dropField = (text: string): string => text.replace(/\n[^\n]* display_name = \d+[^;]*;/, '');
const addField = (text: string): string =>
  text.replace('message LockUserRequest {', 'message LockUserRequest {\n  string why = 100;');

test('a single commit has nothing to compare with, and passes by saying so', async () => {
  edit('user.proto', dropField);
  expect(await compareContract(checkout)).toMatchObject({
    code: 0,
    note: 'nothing to compare with: no other commit of proto/',
  });
});

test('what is no checkout passes by saying so', async () => {
  rmSync(join(checkout, '.git'), { recursive: true });
  expect((await compareContract(checkout)).note).toMatch(/^nothing to compare with/);
});

test('on a branch: an added field passes, a removed one and a renumbered one do not', async () => {
  git('checkout', '--quiet', '-b', 'work');
  edit('user.proto', addField);
  git('commit', '--quiet', '-a', '-m', 'added');
  expect(await compareContract(checkout)).toMatchObject({
    code: 0,
    note: expect.stringMatching(/^compared with [0-9a-f]{12}$/) as string,
  });
  edit('user.proto', dropField);
  const removed = await compareContract(checkout);
  expect(removed.code).not.toBe(0);
  expect(removed.output).toMatch(/Previously present field .*display_name/);
});

test('on main itself the commit before is the base', async () => {
  edit('site.proto', (text) => text.replace('rpc EnableSite(', 'rpc TurnOnSite('));
  git('commit', '--quiet', '-a', '-m', 'renamed');
  const { code, output } = await compareContract(checkout);
  expect(code).not.toBe(0);
  expect(output).toContain('EnableSite');
});

test('a clone of one commit passes, a whole clone compares', async () => {
  edit('user.proto', addField);
  git('commit', '--quiet', '-a', '-m', 'second');
  const from = `file://${checkout}`;
  const shallow = join(folder, 'shallow');
  git('clone', '--quiet', '--depth', '1', from, shallow);
  expect((await compareContract(shallow)).note).toMatch(/^nothing to compare with/);
  const whole = join(folder, 'whole');
  git('clone', '--quiet', from, whole);
  expect((await compareContract(whole)).note).toMatch(/^compared with/);
});
