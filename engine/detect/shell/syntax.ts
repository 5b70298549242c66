/**
 * Tells which commands of a text a shell reaches, wherever a line of it is put into a command line.
 * A shell parses a line before it runs any command in it; notes often are lines that it cannot
 * parse: `passwd -e a; key in b (chmod 600)`. What is in doubt is reached. Pure.
 * Source: POSIX.1-2017, XCU sections 2.2, 2.3 and 2.10.
 */

import type { ByteString } from '../../../base/byte-string.ts';

/** Longer texts are not parsed: all of their commands are reached. */
const bytesMax = 4096;
/** The quotes that a text may be put into; none first. */
const quotesBefore = [0, 0x22, 0x27] as const;
/** By offset a bit for each of them with which the byte stands in a line that runs. */
const reached = new Uint8Array(bytesMax);
/** What is not parsed: here-documents, `case`, arithmetic, conditions of Bash, `$'x'`. */
const unread = /<<|;;|\(\(|\[\[|\$'|\bcase\s/;
let parsed: ByteString | null = null;

/** Whether a shell runs the line at an offset, outside of quotes. Cost: linear, once a text. */
export function isReached(text: ByteString, at: number): boolean {
  if (text.length > bytesMax) return true;
  if (parsed !== text) {
    parsed = text;
    const all = unread.test(text);
    reached.fill(all ? 1 : 0, 0, text.length);
    for (const [state, quote] of quotesBefore.entries()) if (!all) parse(text, quote, 1 << state);
  }
  return reached[at] !== 0;
}

/** What a byte follows: the start of the text or of a line, a word, or a sign. In this order. */
const START = 0;
const LINE = 1;
const WORD = 2;
/** `|`, `&&`, `||`, after which a line continues. */
const CONNECTIVE = 3;
const END_OF_COMMAND = 4;
const OPEN = 5;
const REDIRECTION = 6;

/** Brackets of the command line around the text that it may close. */
const outerMax = 1;

const line = { before: START, start: 0, depth: 0, inBackticks: false };

/** Sets a bit for what runs, where the text begins in quotes of a sort. */
function parse(text: ByteString, quoteBefore: number, bit: number): void {
  Object.assign(line, { before: START, start: 0, depth: 0, inBackticks: false });
  let quote: number = quoteBefore;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quote !== 0) {
      if (code === quote) quote = 0;
      else if (quote === 0x22 && code === 0x5c) at++;
      // What a substitution in quotes holds is not parsed.
      else if (quote === 0x22 && isSubstitution(text, at)) return setBits(at, text.length, bit);
      continue;
    }
    reached[at]! |= bit;
    if (code === 0x22 || code === 0x27) {
      quote = code;
      line.before = WORD;
    } else if (code === 0x5c) {
      at++;
      line.before = WORD;
    } else if (code === 0x23 && /\s/.test(text.charAt(at - 1))) {
      const end = text.indexOf('\n', at);
      setBits(at, end < 0 ? text.length : end, bit);
      at = (end < 0 ? text.length : end) - 1;
    } else if (!continues(text, at, code) && !line.inBackticks) {
      const end = text.indexOf('\n', at);
      const next = end < 0 ? text.length : end + 1;
      for (let dead = line.start; dead < next; dead++) reached[dead]! &= ~bit;
      // Programs that read a text by lines run the others.
      Object.assign(line, { before: START, start: next, depth: 0, inBackticks: false });
      at = next - 1;
    }
  }
}

function setBits(from: number, to: number, bit: number): void {
  for (let at = from; at < to; at++) reached[at]! |= bit;
}

function isSubstitution(text: ByteString, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x60 || (code === 0x24 && text.charCodeAt(at + 1) === 0x28);
}

/** Takes a byte outside of quotes; false where no program has it. */
function continues(text: ByteString, at: number, code: number): boolean {
  const { before } = line;
  switch (code) {
    case 0x20:
    case 0x09:
    case 0x0d:
      return true;
    case 0x60:
      line.inBackticks = !line.inBackticks;
      line.before = line.inBackticks ? OPEN : WORD;
      return true;
    case 0x0a:
      return endLine(at);
    case 0x3b:
    case 0x26:
    case 0x7c:
      return separate(text, at, code);
    case 0x3c:
    case 0x3e:
      line.before = REDIRECTION;
      return true;
    case 0x28:
      line.depth++;
      line.before = OPEN;
      return before !== WORD || mayOpen(text, at);
    case 0x29:
      line.before = WORD;
      return --line.depth >= -outerMax;
    default:
      line.before = WORD;
      return true;
  }
}

function endLine(at: number): boolean {
  const { before, depth, inBackticks } = line;
  if (before === REDIRECTION) return false;
  if (before === CONNECTIVE || before === OPEN || inBackticks) return true;
  line.before = LINE;
  if (depth <= 0) line.start = at + 1;
  return true;
}

/** `;`, `&` and `|`, of which pairs are one sign, as are `>&`, `>|` and `&>`. */
function separate(text: ByteString, at: number, code: number): boolean {
  const { before } = line;
  const last = text.charCodeAt(at - 1);
  if (last === 0x3c || last === 0x3e) return true;
  if (code !== 0x3b && (last === code || (last === 0x7c && code === 0x26))) {
    line.before = CONNECTIVE;
    return before === CONNECTIVE || before === END_OF_COMMAND || before <= LINE;
  }
  line.before = code === 0x7c ? CONNECTIVE : END_OF_COMMAND;
  return before <= WORD;
}

const beforeOpen =
  /[$<>=!@?+*]$|(?:^|[\s;|&({])(?:if|then|else|elif|do|while|until|time|in|!|\{)\s{1,4}$/;

/** Whether a bracket after a word may begin a substitution, a list, a function or a subshell. */
function mayOpen(text: ByteString, at: number): boolean {
  if (/^\(\s{0,4}\)/.test(text.slice(at, at + 6))) return true;
  return beforeOpen.test(text.slice(Math.max(0, at - 12), at));
}
