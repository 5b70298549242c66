/**
 * The family of shell commands: reads what follows each separator as a shell would, without quotes,
 * escapes and empty expansions, and looks the command up. Source: POSIX.1-2017, XCU chapter 2.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { SEEN } from '../bytes-seen.ts';
import type { Family, Leaf, Report } from '../detector.ts';
import { textKinds } from '../patterns.ts';
import { verbsAfter } from '../verbs-after.table.ts';
import {
  ambiguousCommands,
  clearArgument,
  clearCommands,
  commandPrefixes,
  filterCommands,
  idleAlone,
  sentenceWords,
  shortWindowsCommands,
} from './commands.table.ts';
import { SHELL, shellDetectors } from './facts.table.ts';
import { isProbe } from './fields.ts';
import { partsItems } from './product-comments.ts';
import {
  endsOwnPipe,
  followsCommand,
  isBacktickInCode,
  isHarmless,
  isNextStep,
  isOwnFact,
  isSubject,
} from './own-lines.ts';

/** The family of shell commands. */
export const shell: Family = {
  name: 'shell',
  needs: [
    SEEN.semicolon,
    SEEN.pipe,
    SEEN.ampersand,
    SEEN.backtick,
    SEEN.lineEnd,
    SEEN.dollar | SEEN.paren,
    SEEN.less | SEEN.paren,
  ],
  literals: [],
  kinds: textKinds,
  detectors: shellDetectors,
  find: (leaf, _searches, report) => {
    const { text } = leaf;
    ownLines = 0;
    for (let at = 0; at < text.length; at++) {
      const separator = separatorAt(text, at);
      if (separator === 0 || beginBytes[text.charCodeAt(at + 1)] !== 1) continue;
      judge(leaf, at, separator, report);
    }
  },
};

const LIST = 1;
const SUBSTITUTION = 2;
const BACKTICK = 3;
const LINE = 4;

function separatorAt(text: ByteString, at: number): number {
  switch (text.charCodeAt(at)) {
    case 0x3b:
    case 0x7c:
    case 0x26:
      return LIST;
    case 0x0a:
    case 0x0d:
      return LINE;
    case 0x60:
      return BACKTICK;
    case 0x28: {
      const before = text.charCodeAt(at - 1);
      return before === 0x24 || before === 0x3c || before === 0x3e ? SUBSTITUTION : 0;
    }
    default:
      return 0;
  }
}

/** The command that was read last. */
let word = '';
let wordEnd = 0;
let hidden = false;
let fullPath = false;
/** What it reads or writes stands before it: `2>&1 id`. */
let redirected = false;
/** It is written as a name is: `Java`. */
let capital = false;
/** It has capitals, which no command of POSIX has. */
let capitals = false;
/** Another command runs it: `eval id`. */
let prefixed = false;

/** Assignments, expansions of nothing and redirections stand before commands. */
const beforeCommand =
  /(?:[A-Za-z_]\w{0,32}=[^\s;|&]{0,64}|\$[A-Za-z_]\w{0,16}|\d?[<>]{1,2}&?\s?[\w/.]{1,32})\s{1,8}/;
const skipped = new RegExp(`[\\s({!@]{0,16}(?:${beforeCommand.source}){0,1}`, 'y');
const pathPattern = /(?:\/[\w.-]{1,16}){0,5}\/(?=[\w'"\\])|[a-z]:\\(?:[\w.-]{1,24}\\){0,6}/iy;
const wordMax = 40;

/** 1 for letters, digits, `_`, `.` and `-`. */
const wordBytes = new Uint8Array(256);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-') {
  wordBytes[char.charCodeAt(0)] = 1;
}

/** 1 also for what stands before a command. */
const beginBytes = wordBytes.slice();
for (const char of '\t\n\v\f\r \xa0({!@<>$/"\'\\^`') beginBytes[char.charCodeAt(0)] = 1;

/** Reads the command at `from`, without quotes, escapes and expansions that give nothing. */
function readCommand(text: ByteString, from: number): void {
  // Most are words without marks.
  let start = from;
  let at = wordEndAt(text, from);
  redirected = false;
  if (at === from || mayStandBefore(text.charCodeAt(at))) {
    skipped.lastIndex = from;
    const begins = skipped.test(text) ? skipped.lastIndex : from;
    redirected = begins > from && /[<>]/.test(text.slice(from, begins));
    start = pathEnd(text, begins);
    fullPath = start > begins;
    at = wordEndAt(text, start);
  } else fullPath = false;
  word = text.slice(start, at);
  hidden = false;
  if (word.length < wordMax && mayMark(text.charCodeAt(at))) at = readMarked(text, start, at);
  const quote = text.charAt(start);
  if ((quote === '"' || quote === "'") && text.charAt(at) === quote) at++;
  wordEnd = at;
  const lower = word.toLowerCase();
  capitals = lower !== word;
  capital = capitals && /^[A-Z][a-z]/.test(word);
  word = lower;
}

function wordEndAt(text: ByteString, from: number): number {
  let at = from;
  while (at - from < wordMax && wordBytes[text.charCodeAt(at)] === 1) at++;
  return at;
}

/** Whether a byte ends what stands before a command: `A=`, `2>`, `c:`. */
function mayStandBefore(code: number): boolean {
  return code === 0x3d || code === 0x3c || code === 0x3e || code === 0x3a;
}

/** The end of the path of a command at `at`; `at` where there is none. */
function pathEnd(text: ByteString, at: number): number {
  if (text.charCodeAt(at) !== 0x2f && text.charCodeAt(at + 1) !== 0x3a) return at;
  pathPattern.lastIndex = at;
  return pathPattern.test(text) ? pathPattern.lastIndex : at;
}

/** Whether a byte may be a mark in a word: a quote, an escape, `^`, `$` or a backtick. */
function mayMark(code: number): boolean {
  switch (code) {
    case 0x22:
    case 0x24:
    case 0x27:
    case 0x5c:
    case 0x5e:
    case 0x60:
      return true;
    default:
      return false;
  }
}

/** Marks in a word that are read: two for each letter of a long name. */
const marksMax = 24;

/** Reads on where the first mark stands; the end of the word. */
function readMarked(text: ByteString, start: number, from: number): number {
  let at = from;
  let marks = 0;
  // A quote before the word and one after it hide nothing.
  let begun = word !== '';
  for (; at < text.length && word.length < wordMax && marks < marksMax; at++) {
    const code = text.charCodeAt(at);
    if (wordBytes[code] === 1) {
      word += text.charAt(at);
      if (marks > 0 && word.length > 1 && begun) hidden = true;
      begun = true;
      continue;
    }
    if (!mayMark(code)) break;
    const empty = word === '' ? 0 : emptyExpansionAt(text, at, code);
    if (empty > 0) {
      at += empty - 1;
      marks++;
    } else if (code !== 0x24 && code !== 0x60 && /["'\\^\w]/.test(text.charAt(at + 1))) {
      if (begun) marks++;
    } else break;
  }
  if (word === '' || text.slice(start, at).startsWith(word)) hidden = false;
  return at;
}

const emptyExpansion = /\$(?:[@*!]|\{\w{0,16}\}|\(\))(?=[\w$`"'\\])/y;

/** Bytes of an expansion that gives nothing, inside a word; it begins with `code`. */
function emptyExpansionAt(text: ByteString, at: number, code: number): number {
  if (code === 0x60) {
    return text.charCodeAt(at + 1) === 0x60 && /\w/.test(text.charAt(at + 2)) ? 2 : 0;
  }
  if (code !== 0x24) return 0;
  emptyExpansion.lastIndex = at;
  return emptyExpansion.exec(text)?.[0].length ?? 0;
}

/** Harmless commands of a leaf that were looked at: their number bounds what that costs. */
let ownLines = 0;
const ownLinesMax = 40;

/** Letters of short names. */
const shortMax = 3;

function judge(leaf: Leaf, at: number, separator: number, report: Report): void {
  const { text } = leaf;
  readCommand(text, at + 1);
  let clear = clearCommands.has(word);
  prefixed = false;
  if (commandPrefixes.has(word) && /\s/.test(text.charAt(wordEnd))) {
    prefixed = readPrefixed(text);
    clear ||= prefixed;
  }
  if (!clear && !ambiguousCommands.has(word)) return;
  if (leaf.parent === null && partsItems(leaf.label, text, at)) return report.leaveOut();
  const after = text.charAt(wordEnd);
  if (after !== '' && !/[\s;|&<>)`"'${,}#]/.test(after)) return;
  // The prompt of a program: `mysql> select 1`.
  if (after === '>' && idleAlone.has(word)) return;
  // One letter beside other marks is no command: `w` in a password.
  if (word.length === 1 && /["'{,}#]/.test(after)) return;
  // Short ones with capitals are chance; shells that pass over case have commands of their own.
  if (capitals && word.length <= shortMax && !shortWindowsCommands.has(word)) return;
  const argument = argumentAt(text, wordEnd);
  if (hidden && word.length > 1 && argument !== NOT_ONE) {
    report.add(SHELL.hidden, at, wordEnd);
    report.add(SHELL.separated, at, wordEnd);
    return;
  }
  const probes = separator === LIST && isProbe(text, at);
  if (!fullPath && !probes && ownLines < ownLinesMax) {
    const isFact = separator === SUBSTITUTION && isOwnFact(text, at + 1);
    const harmless = isFact || isHarmless(text, at + 1);
    if (harmless) ownLines++;
    if (harmless && isWrittenAbout(text, at, separator)) return;
    if (separator === LIST && isOwnLine(text, at, harmless)) return;
  }
  if (separator === BACKTICK) {
    const known = clear || word === 'id' || argument === CLEAR;
    const writes = outputElsewhere.test(text.slice(wordEnd, wordEnd + 8));
    const proved = known && argument !== NOT_ONE && (writes || isBacktickInCode(text, at));
    report.add(proved ? SHELL.substituted : SHELL.weak, at, wordEnd);
    return;
  }
  if (separator === SUBSTITUTION) {
    if (word === 'id' && text.charAt(wordEnd + 1) === '.') return;
    const whole = /^[\w.:@/-]{0,40}$/.test(text.slice(0, Math.min(at - 1, 41)));
    if (word === 'id' && whole && /^\s{0,4}\)$/.test(text.slice(wordEnd))) clear = true;
    const proved = clear || argument === CLEAR || fullPath;
    report.add(proved ? SHELL.substituted : SHELL.weak, at - 1, wordEnd);
    return;
  }
  // The subject of a sentence: `bash says`.
  if (separator === LINE && !fullPath && speaks(text)) return;
  // Words of a sentence: `; at the top`.
  if (!clear && !hidden && argument === WORD && sentenceWords.has(word)) return;
  // One letter after a separator is chance in long texts and in data.
  const strong = word.length > 1 && (probes || isCommand(leaf, at, separator, clear, argument));
  report.add(strong ? SHELL.separated : SHELL.weak, at, wordEnd);
}

/** Whether a command is a part of a line, or of a sentence, that is whole in the text. */
function isOwnLine(text: ByteString, at: number, harmless: boolean): boolean {
  const start = wordEnd - word.length;
  if (harmless && isSubject(text, at, start, wordEnd)) return true;
  return isNextStep(text, at, word, wordEnd) || endsOwnPipe(text, at);
}

const saying = new RegExp(String.raw`\s(?:${verbsAfter.interpreter})\s`, 'y');

/** Whether a program that runs scripts is what a sentence is about. */
function speaks(text: ByteString): boolean {
  saying.lastIndex = wordEnd;
  return !hidden && (idleAlone.has(word) || shells.has(word)) && saying.test(text);
}

const shells: ReadonlySet<string> = new Set(['bash', 'sh', 'zsh', 'fish', 'dash', 'ksh']);

/** A redirection out of the folder. */
const outputElsewhere = /^\s{0,2}>{1,2}\s{0,2}(?:\.\.)?\//;

/** Whether a command stands in a command line of a text, or between backticks in a sentence. */
function isWrittenAbout(text: ByteString, at: number, separator: number): boolean {
  if (separator === BACKTICK) return !isBacktickInCode(text, at);
  if (separator !== SUBSTITUTION) return followsCommand(text, at);
  // What only prints is put in to see whether it runs.
  if (printers.has(word)) return false;
  // Code in Markdown: `$(pwd)` in backticks.
  if (text[at - 2] === '`') return /^[^`)\n]{0,80}\)`/.test(text.slice(wordEnd, wordEnd + 84));
  return followsCommand(text, at - 1) || assigned.test(text.slice(Math.max(0, at - 50), at - 1));
}

/** `size=$(stat -c %s a)`: what it prints is kept. */
const assigned = /(?:^|\n)[ \t]{0,16}[A-Za-z_]\w{0,32}=$/;

const printers: ReadonlySet<string> = new Set(['echo', 'printf']);

const prefixFlags = /(?:\s{1,4}-\w{1,8}){0,2}(?:\s{1,4}\d{1,6}[smhd]?){0,1}/y;

/** Reads the command after one that runs others; false, and as before, where none is. */
function readPrefixed(text: ByteString): boolean {
  const before = { word, wordEnd, hidden, fullPath, capital, capitals };
  prefixFlags.lastIndex = wordEnd;
  readCommand(text, wordEnd + (prefixFlags.exec(text)?.[0].length ?? 0));
  if (clearCommands.has(word) || word === 'id' || word === 'cat') return true;
  if (word === 'sleep') return false;
  ({ word, wordEnd, hidden, fullPath, capital, capitals } = before);
  return false;
}

const NOT_ONE = 0;
const END = 1;
const WORD = 2;
const CLEAR = 3;

const wordArgument = /[\s]{1,8}[\w]/y;
const secondsArgument = /\s{1,8}\d{1,5}[smh]?\s{0,4}(?:$|[;|&`"'#)])/y;
const endArgument = /[\s]{0,8}(?:$|[;|&)`#"'])/y;

/** What follows a command. */
function argumentAt(text: ByteString, at: number): number {
  clearArgument.lastIndex = at;
  if (clearArgument.test(text)) return CLEAR;
  secondsArgument.lastIndex = at;
  if (word === 'sleep' && secondsArgument.test(text)) return CLEAR;
  endArgument.lastIndex = at;
  if (endArgument.test(text)) return END;
  wordArgument.lastIndex = at;
  return wordArgument.test(text) ? WORD : NOT_ONE;
}

function isCommand(
  leaf: Leaf,
  at: number,
  separator: number,
  clear: boolean,
  argument: number,
): boolean {
  const { text } = leaf;
  const known = clear || word === 'id';
  if (idleAlone.has(word) && separator === LIST && namesScript(text)) return false;
  if (filterCommands.has(word) && onlyFilters(text, at)) return false;
  if (printsOnly(text, at)) return false;
  if (argument === CLEAR) return separator !== LINE || (known && isShort(leaf, at));
  if (fullPath || (redirected && known)) return true;
  if (argument === END) {
    if (separator === LINE) {
      const cut = /["'][\s)]{0,4}$/.test(text.slice(Math.max(0, at - 6), at));
      const ends = /^\s{0,4}[;|&#]/.test(text.slice(wordEnd, wordEnd + 5));
      return (clear || (known && cut && ends)) && isShort(leaf, at) && text.length < 64;
    }
    const before = /[^\s]?(?=[\s|&;]{0,4}$)/.exec(leaf.text.slice(Math.max(0, at - 6), at))?.[0];
    // Lists have a blank after their semicolons or none; only one before them parts no list.
    const parted =
      /[;|]/.test(text.charAt(at)) && text[at - 1] === ' ' && (clear || text[at + 1] !== ' ');
    const listed =
      (!parted && /[a-z_]/i.test(before ?? '')) || / [|]/.test(text.slice(wordEnd, wordEnd + 3));
    // A list has one sort of separators: `a;id|` is none.
    const other = text.charAt(wordEnd);
    const differ = other !== text.charAt(at) && /[;|&]/.test(other);
    if (capital && shells.has(word)) return false;
    if (differ && (clear || word === 'id')) return true;
    if (idleAlone.has(word) && (listed || capital) && !hidden) return false;
    // Names of programs stand in lists of them: `C & Java | Python`.
    if (clear) return ((prefixed || word.length > 3) && !capital) || !listed;
    return !listed && word === 'id';
  }
  if (word === 'id' && /[)'"]/.test(text.charAt(at - 1)) && at < 16 && wordEnd === at + 3)
    return true;
  if (argument === WORD && readsSystem.test(lineAfter(text))) return true;
  return argument === WORD && clear && isShort(leaf, at);
}

/** A redirection from or into a folder of the operating system. */
const readsSystem = /[<>]\s{0,4}\/(?:etc|proc|dev|root|var|tmp|home)\//;

/** The rest of a command, up to the next separator. */
function lineAfter(text: ByteString): ByteString {
  filterArguments.lastIndex = wordEnd;
  return filterArguments.exec(text)?.[0] ?? '';
}

const ownScript = /\s{1,4}[\w-]{1,64}\.(?:py|js|mjs|ts|java|rb|php|jar|go)\s{0,4}$/y;

/** Whether a program runs a script beside it and nothing else: `&& python main.py`. */
function namesScript(text: ByteString): boolean {
  ownScript.lastIndex = wordEnd;
  return !hidden && !fullPath && ownScript.test(text);
}

const ownFacts = new RegExp(
  String.raw`\s{1,4}(?:(?:-{1,2}version|--help)(?=\s{0,4}(?:$|[\x60"']))|` +
    String.raw`(?:-v|-V|-{1,2}version|--ini)(?=\s(?:${verbsAfter.versionFlag})\s))`,
  'y',
);
const columns =
  /\s{1,4}'\{ {0,2}print {1,2}\$\d{1,2}(?:, {0,2}\$\d{1,2}){0,8} {0,2}\}'\s{0,4}(?:$|\|)/y;

/** Whether a program says what it is, or prints columns of what a pipe gives it. */
function printsOnly(text: ByteString, at: number): boolean {
  if (fullPath || hidden) return false;
  const pattern = word === 'awk' && text[at] === '|' ? columns : ownFacts;
  pattern.lastIndex = wordEnd;
  return pattern.test(text);
}

const filterArguments = /[^|;&]{0,200}/y;

/** What a note says that a command printed; no name of a program that a server runs follows. */
const told = /\s(?:=|=>|->)\s(?![^\n]{0,200}\.(?:php\d?|phtml|jspx?|aspx?|cgi|sh)\b)[^\n]{0,200}$/;

/** Whether a single pipe leads to a command that names no file and starts nothing. */
function onlyFilters(text: ByteString, at: number): boolean {
  if (text[at] !== '|' || text[at - 1] === '|' || text[at + 1] === '|') return false;
  const rest = lineAfter(text).replace(told, '');
  return !fullPath && !hidden && !/[/~$\\<>*?{(]/.test(rest) && /^(?:$|\s)/.test(rest);
}

/** Little stands before the separator, and it is no prose. */
function isShort(leaf: Leaf, at: number): boolean {
  return at < 64 && !/[a-z]{2,} [a-z]{2,}/i.test(leaf.text.slice(0, at));
}
