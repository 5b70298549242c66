/** What a host name of a site may look like. */

import { invalidField } from '../errors.ts';

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const hostBytesMax = 253;
const ipv6 = /^\[[0-9a-f:.]{2,45}\]$/;

/**
 * A host as sites keep it: lower case, no final dot. Accepts exact names and addresses, and `*.`
 * with a domain of at least one label; one label stands for the star. Errors: invalid_argument at
 * `field`.
 */
export function normalizeHost(text: string, field: string): string {
  const host = text.trim().toLowerCase().replace(/\.$/, '');
  if (host === '') throw invalidField(field, 'is required, for example shop.example.com');
  if (host.includes('://')) throw invalidField(field, 'must be a host name without a scheme');
  if (ipv6.test(host)) return host;
  if (host.includes('/')) throw invalidField(field, 'must be a host name without a path');
  if (host.includes(':')) throw invalidField(field, 'must be a host name without a port');
  if (host.length > hostBytesMax) throw invalidField(field, 'has at most 253 characters');
  const name = host.startsWith('*.') ? host.slice(2) : host;
  if (name === '' || !name.split('.').every((part) => label.test(part))) {
    throw invalidField(
      field,
      'must be a host name, or *. and a domain; write other scripts in punycode',
    );
  }
  return host;
}
