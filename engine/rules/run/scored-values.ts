/**
 * Which values of a request the score looks at, under the names that rules know them by and the
 * paths that people read. Never judges one.
 */

import { beginsSerialized, serializedHeadBytes } from '../../detect/serialized.ts';
import { nameIs, startsWithName } from '../transaction/ascii.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { SOURCE, type SourceId, type ValueTable } from '../transaction/values.ts';

/** One value: bytes of the transaction's slab. Its texts are made when they are asked for. */
export class ScoredValue {
  /** The slab. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly isName: boolean;
  readonly isData: boolean;
  private readonly names: SourceNames;
  private readonly values: ValueTable;
  private readonly row: number;

  constructor(names: SourceNames, values: ValueTable, row: number, start: number, end: number) {
    this.bytes = values.slab;
    this.start = start;
    this.end = end;
    this.isName = names.isName === true;
    this.isData = names.isData === true;
    this.names = names;
    this.values = values;
    this.row = row;
  }

  /** As rules name it: `ARGS:q`. */
  get name(): string {
    const { variable, keyed } = this.names;
    return keyed ? `${variable}:${this.values.key(this.row)}` : variable;
  }

  /** Of `name`, which costs a string. */
  get nameBytes(): number {
    const { variable, keyed } = this.names;
    const { keyStart, keyEnd } = this.values;
    return keyed ? variable.length + 1 + keyEnd[this.row]! - keyStart[this.row]! : variable.length;
  }

  /** As people read it: `args.q`. */
  get path(): string {
    const { path, keyed, pathIsWhole, lowerPath } = this.names;
    if (!keyed || pathIsWhole === true) return path;
    const key = this.values.key(this.row);
    if (key === '') return path;
    return `${path}.${lowerPath === true ? key.toLowerCase() : key}`;
  }
}

/** What one source of values is called. */
interface SourceNames {
  readonly variable: string;
  readonly path: string;
  /** The key takes part in both names. */
  readonly keyed: boolean;
  /** The key takes no part in the path. */
  readonly pathIsWhole?: boolean;
  /** The key stands in lower case in the path. */
  readonly lowerPath?: boolean;
  /** As `DetectedValue.isName`. */
  readonly isName?: boolean;
  readonly isData?: boolean;
}

const sourceNames: readonly (readonly [SourceId, SourceNames])[] = [
  [SOURCE.argGet, { variable: 'ARGS', path: 'args', keyed: true }],
  [SOURCE.argPost, { variable: 'ARGS', path: 'args', keyed: true }],
  [SOURCE.requestCookie, { variable: 'REQUEST_COOKIES', path: 'cookies', keyed: true }],
  [SOURCE.requestFilename, { variable: 'REQUEST_FILENAME', path: 'path', keyed: false }],
  [SOURCE.file, { variable: 'FILES', path: 'files', keyed: true, isName: true }],
  [SOURCE.multipartPartHeader, { variable: 'FILES', path: 'parts', keyed: true }],
  [SOURCE.xmlText, { variable: 'XML', path: 'xml', keyed: false }],
  [SOURCE.xmlAttribute, { variable: 'XML', path: 'xml', keyed: false }],
];

const argumentName: SourceNames = {
  ...{ variable: 'ARGS_NAMES', path: 'the name of an argument', keyed: true },
  ...{ pathIsWhole: true, isName: true },
};
const cookieName: SourceNames = {
  ...{ variable: 'REQUEST_COOKIES_NAMES', path: 'the name of a cookie', keyed: true },
  ...{ pathIsWhole: true, isName: true },
};
const headerField: SourceNames = {
  ...{ variable: 'REQUEST_HEADERS', path: 'headers', keyed: true, lowerPath: true },
};
const wholeBody: SourceNames = {
  ...{ variable: 'REQUEST_BODY', path: 'body', keyed: false, isData: true },
};

/** Bytes that plain values have: letters, digits and `_-.`. */
const plain = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.';
const plainBytes = byteTable(plain);
/** A name of plain bytes may be a path to an object of the program from this length on. */
const nameBytesMin = 9;
/** Bytes of a name that are searched again where the name before began with the same. */
const repeatedBytes = 128;
/** A value of plain bytes may be the base64 of something from this length on. */
const openableBytesMin = 12;
/** All bytes but those of words, numbers, dates and lists of addresses. */
const tellingInTexts = othersThan(`${plain} ,:`);
/** What tells of lists of names and weights. */
const tellingInNames = othersThan(`${plain} ,:;=*?`);
/** What tells of lists of types and tags, and of hosts. */
const tellingInTypes = byteTable("$<>'`{}|\\^%()");
/** Fields of most requests whose values are such lists, by their length; others hold texts. */
const listFields = byLength([
  ...withTelling(tellingInNames, [
    ...['accept-charset', 'accept-encoding', 'accept-language', 'connection', 'content-length'],
    ...['if-modified-since', 'pragma', 'priority', 'te', 'upgrade-insecure-requests'],
  ]),
  ...withTelling(tellingInTypes, [
    ...['accept', 'cache-control', 'content-type', 'host', 'if-none-match', 'origin'],
  ]),
]);

type ListField = readonly [name: string, telling: Uint8Array];

function othersThan(bytes: string): Uint8Array {
  return byteTable(bytes).map((isOne) => 1 - isOne);
}

function withTelling(telling: Uint8Array, names: readonly string[]): readonly ListField[] {
  return names.map((name) => [name, telling]);
}

function byLength(fields: readonly ListField[]): readonly (readonly ListField[])[] {
  const lengths = Math.max(...fields.map(([name]) => name.length)) + 1;
  return Array.from({ length: lengths }, (_, at) => fields.filter(([name]) => name.length === at));
}

function byteTable(bytes: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const char of bytes) table[char.charCodeAt(0)] = 1;
  return table;
}

/**
 * The values in order of arrival; short plain ones are left out. Cost: a look at their bytes.
 */
export function scoredValues(tx: Transaction): ScoredValue[] {
  const { values } = tx;
  const list: ScoredValue[] = [];
  for (const [source, names] of sourceNames) {
    for (const row of values.rowsOf(source)) addRow(tx, row, names, list);
  }
  for (const source of [SOURCE.argGet, SOURCE.argPost]) {
    let before = -1;
    for (const row of values.rowsOf(source)) {
      before = addName(tx, row, before, argumentName, list);
    }
  }
  let before = -1;
  for (const row of values.rowsOf(SOURCE.requestCookie)) {
    before = addName(tx, row, before, cookieName, list);
  }
  for (const row of values.rowsOf(SOURCE.requestHeader)) addField(tx, row, list);
  addBody(tx, list);
  return list;
}

function addRow(tx: Transaction, row: number, names: SourceNames, list: ScoredValue[]): void {
  const { slab, start, end } = tx.values;
  const from = start[row]!;
  const to = end[row]!;
  const isShort = names.isName !== true && to - from < openableBytesMin;
  if (isShort && isOnly(slab, from, to, plainBytes)) return;
  list.push(new ScoredValue(names, tx.values, row, from, to));
}

/**
 * Members of objects in objects repeat the names of all that is around them: of a long name, what
 * it shares with the long one before it is left out, but for what one piece may hold together with
 * what is new. `before`: the row of that one, or -1; returns it for the next name.
 */
function addName(
  tx: Transaction,
  row: number,
  before: number,
  names: SourceNames,
  list: ScoredValue[],
): number {
  const { slab, keyStart, keyEnd } = tx.values;
  const from = keyStart[row]!;
  const to = keyEnd[row]!;
  if (to - from < nameBytesMin && isOnly(slab, from, to, plainBytes)) return before;
  // Items of a list share one name.
  if (row > 0 && keyStart[row - 1] === from && keyEnd[row - 1] === to) return before;
  const isLong = to - from > repeatedBytes;
  const shared = isLong && before >= 0 ? sharedBytes(tx, row, before) : 0;
  if (shared < to - from) {
    const start = from + Math.max(0, shared - repeatedBytes);
    list.push(new ScoredValue(names, tx.values, row, start, to));
  }
  return isLong ? row : before;
}

/** Bytes in which two names begin alike. */
function sharedBytes({ values }: Transaction, row: number, other: number): number {
  const { slab, keyStart, keyEnd } = values;
  const from = keyStart[row]!;
  const otherFrom = keyStart[other]!;
  const most = Math.min(keyEnd[row]! - from, keyEnd[other]! - otherFrom);
  let shared = 0;
  while (shared < most && slab[from + shared] === slab[otherFrom + shared]) shared++;
  return shared;
}

/** Referer and Authorization hold documents; other fields are looked at where a byte tells. */
function addField(tx: Transaction, row: number, list: ScoredValue[]): void {
  const { slab, start, end, keyStart, keyEnd } = tx.values;
  const nameFrom = keyStart[row]!;
  const nameTo = keyEnd[row]!;
  const from = start[row]!;
  const to = end[row]!;
  if (nameIs(slab, nameFrom, nameTo, 'cookie')) return;
  if (startsWithName(slab, nameFrom, nameTo, 'sec-')) return;
  const document =
    nameIs(slab, nameFrom, nameTo, 'referer') || nameIs(slab, nameFrom, nameTo, 'authorization');
  if (!document && !mayTell(slab, from, to, tellingIn(slab, nameFrom, nameTo))) return;
  list.push(new ScoredValue(headerField, tx.values, row, from, to));
}

/** The bytes that tell of a value of the field with the name in [from, to). */
function tellingIn(slab: Uint8Array, from: number, to: number): Uint8Array {
  const fields = listFields[to - from];
  if (fields === undefined) return tellingInTexts;
  for (let at = 0; at < fields.length; at++) {
    if (startsWithName(slab, from, to, fields[at]![0])) return fields[at]![1];
  }
  return tellingInTexts;
}

/** Whether a field holds one of the bytes, or may be the base64 of something. */
function mayTell(slab: Uint8Array, from: number, to: number, telling: Uint8Array): boolean {
  if (holdsOneOf(slab, from, to, telling)) return true;
  return (
    telling === tellingInTexts &&
    to - from >= openableBytesMin &&
    isOnly(slab, from, to, plainBytes)
  );
}

/** XML as a whole, for its declarations; a body that nothing read. */
function addBody(tx: Transaction, list: ScoredValue[]): void {
  const { values, bodyStart, requestBodyBytes } = tx;
  if (requestBodyBytes === 0) return;
  const bodyEnd = bodyStart + requestBodyBytes;
  if (!tx.xmlPresent && values.rowsOf(SOURCE.argPost).length > 0) {
    // The texts of binary data are arguments; what it begins with stands in none of them.
    if (!beginsSerialized(values.slab, bodyStart, bodyEnd)) return;
    const headEnd = Math.min(bodyEnd, bodyStart + serializedHeadBytes);
    list.push(new ScoredValue(wholeBody, values, 0, bodyStart, headEnd));
    return;
  }
  if (!tx.xmlPresent && isOnly(values.slab, bodyStart, bodyEnd, plainBytes)) return;
  list.push(new ScoredValue(wholeBody, values, 0, bodyStart, bodyEnd));
}

function isOnly(bytes: Uint8Array, from: number, to: number, table: Uint8Array): boolean {
  for (let at = from; at < to; at++) if (table[bytes[at]!] === 0) return false;
  return true;
}

function holdsOneOf(bytes: Uint8Array, from: number, to: number, table: Uint8Array): boolean {
  for (let at = from; at < to; at++) if (table[bytes[at]!] === 1) return true;
  return false;
}
