/**
 * Mutants of shell injections by grammar, and `sh` as the judge of whether one acts: what only a
 * command that ran can print is in the output. The commands are `id` and `echo`. Deterministic.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dice } from '../../worst/search.ts';
import type { Mutant } from './sql.ts';

const contexts = [
  { query: 'echo ping ?', close: '' },
  { query: "echo ping '?'", close: "'" },
  { query: 'echo ping "?"', close: '"' },
  { query: 'echo $(echo ?)', close: '' },
] as const;
const separators = [';', ' ; ', '|', ' | ', '||', '&&', '&', '\n', '|\n', ';\n', '\n\n'] as const;
const blanks = [' ', '  ', '\t', '${IFS}', '$IFS', '$IFS$9', '\\\n '] as const;
const prefixes = [
  ...['', '', '', '', 'command ', 'exec ', 'env ', 'nohup ', 'eval ', 'nice ', 'time -p ', '! '],
  ...['x=1 ', '>/dev/stdout ', '2>&1 ', '( ', '{ '],
] as const;
const endings = [
  '',
  '',
  '',
  ' #',
  ';',
  '&',
  '\n',
  ' 2>&1',
  ';#',
  '|cat',
  '||x',
  ' -u',
  '>&1',
] as const;

function pick<T>(list: readonly T[], dice: Dice): T {
  return list[dice(list.length)]!;
}

/** One mutant. */
export function mutateShell(dice: Dice): Mutant {
  const { query, close } = pick(contexts, dice);
  const base = pick(['', '1', '8.8.8.8', 'x.example'], dice);
  const command = commandOf(dice);
  if (close !== "'" && dice(4) === 0) {
    const value = dice(2) === 0 ? `$(${command})` : `\`${command}\``;
    return { value: `${base}${value}`, context: query };
  }
  const prefix = pick(prefixes, dice);
  const after = prefix === '( ' ? ' )' : prefix === '{ ' ? '; }' : '';
  const separator = pick(separators, dice);
  const rest = close === '' ? pick(endings, dice) : restOf(close, dice);
  return { value: `${base}${close}${separator}${prefix}${command}${after}${rest}`, context: query };
}

/** Makes the rest of a quoted context whole. */
function restOf(close: string, dice: Dice): string {
  return pick(
    [`;${close}`, `;echo ${close}`, `|${close}cat${close} ${close}`, ' #', `&&echo ${close}`],
    dice,
  );
}

/** `id`, by name or path, hidden or not; or `echo` of what only a shell computes. */
function commandOf(dice: Dice): string {
  const blank = pick(blanks, dice);
  switch (dice(9)) {
    case 0:
      return hide('id', dice);
    case 1:
      return pick(
        ['/usr/bin/id', '/bin/id', '/usr/bin/i?', '/???/bin/id', '/usr/b*/id', '/bin/i[d]'],
        dice,
      );
    case 2:
      return `${hide('echo', dice)}${blank}uid=$((6*7))`;
    case 3:
      return pick(['a=id;$a', 'a=i;b=d;$a$b', 'a=i&&${a}d', 'set id;$1', 'alias x=id;id'], dice);
    case 4:
      return pick(['echo id|sh', 'printf id|sh', 'echo aWQ=|base64 -d|sh', 'echo di|rev|sh'], dice);
    case 5:
      return pick(
        ['sh -c id', "sh -c 'id'", 'eval id', "eval 'i''d'", 'sh<<x\nid\nx', 'xargs id</dev/null'],
        dice,
      );
    case 6:
      return pick(
        [
          'if id;then :;fi',
          'while id;do break;done',
          'for i in id;do $i;done',
          'case x in x)id;;esac',
        ],
        dice,
      );
    case 7:
      return `id${blank}-u;echo${blank}uid=$((6*7))`;
    default:
      return `${hide('id', dice)}${pick(['', ' -a', '>&1', ' 2>&1', ' '], dice)}`;
  }
}

/** A word with what a shell takes out of it. */
function hide(word: string, dice: Dice): string {
  const at = 1 + dice(word.length - 1);
  const first = word.slice(0, at);
  const last = word.slice(at);
  const inside = pick(['', '', '', "''", '""', '\\', '$@', '${x}', '$()', '``', '\\\n'], dice);
  if (dice(6) > 0) return `${first}${inside}${last}`;
  return pick([`'${word}'`, `"${word}"`, `'${first}'${last}`, `${first}"${last}"`], dice);
}

/** Whether `sh`, in an empty folder, runs a command of the value. Cost: one process. */
export function actsInShell({ value, context }: Mutant): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'waf-fuzz-'));
  try {
    const { stdout, stderr, error } = spawnSync('sh', ['-c', context.replace('?', () => value)], {
      ...{ cwd: folder, encoding: 'latin1', timeout: 5000, input: '' },
      env: { PATH: '/usr/bin:/bin' },
    });
    if (error !== undefined) throw error;
    const ran = /uid=(?:\d+\(|42)/;
    return ran.test(stdout) || ran.test(stderr);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
