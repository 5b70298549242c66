/** Tables show sites, policies, pools and channels by the names that commands take. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { loadCommands } from './commands.ts';
import { runCommandLine } from './program.ts';

const commands = await loadCommands([]);
const made: Record<string, string> = {};
const folder = mkdtempSync(path.join(tmpdir(), 'waf-names-'));
let waf: TestControl;

async function run(...args: string[]): Promise<string> {
  const printed = keepPrinted();
  const code = await runCommandLine(commands, [...args, '--admin-socket', waf.socket]);
  vi.restoreAllMocks();
  expect([code, code === 0 ? '' : printed.err]).toEqual([0, '']);
  return printed.out;
}

/** The same, of words parted by blanks. */
const line = (text: string, ...more: string[]): Promise<string> => run(...text.split(' '), ...more);

async function create(text: string): Promise<string> {
  const found = JSON.parse(await line(text, '--output', 'json')) as Record<string, object>;
  return (found as { id?: string }).id ?? (Object.values(found)[0] as { id: string }).id;
}

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const file = path.join(folder, 'hook.yaml');
  writeFileSync(file, 'url: https://hook.example/x\n');
  made['own'] = await create('policy create --name own');
  made['farm'] = await create('upstream create --name farm --endpoint http://127.0.0.1:9000');
  const site = 'site create --name shop --host shop.test --upstream http://127.0.0.1:9000';
  made['shop'] = await create(`${site} --policy own`);
  await line('ip-list create --name office --entry 192.0.2.0/24');
  await line(`alert channel-set --name ops --kind webhook --file ${file}`);
  const { items } = JSON.parse(await line('alert channels --output json')) as {
    items: { id: string }[];
  };
  made['ops'] = items[0]!.id;
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await waf.control.close();
});

test.each([
  ['site update shop --alias www.shop.test', 'own'],
  ['site list', 'own'],
  ['site disable shop', 'own'],
  ['site routing-set shop --route /a=farm', 'farm'],
  ['site routing shop', 'farm'],
  ['site override shop --threshold 9', 'shop'],
  ['rule override own 942999 disable --site shop', 'shop'],
  ['rule overrides own', 'shop'],
  ['rate-limit set --site shop --path /login --requests 5 --window 60 --action block', 'shop'],
  ['rate-limit list', 'shop'],
  ['ip-list bind office --kind deny --policy own', 'own'],
  ['ip-list bind office --kind deny --site shop', 'shop'],
  ['ip-list bindings', 'own'],
  ['ip-list bindings', 'shop'],
  ['ip-list bindings --policy own', 'own'],
  ['ip-list bindings --site shop', 'shop'],
  ['country set --name embargo --kind deny --country KP --site shop --policy own', 'own shop'],
  ['country list', 'own shop'],
  ['alert rule-set --name down --severity info --kind origin_down --channel ops', 'ops'],
  ['alert rules', 'ops'],
  ['learning reset shop', 'shop'],
])('waf %s shows %s', async (command, names) => {
  const table = await line(command);
  expect(table).toContain(names);
  // Its first column may be the id of what it lists.
  const cells = table.split('\n').map((row) => row.replace(/^\S+/, ''));
  for (const name of names.split(' ')) expect(cells.join('\n')).not.toContain(made[name]);
});

test('ids stay for programs', async () => {
  expect(await line('rule overrides own --output json')).toContain(made['shop']);
});
