/** Proves which flags a settings file sets, and that the command line goes before it. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadCommands } from './commands.ts';
import { applyFileFlags } from './file-flags.ts';
import { buildProgram } from './program.ts';
import { readSettingsFile } from './settings.ts';

/** Values of `waf run`'s flags and of the global settings. */
async function read(text: string, argv: readonly string[] = []) {
  const path = join(mkdtempSync(join(tmpdir(), 'waf-settings-')), 'waf.yaml');
  writeFileSync(path, text);
  const file = (await readSettingsFile({}, { WAF_CONFIG: path }))!;
  const commands = await loadCommands(['run']);
  const own = commands.find(({ path: words }) => words.join(' ') === 'run')?.flags ?? [];
  const program = buildProgram(commands, () => undefined);
  const run = program.commands.find((one) => one.name() === 'run')!;
  run.parseOptions([...argv]);
  applyFileFlags(run, 'run', own, file);
  return { flags: run.opts(), settings: file.settings };
}

test('a file sets global settings and flags of a service', async () => {
  const text = 'data: /srv/waf\nrun:\n  proxy: 0.0.0.0:80\n  workers: 3\n  demo: false\n';
  const { flags, settings } = await read(text);
  expect(settings).toEqual({ data: '/srv/waf' });
  expect(flags).toMatchObject({ proxy: '0.0.0.0:80', workers: '3', demo: false });
  expect(flags).toMatchObject({ https: '127.0.0.1:8443' });
});

test('the command line goes before the file', async () => {
  const { flags } = await read('run: {proxy: "0.0.0.0:80", demo: true}', [
    ...['--proxy', '127.0.0.1:1'],
    '--no-demo',
  ]);
  expect(flags).toMatchObject({ proxy: '127.0.0.1:1', demo: false });
});

test.each([
  ['run: {proxi: "0.0.0.0:80"}', /unknown key run\.proxi; known: proxy, /],
  ['run: {data: /srv/waf}', /unknown key run\.data; known: proxy, /],
  ['run: {token: x}', /unknown key run\.token; known: proxy, /],
  ['run: {listener: fast}', /run\.listener wants one of: strict, uws/],
  ['run: {demo: maybe}', /run\.demo wants true or false/],
  ['run: {proxy: [a]}', /run\.proxy wants a text/],
  ['run: [proxy]', /run is no mapping/],
  ['site: {list: true}', /unknown key site; known: .*, run, engine, agent run/],
  ['data: 3', /data wants a text/],
])('%s is refused with the key', async (text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});
