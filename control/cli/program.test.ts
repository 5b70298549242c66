/** Tests the command line as a whole: every command has help, errors have exit codes. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { keepPrinted, type Printed } from '../../test/support/printed.ts';
import type { CommandDefinition } from './command.ts';
import { commandSources, loadCommands } from './commands.ts';
import { buildProgram, EXIT, runCommandLine } from './program.ts';

const commands = await loadCommands([]);

let printed: Printed;
beforeEach(() => {
  printed = keepPrinted();
});
afterEach(() => vi.restoreAllMocks());

describe('every command', () => {
  test.each(commands.map((one) => [one.path.join(' '), one] as const))(
    '%s explains itself',
    async (_name, definition) => {
      expect(definition.summary).toMatch(/^[A-Z][^.]*[^.]$/);
      expect(await runCommandLine(commands, [...definition.path, '--help'])).toBe(EXIT.done);
      expect(printed.out).toContain(definition.summary);
      // Prose that was wrapped by hand and then by width leaves short lines in the middle.
      expect(printed.out).not.toMatch(/[^\n]{70,}[a-z;,] ?\n[A-Za-z][^\n]{0,25}[a-z;,]\n\S/);
      for (const flag of definition.flags ?? [])
        expect(printed.out).toContain(flag.flags.split(' ')[0]);
    },
  );

  test('is listed once', () => {
    const names = commands.map((one) => one.path.join(' '));
    expect(new Set(names).size).toBe(names.length);
    expect(() => buildProgram([...commands, ...commands], () => undefined)).toThrow('two commands');
  });
});

describe('what a command line loads', () => {
  const names = async (...argv: string[]): Promise<string[]> =>
    (await loadCommands(argv)).map(({ path }) => path.join(' '));

  test.each([...commandSources])('all commands of a source begin with its word', async (source) => {
    const loaded = [await source.load()].flat();
    expect(loaded.length).toBeGreaterThan(0);
    for (const { path } of loaded) expect(path[0]).toBe(source.word);
  });

  test('only commands under its word, wherever that stands', async () => {
    expect(await names('version', '--server')).toEqual(['version']);
    expect(await names('--data', 'somewhere', 'version')).toEqual(['version']);
    expect(new Set((await names('site', 'list')).map((one) => one.split(' ')[0]))).toEqual(
      new Set(['site']),
    );
  });

  test('everything, where help, suggestions or completion need it', async () => {
    const lines = [['--help'], ['help'], ['versoin'], ['-h', 'version'], ['completion', 'bash']];
    for (const line of lines) expect(await names(...line)).toHaveLength(commands.length);
  });
});

describe('exit codes', () => {
  const answer = (run: CommandDefinition['run']): CommandDefinition => ({
    path: ['answer'],
    summary: 'Answer',
    help: '',
    arguments: [],
    flags: [{ flags: '--must <x>', summary: 'needed', required: true }],
    run,
  });

  test('the command decides', async () => {
    const failing = answer(() => Promise.resolve(EXIT.failed));
    expect(await runCommandLine([failing], ['answer', '--must', '1'])).toBe(EXIT.failed);
  });

  test('a missing flag is a wrong command line', async () => {
    const fine = answer(() => Promise.resolve(0));
    expect(await runCommandLine([fine], ['answer'])).toBe(EXIT.usage);
    expect(printed.err).toContain('--must');
  });

  test('an unknown command is a wrong command line', async () => {
    expect(await runCommandLine(commands, ['nonsense'])).toBe(EXIT.usage);
  });

  test('a socket without a service gives a sentence, not a stack', async () => {
    const line = ['site', 'list', '--admin-socket', '/nonexistent/admin.sock'];
    expect(await runCommandLine(commands, line)).toBe(EXIT.failed);
    expect(printed.err).toBe(
      'waf: nobody answers at /nonexistent/admin.sock: is waf run running?\n',
    );
  });

  test('a wrong setting names its flag', async () => {
    expect(await runCommandLine(commands, ['version', '--output', 'xml'])).toBe(EXIT.failed);
    expect(printed.err).toContain('--output wants one of: table, json, yaml');
  });
});

test('global flags are understood before and after the command', async () => {
  await runCommandLine(commands, ['--output', 'json', 'version']);
  const before = printed.out;
  printed = keepPrinted();
  await runCommandLine(commands, ['version', '--output', 'json']);
  expect(JSON.parse(before)).toEqual(JSON.parse(printed.out));
});
