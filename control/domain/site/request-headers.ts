/** Which headers an operator may set on requests to an origin. */

import { invalidField } from '../errors.ts';

const headersMax = 64;
const valueCharactersMax = 4096;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const controls = /[\0-\x08\x0a-\x1f\x7f]/;
/** Fields that belong to one connection, or that what was inspected depends on. */
const ours = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
]);

/** Errors: invalid_argument at `field`, which is a map of name to value. */
export function checkRequestHeaders(
  headers: Readonly<Record<string, string>>,
  field: string,
): void {
  const entries = Object.entries(headers);
  if (entries.length > headersMax) throw invalidField(field, `has at most ${headersMax} entries`);
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    if (!token.test(name)) throw invalidField(field, 'holds a name that is no header name');
    if (ours.has(lower)) throw invalidField(field, `must not set ${lower}: the proxy sets it`);
    if (seen.has(lower)) throw invalidField(field, `holds ${lower} twice, in different case`);
    seen.add(lower);
    if (controls.test(value) || value !== value.trim()) {
      throw invalidField(field, 'holds a value with control characters or outer spaces');
    }
    if (value.length > valueCharactersMax) {
      throw invalidField(field, `has values of at most ${valueCharactersMax} characters`);
    }
    if (lower === 'host' && !/^[A-Za-z0-9_.:[\]-]{1,255}$/.test(value)) {
      throw invalidField(field, 'holds a Host that is no host name');
    }
  }
}
