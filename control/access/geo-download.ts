/**
 * Fetches a geo database: from an address that may not be special, bounded in size and time, held
 * against its published digest, unpacked. What is in it is checked elsewhere.
 */

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { resourceLimits } from '../limits/resource-limits.ts';
import { readDigest, type GeoSource } from '../domain/access/geo-sources.ts';
import { FetchError, fetchOutgoing, type OutgoingLimits } from './outgoing.ts';

const unpack = promisify(gunzip);
const gzipMark = [0x1f, 0x8b];
const digestBytesMax = 4_096;

/** The unpacked file. Errors: FetchError. */
export async function downloadGeoFile(
  source: GeoSource,
  allowedNetworks: readonly string[],
  limits: Partial<OutgoingLimits> = {},
): Promise<Uint8Array> {
  const bounds = { timeoutMs: resourceLimits.geoFetchTimeoutMs, ...limits };
  const bytesMax = limits.bytesMax ?? resourceLimits.geoDatabaseBytesMax;
  const file = await fetchBytes(source.url, allowedNetworks, { ...bounds, bytesMax });
  if (source.digestUrl !== '') {
    const text = await fetchBytes(source.digestUrl, allowedNetworks, {
      ...bounds,
      bytesMax: digestBytesMax,
    });
    compare(file, Buffer.from(text).toString('utf8'));
  }
  return unpacked(file, bytesMax);
}

function compare(file: Uint8Array, text: string): void {
  const wanted = readDigest(text);
  if (wanted === null) {
    throw new FetchError('parse_error', 'the digest of the source is no SHA-256 digest');
  }
  if (createHash('sha256').update(file).digest('hex') === wanted) return;
  throw new FetchError('parse_error', 'the file of the source does not have the published digest');
}

async function unpacked(file: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  if (file[0] !== gzipMark[0] || file[1] !== gzipMark[1]) return file;
  try {
    return new Uint8Array(await unpack(file, { maxOutputLength: bytesMax }));
  } catch (cause) {
    const text = `the file of the source is damaged, or larger than ${bytesMax} bytes unpacked`;
    throw new FetchError('parse_error', text, 200, cause);
  }
}

async function fetchBytes(
  url: string,
  allowedNetworks: readonly string[],
  limits: Partial<OutgoingLimits>,
): Promise<Uint8Array> {
  const headers = { 'user-agent': 'waf-geo/1' };
  const request = { url, headers, etag: '', lastModified: '', allowedNetworks, limits };
  const { result } = await fetchOutgoing(request, collect);
  return result ?? new Uint8Array();
}

async function collect(body: AsyncIterable<Buffer>): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece);
  return new Uint8Array(Buffer.concat(pieces));
}
