/** Tests the completion scripts in the shells themselves, where they are installed. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadCommands } from './commands.ts';
import { shells, type Shell } from './completion-script.ts';
import { readTree, walkTree } from './command-tree.ts';
import { buildProgram } from './program.ts';

const commands = await loadCommands([]);

const tree = readTree(buildProgram(commands, () => undefined));
const folder = mkdtempSync(join(tmpdir(), 'waf-completion-'));
const scripts = Object.fromEntries(
  (Object.keys(shells) as Shell[]).map((shell) => {
    const file = join(folder, `waf.${shell}`);
    writeFileSync(file, shells[shell](tree));
    return [shell, file];
  }),
) as Record<Shell, string>;

const missing = (shell: Shell): boolean => spawnSync(shell, ['-c', 'true']).status !== 0;

/** What a shell offers for the last of `words`; every question in one process. */
function ask(shell: Shell, questions: readonly (readonly string[])[]): string[][] {
  const { status, stdout, stderr } = spawnSync(shell, ['-c', programs[shell](questions)], {
    encoding: 'utf8',
    cwd: folder,
    maxBuffer: 32 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(stderr);
  expect(stderr).toBe('');
  return stdout
    .split('--end--\n')
    .slice(0, -1)
    .map((text) => text.split('\n').filter((line) => line !== ''));
}

const quote = (text: string): string => `'${text}'`;
const programs: Record<Shell, (questions: readonly (readonly string[])[]) => string> = {
  bash: (questions) =>
    [
      `source ${scripts.bash}`,
      ...questions.map(
        (words) =>
          `COMP_WORDS=(${['waf', ...words].map(quote).join(' ')}); COMP_CWORD=${words.length}; ` +
          `_waf; printf '%s\\n' "\${COMPREPLY[@]}" --end--`,
      ),
    ].join('\n'),
  // The functions that only a completion widget has stand in as printers.
  zsh: (questions) =>
    [
      'compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { print -- @path; }',
      'compset() { :; }',
      '_describe() { local n=${@[-1]}; local i; for i in ${(P)n}; do print -- ${i%%:*}; done; }',
      `source ${scripts.zsh}`,
      ...questions.map(
        (words) =>
          `words=(${['waf', ...words].map(quote).join(' ')}); CURRENT=${words.length + 1}; ` +
          `PREFIX=${quote(words.at(-1) ?? '')}; _waf; print -- --end--`,
      ),
    ].join('\n'),
  fish: (questions) =>
    [
      `source ${scripts.fish}`,
      ...questions.map(
        (words) =>
          `complete -C ${quote(['waf', ...words].join(' '))} | string replace -r '\\t.*' ''; ` +
          'echo --end--',
      ),
    ].join('\n'),
};

const groups = [...walkTree(tree)];

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
  const gone = missing(shell);
  if (gone) console.log(`skipped: ${shell} is not installed`);

  test.skipIf(gone)('offers the commands of every group', () => {
    const parents = groups.filter(({ children }) => children.length > 0);
    expect(parents.length).toBeGreaterThan(4);
    const answers = ask(
      shell,
      parents.map(({ path }) => [...path, '']),
    );
    for (const [at, { children }] of parents.entries()) {
      const names = children.map(({ path }) => path.at(-1) ?? '');
      expect(answers[at]?.toSorted()).toEqual(names.toSorted());
    }
  });

  test.skipIf(gone)('offers every flag of every command', () => {
    const answers = ask(
      shell,
      groups.map(({ path }) => [...path, '--']),
    );
    for (const [at, { flags }] of groups.entries()) {
      const long = flags.flatMap(({ names }) => names.filter((name) => name.startsWith('--')));
      expect(answers[at]).toEqual(expect.arrayContaining(long));
    }
  });

  test.skipIf(gone)('offers the values of a flag, and looks past flags for the command', () => {
    const [inspection, past, nothing, shellNames] = ask(shell, [
      ['run', '--inspection', ''],
      ['--output', 'json', '--data', 'run', 'policy', ''],
      ['site', 'list', '--page', ''],
      ['completion', ''],
    ]);
    expect(inspection?.toSorted()).toEqual(['auto', 'inline', 'pool']);
    expect(past).toEqual(expect.arrayContaining(['list', 'preview']));
    expect(nothing).toEqual([]);
    expect(shellNames?.toSorted()).toEqual(['bash', 'fish', 'zsh']);
  });
});

describe('bash', () => {
  test('completes partial words, paths, and values after an equals sign', () => {
    writeFileSync(join(folder, 'a file'), '');
    const [command, none, path, equals, begun] = ask('bash', [
      ['ver'],
      ['nothing-like-it', 'x'],
      ['--config', 'a '],
      ['run', '--inspection', '=', 'po'],
      ['run', '--inspection', '='],
    ]);
    expect(command).toEqual(['version']);
    expect(none).toEqual([]);
    expect(path).toEqual(['a file']);
    expect(equals).toEqual(['pool']);
    expect(begun?.toSorted()).toEqual(['auto', 'inline', 'pool']);
  });
});
