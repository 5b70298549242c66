/**
 * Tells commands that only a test for an injection adds to a short field from those that people
 * write about: they say who and where a command runs, or show by a pause that one runs. A field is
 * a value of one line with few words; longer texts are not judged here. Pure.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { clearCommands } from './commands.table.ts';
import { followsCommand } from './own-lines.ts';

const fieldBytesMax = 96;
const fieldBlanksMax = 8;

const end = String.raw`\s{0,4}(?:$|[;|&#)"'\x60])`;
const flags = String.raw`(?:\s{1,4}-{1,2}[\w=-]{1,16}){0,3}`;
/** A pause, a file by its whole path, a name that is no word of a list of programs. */
const probe = new RegExp(
  [
    // In the middle it is a step of a loop.
    String.raw`sleep\s{1,4}\d{1,5}(?:\.\d{1,3})?[smh]?\s{0,4}[;|&]{0,2}\s{0,4}(?:$|[#)"'\x60])`,
    String.raw`cat${flags}\s{1,4}\/[\w.*?]`,
    String.raw`(?:id|env|printenv)${end}`,
  ].join('|'),
  'iy',
);
/** What shows the folder that a command runs in, of those that no work is done in. */
const shows = new RegExp(String.raw`(?:ls|pwd)${end}`, 'iy');
const systemFolder = /(?:^|\s)\/(?:tmp|etc|bin|root|dev|proc)(?=[\s/;|&]|$)/;
/** Commands that a field which is nothing but a separator and one of them can only run. */
const whole = new RegExp(
  String.raw`^\s{0,8}[;|]{1,2}\s{0,8}(?:hostname|history|mount|w|who|last|jobs|ver|users|groups|` +
    String.raw`export|set|reboot|halt|shutdown|xterm|xcalc)\s{0,8};{0,1}\s{0,8}$`,
  'i',
);
const blanks = /[\s({!]{0,8}/y;
const separators = /[\s;|&]{0,8}$/;

/** Whether the command that begins after a separator is such a test of a field. */
export function isProbe(text: ByteString, separator: number): boolean {
  if (!isField(text)) return false;
  if (whole.test(text)) return true;
  blanks.lastIndex = separator + 1;
  blanks.test(text);
  const from = blanks.lastIndex;
  probe.lastIndex = from;
  if (probe.test(text)) return isAlone(text, separator, from);
  shows.lastIndex = from;
  return shows.test(text) && systemFolder.test(text.slice(0, separator));
}

/** Lists of fields have an `id` and an `env`, and no command before them. */
function isAlone(text: ByteString, separator: number, from: number): boolean {
  const begin = text.slice(from, from + 3).toLowerCase();
  const before = text.slice(0, separator).replace(separators, '');
  if (begin.startsWith('id')) {
    const first = /^\s{0,8}([\w.-]{1,40})(?=\s|$)/.exec(before)?.[1] ?? '';
    return clearCommands.has(first) || followsCommand(text, separator);
  }
  return begin !== 'env' || (!/[;|&]/.test(before) && !/[;|&]/.test(text.slice(from)));
}

function isField(text: ByteString): boolean {
  if (text.length > fieldBytesMax || /[\n\r]\s{0,95}\S/.test(text)) return false;
  return (text.match(/\s{1,96}/g)?.length ?? 0) <= fieldBlanksMax;
}
