/**
 * Which address of a pool a visitor stays with: a cookie holds a code of the address under a key
 * that only nodes have, so that nobody can read or choose it. A code of a former key still counts
 * and is replaced. The cookie is taken out of requests, and one of that name out of answers.
 */

import { createHash, createHmac, hkdfSync } from 'node:crypto';
import { cookieNameOf, isStickyCookie, trimmed } from '../base/sticky-cookie.ts';
import type { StickySessionsConfig } from '../contract/delivery.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import { valuesOf, type FieldSpans, type SetCookies } from './set-cookies.ts';

/** What a request says of its address. */
export interface StickyCookie {
  /** The address; null for none that is known. */
  readonly pool: EndpointPool | null;
  /** True where the code is of the newest key. */
  readonly current: boolean;
  /** The other cookies, '' for none; null where ours is not among them. */
  readonly others: string | null;
}

/** The pool whose addresses are named, and the site that names them. */
export interface StickyScope {
  readonly siteId: string;
  readonly upstreamId: string;
  /** The pool is that of paths without a route: its cookie has the plain name. */
  readonly main: boolean;
}

/** Addresses by their codes, under every key, and the newest code of each. */
interface Codes {
  readonly addresses: ReadonlyMap<string, EndpointPool>;
  readonly newest: ReadonlyMap<EndpointPool, string>;
}

const cookieField = Buffer.from('cookie');
const without: StickyCookie = { pool: null, current: false, others: null };
/** Bytes of a code; guesses at 128 bits find none. */
const codeBytes = 16;
/** The addresses of one pool, as one site names them. */
export class StickyOrigins {
  private readonly config: StickySessionsConfig;
  private readonly keys: readonly Uint8Array[];
  private readonly scope: StickyScope;
  private readonly pools: readonly EndpointPool[];
  private readonly cookieName: string;
  private known: Codes | null = null;

  /** `keys`: the newest first, at least one. */
  constructor(
    config: StickySessionsConfig,
    keys: readonly Uint8Array[],
    scope: StickyScope,
    pools: readonly EndpointPool[],
  ) {
    this.config = config;
    this.keys = keys;
    this.scope = scope;
    this.pools = pools;
    const place = createHash('sha256').update(scope.upstreamId).digest('hex').slice(0, 8);
    this.cookieName = scope.main ? config.cookieName : `${config.cookieName}-${place}`;
  }

  /** Reads the cookies of a request. Cost: a pass over them. */
  read(bytes: Uint8Array, head: FieldSpans): StickyCookie {
    const text = valuesOf(bytes, head, cookieField).join('; ');
    if (!text.includes(this.config.cookieName)) return without;
    const cookies = text.split(';');
    const others = cookies.filter((one) => !this.isOurs(one));
    if (others.length === cookies.length) return without;
    const { addresses, newest } = this.codes();
    const code = cookies
      .filter((one) => cookieNameOf(one) === this.cookieName)
      .map((one) => trimmed(one.slice(one.indexOf('=') + 1)))
      .find((one) => addresses.has(one));
    const pool = code === undefined ? null : addresses.get(code)!;
    const current = pool !== null && newest.get(pool) === code;
    return { pool, current, others: trimmed(others.join(';')) };
  }

  /** Cookies of an answer without those of the origin that have our name. */
  foreign(set: SetCookies): SetCookies {
    const values = set.values.filter((one) => !this.isOurs(one.split(';', 1)[0]!));
    return values.length === set.values.length ? set : { values, changed: true };
  }

  /** The line that makes a visitor stay with an address, with its end. */
  line(pool: EndpointPool, secure: boolean): string {
    const { maxAgeSeconds } = this.config;
    const age = maxAgeSeconds === 0 ? '' : `; Max-Age=${maxAgeSeconds}`;
    const code = this.codes().newest.get(pool)!;
    const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}${age}`;
    return `Set-Cookie: ${this.cookieName}=${code}; ${attributes}\r\n`;
  }

  /** True for a cookie of any pool of the site. */
  private isOurs(cookie: string): boolean {
    return isStickyCookie(cookie, this.config.cookieName);
  }

  /** Made for the first visitor: most sites of a configuration are not asked for at once. */
  private codes(): Codes {
    if (this.known !== null) return this.known;
    const addresses = new Map<string, EndpointPool>();
    const newest = new Map<EndpointPool, string>();
    const { siteId, upstreamId } = this.scope;
    for (const key of this.keys) {
      const secret = Buffer.from(hkdfSync('sha256', key, '', 'waf sticky sessions', 32));
      for (const pool of this.pools) {
        const code = codeOf(secret, JSON.stringify([siteId, upstreamId, pool.name]));
        if (!addresses.has(code)) addresses.set(code, pool);
        if (!newest.has(pool)) newest.set(pool, code);
      }
    }
    this.known = { addresses, newest };
    return this.known;
  }
}

/** Hex: rules find no attack in it. */
function codeOf(secret: Uint8Array, text: string): string {
  const whole = createHmac('sha256', secret).update(text).digest();
  return whole.subarray(0, codeBytes).toString('hex');
}
