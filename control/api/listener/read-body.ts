/**
 * Reads the body of a unary call with a bound on its size, packed and unpacked. Never looks at what
 * it says.
 */

import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { JsonValue } from '@bufbuild/protobuf';
import { refusal } from '../../domain/errors.ts';
import type { NodeRequest } from './node-http.ts';
import { refuseShape } from './request-size.ts';

type Unpack = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

/** Content codings that are understood beside none. */
const codings: Readonly<Record<string, Unpack>> = {
  gzip: promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip),
  br: promisify<Buffer, { maxOutputLength: number }, Buffer>(brotliDecompress),
  deflate: promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate),
};

/** The coding of a body; null when we do not understand it. */
export function codingOf(request: NodeRequest): string | null {
  const coding = String(request.headers['content-encoding'] ?? 'identity').toLowerCase();
  return coding === 'identity' || Object.hasOwn(codings, coding) ? coding : null;
}

/** Reads and unpacks. Errors: resource_exhausted when it is too large, invalid_argument. */
export async function readBytes(request: NodeRequest, bytesMax: number): Promise<Buffer> {
  const packed = await readPacked(request, bytesMax);
  const coding = codingOf(request) ?? 'identity';
  return coding === 'identity' ? packed : unpack(packed, coding, bytesMax);
}

/** Parses. Errors: invalid_argument. */
export function parseJson(bytes: Uint8Array): JsonValue {
  refuseShape(bytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refusal('invalid_argument', 'request: is not valid UTF-8');
  }
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw refusal('invalid_argument', 'request: is not valid JSON; send {} for no fields');
  }
}

/** The refusal of a request above the limit. */
export function tooLarge(bytesMax: number): Error {
  return refusal('resource_exhausted', `request: is larger than ${bytesMax} bytes`);
}

async function readPacked(request: NodeRequest, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop must not end the connection: the answer is still to come.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function unpack(bytes: Buffer, coding: string, bytesMax: number): Promise<Buffer> {
  const one = codings[coding];
  if (one === undefined) throw refusal('unimplemented', 'content-encoding: send gzip or none');
  try {
    return await one(bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(bytesMax);
    throw refusal('invalid_argument', `request: is not valid ${coding} data`);
  }
}
