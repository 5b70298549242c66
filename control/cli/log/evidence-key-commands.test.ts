/** Keys of evidence by command: listed without their bytes, rotated once for a known key. */

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
const run = (line: string): Promise<string> => commandLine.said(line);

test('a rotated key is in use at once, and the one before is kept for a year', async () => {
  const [, first = ''] = /^([0-9a-f]{8}) +\S+ +in use$/m.exec(await run('log evidence-keys')) ?? [];
  const rotated = await run(`log evidence-key-rotate --current ${first}`);
  expect(rotated).toMatch(/^0 KEY/);
  const listed = await run('log evidence-keys');
  expect(listed).toMatch(new RegExp(`^${first} +\\S+ +\\d{4}-`, 'm'));
  expect(listed.match(/in use/g)).toHaveLength(1);
  const again = await run(`log evidence-key-rotate --current ${first}`);
  expect(again).toMatch(/^1 .*another key is in use/s);
});
