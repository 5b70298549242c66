/** Tests what a person sees of a sign-in on a real terminal: the password is not shown. */

import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingBuild, root } from '../support/product.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';

const build = process.env['WAF_BUILD_DIR'] ?? join(root, '.build');
const skipped = missingBuild !== null;
if (skipped) console.log(missingBuild);

describe.skipIf(skipped)('on a terminal', () => {
  let waf: TestControl;
  beforeAll(async () => {
    waf = await startTestControl();
  });
  afterAll(() => waf.control.close());

  /** Types `steps` when asked; resolves to what the terminal showed. */
  function type(steps: [string, string][], ...line: string[]): Promise<[number, string]> {
    const program = join(import.meta.dirname, 'terminal.py');
    const entry = join(build, 'control', 'cli', 'main.js');
    const args = [program, JSON.stringify(steps), process.execPath, entry, ...line];
    const credentials = join(mkdtempSync(join(tmpdir(), 'waf-tty-')), 'credentials.json');
    const env = { ...process.env, WAF_CREDENTIALS: credentials };
    const child = spawn('python3', args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
    return new Promise((resolve) => child.on('close', (code) => resolve([code ?? 1, shown])));
  }

  test('a password is asked for and not shown, corrections included', async () => {
    const api = `http://127.0.0.1:${waf.control.managementPort}`;
    const [code, shown] = await type(
      [
        ['User name: ', 'admin\r'],
        ['Password: ', `x\u007f${waf.password}\r`],
      ],
      'auth',
      'login',
      '--api',
      api,
    );
    expect([code, shown]).toEqual([0, expect.stringContaining('TOKEN UNTIL')]);
    expect(shown).not.toContain(waf.password);
    expect(shown).not.toContain(waf.password.slice(0, 6));
  });

  test('the interrupt key stops the question and the command', async () => {
    const line = ['user', 'create', 'nora', '--admin-socket', waf.socket];
    const [code, shown] = await type([['Password of the user: ', 'abc\u0003']], ...line);
    expect(code).toBe(1);
    expect(shown).not.toContain('abc');
    const users = await waf.call('UserService/ListUsers', { query: 'nora' });
    expect(users.body['items']).toBeUndefined();
  });

  test.each([
    ['the interrupt key at the name', [['User name: ', 'ad\u0003']]],
    ['the end of input at the name', [['User name: ', '\u0004']]],
    [
      'the interrupt key at the password',
      [
        ['User name: ', 'admin\r'],
        ['Password: ', 'abc\u0003'],
      ],
    ],
  ] as [string, [string, string][]][])('%s ends a sign-in in a sentence', async (_key, steps) => {
    const api = `http://127.0.0.1:${waf.control.managementPort}`;
    const [code, shown] = await type(steps, 'auth', 'login', '--api', api);
    expect([code, shown]).toEqual([1, expect.stringContaining('stopped')]);
    expect(shown).not.toMatch(/\n\s+at |Error|abc/);
  });

  test('a new password is asked for twice', async () => {
    const line = ['user', 'create', 'nora', '--admin-socket', waf.socket];
    const [code, shown] = await type(
      [
        ['Password of the user: ', 'a long enough password\r'],
        ['Repeat it: ', 'another enough password\r'],
      ],
      ...line,
    );
    expect([code, shown]).toEqual([1, expect.stringContaining('differ')]);
  });
});
