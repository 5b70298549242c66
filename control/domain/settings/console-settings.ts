/** The setting that names the host at which people reach the console and the API. */

import { invalidField } from '../errors.ts';
import { normalizeHost } from '../site/hosts.ts';

/** Key of the host; '' for none: the listener then shows its own certificate to everybody. */
export const consoleHostKey = 'console.host';

/** Errors: invalid_argument under `at`. */
export function checkConsoleHost(value: unknown, at: string): void {
  if (value === '') return;
  const isName =
    typeof value === 'string' &&
    value.length <= 253 &&
    /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(value) &&
    !/^[\d.]+$/.test(value) &&
    normalizeHost(value, at) === value;
  if (!isName) throw invalidField(at, 'must be a host name in lower case, or "" for none');
}

/** The host, from stored values. */
export function consoleHostOf(values: Readonly<Record<string, unknown>>): string {
  const host = values[consoleHostKey];
  return typeof host === 'string' ? host : '';
}
