/**
 * Proves of every command that changes a resource: what one call sets stays when the next names
 * something else. Each flag is a call of its own, after which only what it names may differ.
 */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../test/support/printed.ts';
import { makeTestCertificate } from '../../test/support/test-certificates.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { loadCommands } from './commands.ts';
import { runCommandLine } from './program.ts';
import {
  heldElsewhere,
  noChanges,
  setRows,
  spokenOf,
  type SetRow,
} from '../../test/support/set-rows.ts';

const commands = await loadCommands([]);
const folder = mkdtempSync(join(tmpdir(), 'waf-each-flag-'));
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const { cert, key } = await makeTestCertificate({ names: ['*.test'] });
  const files: Readonly<Record<string, string>> = {
    CERT: cert,
    KEY: key,
    TOKEN: '{"apiToken":"x"}',
    HOOK: '{"url":"https://hooks.example/x"}',
    OTHER: '{"url":"https://hooks.example/y"}',
    RULE: 'SecRule ARGS "@contains a" "id:10700,phase:1,pass"',
    NEXT: 'SecRule ARGS "@contains b" "id:10700,phase:1,pass"',
    SECRET: 'hidden-secret\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const upload = ['cert upload --name shop --cert CERT --key KEY', 'ip-list create --name office'];
  for (const line of upload) {
    const said = await run(line);
    if (!said.startsWith('0 ')) throw new Error(`${line}: ${said}`);
  }
});
afterAll(() => waf.control.close());
afterEach(() => vi.restoreAllMocks());

/** Runs a line, in which words in capitals name files of this test. */
async function run(line: string): Promise<string> {
  const printed = keepPrinted();
  const words = line.split(' ').map((one) => (/^[A-Z]{3,6}$/.test(one) ? join(folder, one) : one));
  const args = [...words, '--admin-socket', waf.socket, '--output', 'json'];
  const code = await runCommandLine(commands, args);
  vi.restoreAllMocks();
  return `${code} ${code === 0 ? printed.out : printed.err}`;
}

/** Values by their paths, without counts and what follows from another resource. */
async function valuesOf(line: string): Promise<Map<string, unknown>> {
  const text = await run(line);
  const found = new Map<string, unknown>();
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) found.set(path, value);
    else for (const [name, member] of Object.entries(value)) visit(member, `${path}.${name}`);
  };
  expect(text).toMatch(/^0 /);
  visit(JSON.parse(text.slice(2)), '');
  const counts = /(?:revision|updatedAt|etag|bundleSha256|\.warnings\.\d+)$/i;
  const followed = /\.(?:storageHealth|probes|bodyInspection)\./;
  for (const path of found.keys()) {
    if (counts.test(path) || followed.test(path)) found.delete(path);
  }
  return found;
}

test.each(Object.entries(setRows))('waf %s keeps what is not named', async (name, row: SetRow) => {
  for (const line of row.make) expect(`${line}: ${await run(line)}`).toMatch(/: 0 /);
  let before = await valuesOf(row.show);
  for (const [flags, named] of row.steps) {
    const said = await run(`${name} ${row.which} ${flags}`.trim().replace(/ +/g, ' '));
    expect(`${flags}: ${said}`).toMatch(/: 0 /);
    const after = await valuesOf(row.show);
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => before.get(path) !== after.get(path),
    );
    expect([flags, changed.filter((path) => !named.test(path))]).toEqual([flags, []]);
    expect([flags, changed.length > 0]).toEqual([flags, true]);
    before = after;
  }
});

test('every command that changes something stands here, with every flag', () => {
  const flagOf = (text: string): string => /--[a-z-]+/.exec(text)?.[0] ?? '';
  const missing = commands.flatMap(({ path, flags = [] }) => {
    const name = path.join(' ');
    const row = setRows[name];
    if (row === undefined) {
      const known = name in heldElsewhere || noChanges.some((one) => one.test(name));
      return known ? [] : [name];
    }
    const used = row.steps.map(([text]) => text).join(' ');
    return flags
      .filter(({ repeatable, required }) => repeatable !== true && required !== true)
      .map((flag) => flagOf(flag.flags))
      .filter((flag) => !used.split(' ').includes(flag))
      .filter((flag) => !(flag in spokenOf) && !row.which.includes(flag))
      .filter((flag) => row.without?.[flag] === undefined)
      .map((flag) => `${name} ${flag}`);
  });
  expect(missing).toEqual([]);
  const names = commands.map(({ path }) => path.join(' '));
  for (const name of Object.keys({ ...setRows, ...heldElsewhere })) expect(names).toContain(name);
});

test('bindings and rules keep what operators set at the same time', async () => {
  const made = [
    'policy create --name raced',
    'rule create raced --name together --seclang RULE',
    'ip-list create --name both',
    'ip-list bind both --policy raced --kind allow',
  ];
  for (const line of made) expect(await run(line)).toMatch(/^0 /);
  const atOnce = async (lines: readonly string[]): Promise<void> => {
    const printed = keepPrinted();
    const codes = await Promise.all(
      lines.map((line) =>
        runCommandLine(commands, [...line.split(' '), '--admin-socket', waf.socket]),
      ),
    );
    vi.restoreAllMocks();
    expect(codes, printed.err).toEqual(lines.map(() => 0));
  };
  const bind = 'ip-list bind both --policy raced --kind allow';
  await atOnce([`${bind} --not-in`, `${bind} --bypass all_waf`]);
  const bindings = await run('ip-list bindings --policy raced');
  expect(JSON.parse(bindings.slice(2))).toMatchObject({
    items: [{ matchMode: 'not_in_list', bypassMode: 'all_waf' }],
  });
  const change = 'rule update together';
  await atOnce([`${change} --description why`, `${change} --order 7`, `${change} --run off`]);
  const kept = JSON.parse((await run('rule get together')).slice(2).split('\nSec')[0]!) as object;
  expect(kept).toMatchObject({ rule: { description: 'why', sortOrder: 7, name: 'together' } });
  expect(kept).not.toMatchObject({ rule: { enabled: true } });
});
