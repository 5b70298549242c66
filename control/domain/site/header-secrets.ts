/**
 * Decides which headers towards origins are secrets, and keeps them write-only: shown as
 * `configured`, and kept where that comes back. Pure.
 */

import type { SiteDeliveryJson } from '../../../proto/gen/waf/v1/delivery_pb.ts';
import { invalidField } from '../errors.ts';
import { secretShown } from '../setting-fields.ts';

type Headers = Readonly<Record<string, string>>;

const secretWords =
  /auth|cookie|token|secret|passw|passphrase|credential|signature|bearer|jwt|session|api-?key/;
const secretParts =
  /(?:^|[-_.])(?:key|keys|pass|pwd|pin|sid|sig|hmac|csrf|xsrf|verify|access|private)(?:[-_.]|$)/;
const schemes = /^(?:basic|bearer|digest|token|negotiate|apikey|hmac|aws4-\S+)\s/i;
/** What looks made by a machine: long, without spaces, of letters and digits. */
const machineMade = /^(?=\S*\d)(?=\S*[A-Za-z])[\w+/=.~:-]{16,}$/;

/** Whether people may not read the value of a header back. */
export function isSecretHeader(name: string, value: string): boolean {
  const lower = name.toLowerCase();
  if (lower === 'host') return false;
  if (secretWords.test(lower) || secretParts.test(lower)) return true;
  return schemes.test(value) || machineMade.test(value);
}

/** The headers as they may be shown. */
export function hideHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecretHeader(name, value) ? secretShown : value,
    ]),
  );
}

/** A copy of plain data in which `requestHeaders`, wherever they are, may be shown. */
export function hideHeaderSecrets<T>(data: T): T {
  return hidden(data, 0) as T;
}

const depthMax = 16;

function hidden(data: unknown, depth: number): unknown {
  if (typeof data !== 'object' || data === null || depth > depthMax) return data;
  if (Array.isArray(data)) return data.map((one) => hidden(one, depth + 1));
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      if (name === 'passwordHash' && value !== '') return [name, secretShown];
      if (name !== 'requestHeaders') return [name, hidden(value, depth + 1)];
      return [name, hiddenHeaders(value)];
    }),
  );
}

/** Headers are a map; in configurations of nodes a list of name and value. */
function hiddenHeaders(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return headers;
  if (!Array.isArray(headers)) return hideHeaders(headers as Headers);
  return (headers as { readonly name?: string; readonly value?: string }[]).map((one) => {
    const { name = '', value = '' } = one;
    return isSecretHeader(name, value) ? { ...one, value: secretShown } : one;
  });
}

/**
 * The headers to keep: `configured` stands for the value kept before under that name. Errors:
 * invalid_argument at `field` where there is none.
 */
export function keepHeaders(headers: Headers, before: Headers, field: string): Headers {
  const known = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), value]));
  const kept = Object.entries(headers).map(([name, value]) => {
    if (value !== secretShown) return [name, value];
    const secret = known.get(name.toLowerCase());
    if (secret === undefined) {
      const problem = `${name} reads ${secretShown}, as secrets are shown: send its value`;
      throw invalidField(field, problem);
    }
    return [name, secret];
  });
  return Object.fromEntries(kept) as Headers;
}

interface WithHeaders {
  readonly requestHeaders?: Headers;
}

/** A pool with the secrets that it had. Errors: as `keepHeaders`. */
export function keepPoolSecrets<T extends WithHeaders>(pool: T, before: WithHeaders | null): T {
  if (pool.requestHeaders === undefined) return pool;
  const field = 'upstream.requestHeaders';
  const requestHeaders = keepHeaders(pool.requestHeaders, before?.requestHeaders ?? {}, field);
  return { ...pool, requestHeaders };
}

interface WithOrigins {
  readonly delivery?: SiteDeliveryJson;
  readonly upstreams?: readonly (WithHeaders & { readonly inline?: { readonly url?: string } })[];
}

/** A site with the secrets that its origins had; each goes to the address it was made for alone. */
export function keepSiteSecrets<T extends WithOrigins>(site: T, before: WithOrigins | null): T {
  const delivery = keepDeliverySecrets(site.delivery, before?.delivery);
  const kept = delivery === undefined ? site : { ...site, delivery };
  if (site.upstreams === undefined) return kept;
  const upstreams = site.upstreams.map((origin, at) => {
    if (origin.requestHeaders === undefined) return origin;
    const same = before?.upstreams?.find(({ inline }) => inline?.url === origin.inline?.url);
    const field = `site.upstreams[${at}].requestHeaders`;
    const earlier = same?.requestHeaders ?? {};
    return { ...origin, requestHeaders: keepHeaders(origin.requestHeaders, earlier, field) };
  });
  return { ...kept, upstreams };
}

/** Hashes that come back as they are shown are those that the same user has under that path. */
function keepDeliverySecrets(
  delivery: SiteDeliveryJson | undefined,
  before: SiteDeliveryJson | undefined,
): SiteDeliveryJson | undefined {
  if (delivery?.basicAuth === undefined) return delivery;
  const basicAuth = delivery.basicAuth.map((rule, index) => {
    const known = before?.basicAuth?.find(({ pathPrefix }) => pathPrefix === rule.pathPrefix);
    const users = (rule.users ?? []).map((user, place) => {
      if (user.passwordHash !== secretShown) return user;
      const hash = known?.users?.find(({ name }) => name === user.name)?.passwordHash;
      if (hash !== undefined) return { ...user, passwordHash: hash };
      const field = `site.delivery.basicAuth[${index}].users[${place}].passwordHash`;
      throw invalidField(field, `reads ${secretShown}, as hashes are shown: send the hash`);
    });
    return { ...rule, ...(users.length === 0 ? {} : { users }) };
  });
  return { ...delivery, basicAuth };
}
