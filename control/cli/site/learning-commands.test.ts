/** What sites learn, and their applications, by command: modes, lists, and names that are none. */

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { CommandLine } from '../../../test/support/command-line.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';

const commands = await loadCommands([]);
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(() => waf.control.close());
afterEach(() => vi.restoreAllMocks());

const commandLine = new CommandLine(commands, () => waf.socket);
const run = (line: string): Promise<string> => commandLine.said(`${line} --output json`);

const create = (name: string): string =>
  `site create --name ${name} --host ${name}.test --upstream http://127.0.0.1:1`;

test('a site is made with its applications, which can be changed', async () => {
  const made = await run(`${create('blog')} --application wordpress@/blog --application grafana`);
  expect(made).toMatch(/^0 /);
  expect(await run('site applications blog')).toContain('wordpress@/blog,grafana');
  expect(await run('site applications blog --names dokuwiki')).toContain('"dokuwiki"');
  expect(await run('site applications blog --none')).not.toContain('dokuwiki');
  expect(await run('site applications blog --names wordpres')).toMatch(
    /^1 .*must name applications/,
  );
  expect(await run('site applications blog --names ghost --none')).toMatch(/exclude each other/);
});

test('what a site learns is listed, exported and forgotten; its mode is shown', async () => {
  expect(await run(create('shop'))).toMatch(/^0 /);
  expect(await run('learning list shop')).toContain('"mode": "suggest"');
  expect(await run('learning mode shop --mode off')).toContain('"off"');
  expect(await run('learning list shop')).toContain('"mode": "off"');
  expect(await run('learning export shop')).toContain('waf.detection_learning.v1');
  expect(await run('learning reset shop')).toMatch(/^0 /);
  expect(await run('learning accept shop nothing')).toMatch(/^1 .*nothing/);
  expect(await run('learning accept shop nothing --days soon')).toMatch(
    /--days wants a whole number from 1 to 366/,
  );
  expect(await run('learning dismiss shop nothing')).toMatch(/^1 .*nothing/);
});
