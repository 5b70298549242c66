/**
 * Answers with a file as RFC 9110 has it: validators (13.1.2), one range (14.2), HEAD (9.3.2). A
 * range that is none, or several, is ignored as 14.2 allows.
 */

import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import type { NodeRequest, NodeResponse } from '../listener/node-http.ts';

/** A file with a validator that changes with its content. */
export interface ServedFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** Sends a file, the asked part of it, or that the client has it. */
export function sendFile(file: ServedFile, request: NodeRequest, response: NodeResponse): void {
  const tag = `"${file.sha256}"`;
  const { headers } = request;
  response.setHeader('etag', tag);
  response.setHeader('accept-ranges', 'bytes');
  if (matchesTag(oneOf(headers['if-none-match']), tag)) {
    response.statusCode = 304;
    response.end();
    return;
  }
  const isSame = headers['if-range'] === undefined || oneOf(headers['if-range']) === tag;
  const asked = isSame && request.method === 'GET' ? oneOf(headers['range']) : '';
  const part = readRange(asked, file.bytes);
  if (part === 'unsatisfiable') {
    response.statusCode = 416;
    response.setHeader('content-range', `bytes */${file.bytes}`);
    response.end();
    return;
  }
  const { from, to } = part ?? { from: 0, to: file.bytes - 1 };
  response.statusCode = part === null ? 200 : 206;
  if (part !== null) response.setHeader('content-range', `bytes ${from}-${to}/${file.bytes}`);
  response.setHeader('content-length', String(to - from + 1));
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  // A client that leaves early is no error of ours.
  pipeline(createReadStream(file.path, { start: from, end: to }), response, () => undefined);
}

/** Comparison of If-None-Match is weak; a star is any file. */
function matchesTag(given: string, tag: string): boolean {
  const tags = given.split(',').map((one) => one.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}

interface Part {
  /** Offsets of the first and the last byte. */
  readonly from: number;
  readonly to: number;
}

/** The part that is asked for; null for the whole. */
function readRange(text: string, bytes: number): Part | 'unsatisfiable' | null {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(text.trim());
  const [, first = '', last = ''] = found ?? [];
  if (found === null || (first === '' && last === '')) return null;
  if (first === '') {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? 'unsatisfiable' : { from: bytes - length, to: bytes - 1 };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return null;
  if (from >= bytes) return 'unsatisfiable';
  return { from, to: last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1) };
}

function oneOf(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : (value ?? []).join(', ');
}
