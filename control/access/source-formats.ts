/**
 * Reads what sources send: text with an entry a line, CSV, and JSON by JSONPath. The first thing
 * that is no address ends it; what was sent is never repeated.
 */

import { parse as parseCsvStream } from 'csv-parse';
import { JSONPathEnvironment } from 'json-p3';
import { parseNetwork } from '../../base/ip-address.ts';
import { accessLimits } from '../limits/access-limits.ts';
import { guardLimits } from '../../base/guard-limits.ts';
import type { EntryDetail, IpEntry } from '../domain/access/ip-list-content.ts';
import type { StoredSource } from '../domain/access/ip-list-source.ts';
import { hasControls } from '../domain/access/ip-list-checks.ts';
import { FetchError } from './outgoing.ts';

/** Entries as they were read, in the order of their keys, each once. */
export class ReadEntries {
  private keys: string[] = [];
  private readonly details = new Map<string, EntryDetail>();
  private sorted = true;

  /** Takes an entry; the last one of a network counts. Errors: FetchError too_many. */
  add(key: string, detail?: EntryDetail): void {
    const last = this.keys.at(-1);
    if (last === key) return this.describe(key, detail);
    if (last !== undefined && last > key) this.sorted = false;
    this.keys.push(key);
    this.describe(key, detail);
    if (this.keys.length > 2 * guardLimits.listEntriesMax) {
      const most = guardLimits.listEntriesMax;
      throw new FetchError(
        'too_many',
        `the source has more than the ${most} entries of a list`,
        200,
      );
    }
  }

  private describe(key: string, detail: EntryDetail | undefined): void {
    if (detail !== undefined) this.details.set(key, detail);
  }

  /** Number of different networks. */
  get count(): number {
    return this.sortedKeys().length;
  }

  /** Number of IPv4 networks. */
  get ipv4Count(): number {
    const keys = this.sortedKeys();
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (keys[middle]!.startsWith('4')) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Every entry. Cost: one object at a time. */
  *entries(): Generator<IpEntry> {
    for (const key of this.sortedKeys()) {
      const detail = this.details.get(key);
      yield detail === undefined ? { key } : { key, ...detail };
    }
  }

  private sortedKeys(): readonly string[] {
    if (this.sorted) return this.keys;
    this.keys.sort();
    this.keys = this.keys.filter((key, at) => at === 0 || key !== this.keys[at - 1]);
    this.sorted = true;
    return this.keys;
  }
}

/** Paths may not run regular expressions over what a source sends. */
const environment = new JSONPathEnvironment({ maxRecursionDepth: 64 });
environment.functionRegister.delete('match');
environment.functionRegister.delete('search');

/** Throws when a text is no JSONPath that sources may use. */
export function checkJsonPath(path: string): void {
  environment.compile(path);
}

/** Reads a body in the format of its source. Errors: FetchError. */
export async function readEntries(
  body: AsyncIterable<Buffer>,
  source: Pick<StoredSource, 'format' | 'jsonPaths'>,
  nowMs: number,
): Promise<ReadEntries> {
  const found = new ReadEntries();
  if (source.format === 'json_v1') await readJsonBody(body, source.jsonPaths, found);
  else if (source.format === 'csv_v1') await readCsv(body, found, nowMs);
  else await readText(body, found);
  return found;
}

async function readText(body: AsyncIterable<Buffer>, found: ReadEntries): Promise<void> {
  let line = 0;
  let rest = '';
  const take = (text: string): void => {
    line++;
    const word = firstWord(text);
    if (word !== '') found.add(keyOf(word, `line ${line}`));
  };
  for await (const piece of body) {
    const text = rest + piece.toString('latin1');
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      take(text.slice(start, end));
      start = end + 1;
    }
    rest = text.slice(start);
    if (rest.length > accessLimits.sourceLineBytesMax) throw tooLong(line + 1);
  }
  if (rest !== '') take(rest);
}

/** What stands before blanks, commas and comments (#, ; and //); '' for a line without. */
function firstWord(line: string): string {
  const word = /^(?:\u00ef\u00bb\u00bf)?[\s,]*([^\s,#;]*)/.exec(line)?.[1] ?? '';
  return word.startsWith('//') ? '' : word;
}

const valueColumns = ['value', 'ip', 'address', 'network', 'cidr', 'prefix', 'ip_prefix', 'range'];
const noteColumns = ['note', 'description', 'comment', 'remark'];
const expiryColumns = ['expires_at', 'expiresat', 'expireat', 'expires', 'valid_until'];

interface Columns {
  readonly value: number;
  readonly note: number;
  readonly expiry: number;
}

async function readCsv(
  body: AsyncIterable<Buffer>,
  found: ReadEntries,
  nowMs: number,
): Promise<void> {
  const parser = parseCsvStream({
    bom: true,
    delimiter: [',', ';', '\t'],
    comment: '#',
    comment_no_infix: true,
    trim: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: accessLimits.sourceLineBytesMax,
  });
  const feeding = feed(body, parser);
  feeding.catch((error: unknown) => parser.destroy(error as Error));
  let columns: Columns | null = null;
  let record = 0;
  try {
    for await (const row of parser) {
      const fields = row as string[];
      record++;
      if (columns === null) {
        columns = headerOf(fields);
        if (columns !== null) continue;
        columns = { value: 0, note: 1, expiry: 2 };
      }
      addRow(fields, columns, found, nowMs, `record ${record}`);
    }
    await feeding;
  } catch (error) {
    if (error instanceof FetchError) throw error;
    const { code = '' } = error as { code?: string };
    if (!code.startsWith('CSV_')) throw error;
    throw new FetchError('parse_error', `the source is no CSV at record ${record + 1}`, 200);
  } finally {
    parser.destroy();
  }
}

async function feed(
  body: AsyncIterable<Buffer>,
  parser: ReturnType<typeof parseCsvStream>,
): Promise<void> {
  for await (const piece of body) {
    if (parser.write(piece)) continue;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        parser.off('drain', go);
        parser.off('close', go);
        resolve();
      };
      parser.on('drain', go);
      parser.on('close', go);
    });
    if (parser.destroyed) return;
  }
  parser.end();
}

function headerOf(fields: readonly string[]): Columns | null {
  const names = fields.map((field) => field.toLowerCase());
  const find = (known: readonly string[]): number =>
    names.findIndex((name) => known.includes(name));
  const value = find(valueColumns);
  return value < 0 ? null : { value, note: find(noteColumns), expiry: find(expiryColumns) };
}

function addRow(
  fields: readonly string[],
  columns: Columns,
  found: ReadEntries,
  nowMs: number,
  where: string,
): void {
  const value = fields[columns.value] ?? '';
  if (value === '') return;
  const key = keyOf(value, where);
  const note = cleanNote(fields[columns.note] ?? '');
  const ends = Date.parse(fields[columns.expiry] ?? '');
  if (ends <= nowMs) return;
  if (note === '' && Number.isNaN(ends)) return found.add(key);
  found.add(key, {
    ...(note === '' ? {} : { note }),
    ...(Number.isNaN(ends) ? {} : { expiresAt: new Date(ends).toISOString() }),
  });
}

/** A note of a stranger: no controls, bounded, and nothing that a spreadsheet would run. */
function cleanNote(text: string): string {
  const printable = hasControls(text) ? text.replaceAll(/\p{Cc}/gu, ' ') : text;
  return printable.replace(/^[=+\-@\s]+/, '').slice(0, accessLimits.noteCharsMax);
}

async function readJsonBody(
  body: AsyncIterable<Buffer>,
  jsonPaths: readonly string[],
  found: ReadEntries,
): Promise<void> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > accessLimits.sourceJsonBytesMax) {
      const most = accessLimits.sourceJsonBytesMax;
      throw new FetchError('http_error', `the source sent more than ${most} bytes of JSON`, 200);
    }
    pieces.push(piece);
  }
  let document: unknown;
  try {
    document = JSON.parse(
      Buffer.concat(pieces)
        .toString('utf8')
        .replace(/^\ufeff/, ''),
    );
  } catch {
    throw new FetchError('parse_error', 'the source is no JSON', 200);
  }
  jsonPaths.forEach((path, at) => readPath(document, path, `path ${at + 1}`, found));
}

function readPath(document: unknown, path: string, where: string, found: ReadEntries): void {
  let visited = 0;
  const nodes = environment.compile(path).lazyQuery(document as never);
  const take = (value: unknown): void => {
    if (++visited > accessLimits.sourceJsonNodesMax) {
      throw new FetchError('too_many', `${where} of the source yields too many values`, 200);
    }
    if (Array.isArray(value)) return value.forEach(take);
    if (typeof value !== 'string') {
      const message = `${where} of the source yields something other than text`;
      throw new FetchError('parse_error', message, 200);
    }
    if (value.trim() !== '') found.add(keyOf(value.trim(), `value ${visited} of ${where}`));
  };
  try {
    for (const { value } of nodes) take(value);
  } catch (error) {
    if (error instanceof FetchError) throw error;
    throw new FetchError('parse_error', `${where} cannot be followed in what the source sent`, 200);
  }
}

function keyOf(text: string, where: string): string {
  const key = parseNetwork(text);
  if (key !== null) return key;
  const message = `${where} of the source is neither an address nor a network`;
  throw new FetchError('parse_error', message, 200);
}

function tooLong(line: number): FetchError {
  const most = accessLimits.sourceLineBytesMax;
  return new FetchError(
    'parse_error',
    `line ${line} of the source has more than ${most} bytes`,
    200,
  );
}
