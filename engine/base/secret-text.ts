/**
 * Hides secrets in texts that hold them as clients wrote them: pairs of a form, a query or a
 * cookie, members of JSON, elements of XML, fields of multipart, header lines, card numbers. Knows
 * secrets by their names alone; a value that stands under no name is not found.
 */

import { ruleRunLimits } from '../../base/rule-limits.ts';
import { isSecretName } from './secret-names.ts';

/** Stands for a secret; it does not tell how long that is. */
export const hiddenText = '********';

/** A text without one of these holds no name of a secret. */
const hint = /pass|pwd|psw|secret|token|key|auth|cred|card|cc_?n|cv[vc]|pan|pin|otp|%[0-9a-f]{2}/i;
const digits = /[3-6](?:[ -]?\d){12}/;

/** The text with the values of secrets, and card numbers, hidden. Cost: a search where none is. */
export function hideSecrets(text: string): string {
  const named = hint.test(text) ? hideFields(text) : text;
  return digits.test(named) ? hideCards(named) : named;
}

/** Whether a name as it was sent, escapes and all, stands for a secret. */
function names(sent: string): boolean {
  return isSecretName(sent.includes('%') ? decode(sent) : sent);
}

/** Percent-decoding over bytes; what is no escape stays. */
function decode(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => {
    return String.fromCharCode(Number.parseInt(hex, 16));
  });
}

/** Where the value begins whose head ends at `from`; -1 where there is none. */
type FindBeginning = (text: string, from: number) => number;

/**
 * Clients write these texts, so that each pattern has to be linear: what may repeat before a part
 * that has to come never holds that part, and a run of backslashes is entered at its start alone.
 */
interface Field {
  /** What stands before a value, with its name as the group. */
  readonly head: RegExp;
  /** The value, from where the head ends, or from where `begins` says. */
  readonly value: RegExp;
  /** For each text anew. */
  readonly begins?: () => FindBeginning;
}

/** What follows a quoted name, and its value: quoted, cut off, or without quotes. */
const colon = /(?:\s|\+|%20){0,8}(?::|%3a|=>)(?:\s|\+|%20){0,8}/.source;
const quotedValue =
  /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|%22.*?(?:%22|$)|\\+".*?(?:(?<!\\)\\+"|$)|[^\s,}\]&"']+/isy;

const fields: readonly Field[] = [
  // "name": "value", also with escaped quotes.
  {
    head: new RegExp(`["']([^"'\\\\\\s:=]{1,128})\\\\*["']${colon}`, 'gi'),
    value: quotedValue,
  },
  // %22name%22:%22value%22
  {
    head: new RegExp(`%2[27]((?:[^"'\\\\\\s:=%]|%(?!2[27])){1,128})%2[27]${colon}`, 'gi'),
    value: quotedValue,
  },
  // <name>value</name>, also CDATA.
  {
    head: /<([\w:.-]{1,128})(?:\s[^<>]{0,512})?>/g,
    value: /<!\[CDATA\[.*?(?:\]\]>|$)|[^<]+/sy,
  },
  // A field of multipart, from the next empty line up to the next boundary.
  {
    head: /\bname="?([^"\r\n;]{1,128})/g,
    value: /.*?(?=\r?\n--|$)/sy,
    begins: partBegins,
  },
  // A header line.
  { head: /(?:^|[\r\n])([\w-]{1,128}):[ \t]{0,8}/g, value: /[^\r\n]+/y },
  // name="value" and name=value; a pair ends at a separator or the end of a request line.
  {
    head: /(?:^|[?&;,\s{(<]|%26|%3b|%3f)([^=&;?,\s"'<>{(]{1,128}?)(?:=|%3d)/gi,
    value: /"[^"]*"?|'[^']*'?|.*?(?=[&;\r\n]|%26|%3b| HTTP\/|$)/isy,
  },
];

/** Header lines after the one that names a part, and characters of each. */
const partLinesMax = 8;
const partLineCharsMax = 512;

/**
 * Finds where a part begins: after the empty line that ends its header lines. The line looked at
 * last is remembered: many names may stand in one.
 */
function partBegins(): FindBeginning {
  let lineFrom = 0;
  let lineEnd = -1;
  let answer = -1;
  return (text, from) => {
    if (from < lineFrom || from > lineEnd) {
      lineFrom = from;
      lineEnd = text.indexOf('\n', from);
      answer = lineEnd < 0 ? -1 : afterHeaders(text, lineEnd + 1);
    }
    return lineEnd - from > partLineCharsMax ? -1 : answer;
  };
}

function afterHeaders(text: string, start: number): number {
  let at = start;
  for (let lines = 0; lines <= partLinesMax; lines++) {
    const end = text.indexOf('\n', at);
    if (end < 0 || end - at > partLineCharsMax) return -1;
    if (end === at || (end === at + 1 && text[at] === '\r')) return end + 1;
    at = end + 1;
  }
  return -1;
}

function hideFields(text: string): string {
  return fields.reduce(hideField, text);
}

/** What stands in the value of a field that is none is looked at, too. */
function hideField(text: string, { head, value, begins }: Field): string {
  const find = begins?.();
  let out = '';
  let kept = 0;
  head.lastIndex = 0;
  for (let found = head.exec(text); found !== null; found = head.exec(text)) {
    // The separator of this field may begin the next.
    head.lastIndex = Math.max(found.index + 1, head.lastIndex - 1);
    if (!names(found[1] ?? '')) continue;
    const end = found.index + found[0].length;
    const from = find === undefined ? end : find(text, end);
    if (from < 0) continue;
    value.lastIndex = from;
    const written = value.exec(text)?.[0] ?? '';
    if (written === '') continue;
    const quote = /^(?:\\*["']|%22)/.exec(written)?.[0] ?? '';
    out += `${text.slice(kept, from)}${quote}${hiddenText}${quote}`;
    kept = from + written.length;
    head.lastIndex = kept;
  }
  return out + text.slice(kept);
}

/** Values may hold each other: how often a text is read for them at most. */
const nestedReads = 4;

/**
 * The values of secrets in a text, as they are written and decoded.
 * Limits: `valuesMax` of them, each up to `secretWrittenCharsMax` of what is written, and
 * `secretTextBytesMax` of all.
 */
export function secretsIn(text: string, valuesMax: number): string[] {
  const found = new Set<string>();
  if (!hint.test(text)) return [];
  let room = Math.min(ruleRunLimits.secretTextBytesMax, nestedReads * text.length);
  for (const { head, value, begins } of fields) {
    const find = begins?.();
    head.lastIndex = 0;
    for (let match = head.exec(text); match !== null; match = head.exec(text)) {
      const end = head.lastIndex;
      head.lastIndex = Math.max(match.index + 1, end - 1);
      if (!names(match[1] ?? '')) continue;
      const from = find === undefined ? end : find(text, end);
      if (from < 0) continue;
      value.lastIndex = 0;
      const rest = text.slice(from, from + ruleRunLimits.secretWrittenCharsMax);
      const written = (value.exec(rest)?.[0] ?? '').replace(/^["']|["']$/g, '');
      room -= written.length;
      if (found.size >= valuesMax || room < 0) return [...found];
      found
        .add(written)
        .add(resolveReferences(written))
        .add(decode(written.replaceAll('+', ' ')));
    }
  }
  return [...found].filter((one) => one !== '');
}

const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
};

function resolveReferences(text: string): string {
  return text.replace(/&(?:#(\d{1,3})|#x([0-9a-f]{1,2})|(lt|gt|amp|quot|apos));/gi, (...found) => {
    const [, decimal, hex, name] = found as (string | undefined)[];
    if (name !== undefined) return entities[name.toLowerCase()] ?? '';
    return String.fromCharCode(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  });
}

/** Thirteen to nineteen digits, blanks or hyphens between them, whose check digit is right. */
const cards = /(?<!\d)[3-6](?:[ -]?\d){12,18}(?!\d)/g;

function hideCards(text: string): string {
  return text.replace(cards, (number) => (hasCheckDigit(number) ? hiddenText : number));
}

/** Source: ISO/IEC 7812-1, the Luhn formula. */
function hasCheckDigit(text: string): boolean {
  let sum = 0;
  let twice = false;
  for (let at = text.length - 1; at >= 0; at--) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) continue;
    const doubled = twice ? 2 * digit : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
    twice = !twice;
  }
  return sum % 10 === 0;
}
