/**
 * The two translations of heads for origins that speak HTTP/2: an HTTP/1.1 head of our own to
 * fields, and an origin's fields to the head and trailer lines that the response parser reads.
 * What belongs to one connection only is left out of both (RFC 9113 section 8.2.2). Pure.
 */

import type { OutgoingHttpHeaders } from 'node:http2';
import { httpLimits } from '../../base/delivery-limits.ts';
import { FIELD, fieldKind } from '../http/tables.ts';

/** A request head of ours, read. */
export interface RequestFields {
  readonly fields: OutgoingHttpHeaders;
  /** Content follows in chunks. */
  readonly chunked: boolean;
}

const ofOneConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'trailer',
  'upgrade',
  'host',
  'te',
]);
/** RFC 9110 section 15: answers without content whatever their fields say. */
const withoutContent = new Set([204, 304]);
const printable = /^[\t\x20-\x7e\x80-\xff]*$/;
const token = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** Reads `text`, a whole head that the engine wrote; byte string. */
export function readOwnHead(text: string, scheme: 'http' | 'https'): RequestFields {
  const [line = '', ...rest] = text.split('\r\n');
  const [method = '', path = ''] = line.split(' ');
  const fields: Record<string, string | string[]> = {
    ':method': method,
    ':path': path,
    ':scheme': scheme,
  };
  let chunked = false;
  for (const one of rest) {
    const colon = one.indexOf(':');
    if (colon < 1) continue;
    const name = one.slice(0, colon).toLowerCase();
    const value = one.slice(colon + 1).trim();
    if (name === 'host') fields[':authority'] = value;
    if (name === 'transfer-encoding') chunked = true;
    if (ofOneConnection.has(name)) continue;
    const known = fields[name];
    fields[name] = known === undefined ? value : [known, value].flat();
  }
  // gRPC asks for it; it is the one value that HTTP/2 knows.
  fields['te'] = 'trailers';
  return { fields, chunked };
}

/**
 * The head of an answer as HTTP/1.1 has it, from names and values in turn. `ended`: no content
 * follows. Null where a field cannot stand in a head.
 */
export function answerHead(status: number, raw: readonly string[], ended: boolean): Buffer | null {
  const lines = [`HTTP/1.1 ${status} `];
  let length = false;
  for (const [name, value] of pairsOf(raw)) {
    if (name.startsWith(':') || ofOneConnection.has(name)) continue;
    if (!token.test(name) || !printable.test(value)) return null;
    if (name === 'content-length') length = true;
    lines.push(`${name}: ${value}`);
  }
  const framed = length || withoutContent.has(status);
  if (!framed) lines.push(ended ? 'content-length: 0' : 'transfer-encoding: chunked');
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/**
 * Trailer lines, each with its end, as byte string. Fields about framing and routing have no
 * business there (RFC 9110 section 6.5.1) and are left out; null where the rest is too long.
 */
export function trailerLines(raw: readonly string[]): string | null {
  let lines = '';
  for (const [name, value] of pairsOf(raw)) {
    if (!token.test(name) || !printable.test(value)) continue;
    const bytes = Buffer.from(name, 'latin1');
    const kind = bytes.length <= 20 ? fieldKind(bytes, 0, bytes.length) : FIELD.OTHER;
    const framing = kind !== FIELD.OTHER && kind <= FIELD.CONNECTION;
    if (framing || kind === FIELD.ALIAS || ofOneConnection.has(name)) continue;
    lines += `${name}: ${value}\r\n`;
  }
  // The empty line counts, too.
  return lines.length + 2 > httpLimits.trailerBytesMax ? null : lines;
}

/** The same of lines that an origin sent over HTTP/1.1; they were checked. */
export function keptTrailers(lines: string): string {
  if (lines.length <= 2) return '';
  const raw = lines.split('\r\n').flatMap((line) => {
    const colon = line.indexOf(':');
    return colon < 1 ? [] : [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return trailerLines(raw) ?? '';
}

function* pairsOf(raw: readonly string[]): Generator<readonly [string, string]> {
  for (let at = 0; at + 1 < raw.length; at += 2) yield [raw[at]!.toLowerCase(), raw[at + 1]!];
}
