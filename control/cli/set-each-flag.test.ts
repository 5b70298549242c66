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
import type { FlagDefinition } from './command.ts';
import { loadCommands } from './commands.ts';
import { nameOf } from './field-flags.ts';
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
    const changed = changedPaths(before, after);
    expect([flags, changed.filter((path) => !named.test(path))]).toEqual([flags, []]);
    expect([flags, changed.length > 0]).toEqual([flags, true]);
    before = after;
  }
  for (const flag of switchesOf(name, row)) {
    const counts: number[] = [];
    for (const word of flag.choices!) {
      const said = await run(`${name} ${row.which} ${nameOf(flag)} ${word}`);
      expect(`${nameOf(flag)} ${word}: ${said}`).toMatch(/: 0 /);
      const after = await valuesOf(row.show);
      counts.push(changedPaths(before, after).length);
      before = after;
    }
    // One of the two words may be what holds already.
    expect([nameOf(flag), Math.max(...counts)]).toEqual([nameOf(flag), 1]);
  }
});

/** Flags of two words without a step: whatever value they name, no other one may change. */
function switchesOf(name: string, row: SetRow): FlagDefinition[] {
  const { flags = [] } = commands.find(({ path }) => path.join(' ') === name)!;
  return flags.filter((flag) => flag.choices?.length === 2 && !isSpokenOf(flag, row));
}

/** Whether a row has a step with the flag, or says why it has none. */
function isSpokenOf(flag: FlagDefinition, row: SetRow): boolean {
  const named = nameOf(flag);
  const used = row.steps.flatMap(([text]) => text.split(' '));
  if (used.includes(named) || named in spokenOf) return true;
  return row.which.includes(named) || row.without?.[named] !== undefined;
}

function changedPaths(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path));
}

test('every command that changes something stands here, with every flag', () => {
  const missing = commands.flatMap(({ path, flags = [] }) => {
    const name = path.join(' ');
    const row = setRows[name];
    if (row === undefined) {
      const known = name in heldElsewhere || noChanges.some((one) => one.test(name));
      return known ? [] : [name];
    }
    return flags
      .filter(({ repeatable, required }) => repeatable !== true && required !== true)
      .filter((flag) => !isSpokenOf(flag, row) && flag.choices?.length !== 2)
      .map((flag) => `${name} ${nameOf(flag)}`);
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
