/**
 * Where the product on this machine listens, for hints that people can paste: `waf run` writes it
 * beside the administration socket, commands over that socket read it.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { formatAddress, type Address } from '../supervisor/address.ts';
import type { GlobalOptions } from './global-options.ts';

interface Listeners {
  readonly proxy: Address;
  /** Null without TLS. */
  readonly secureProxy: Address | null;
}

const fileOf = (adminSocket: string): string => `${adminSocket}.listeners.json`;

/** Writes it; a folder that cannot be written leaves hints without addresses. */
export function keepListeners(adminSocket: string, { proxy, secureProxy }: Listeners): void {
  try {
    writeFileSync(fileOf(adminSocket), JSON.stringify({ proxy, secureProxy }), { mode: 0o600 });
  } catch {
    // Hints say ADDRESS then.
  }
}

/**
 * The text with the addresses of the product on this machine in place of ADDRESS; as it is for a
 * product elsewhere, whose addresses are not known here.
 */
export function withListeners(options: GlobalOptions, text: string): string {
  const found = readListeners(options);
  if (found === null) return text;
  const { proxy, secureProxy } = found;
  const plain = text.replaceAll('http://ADDRESS', () => `http://${formatAddress(near(proxy))}`);
  if (secureProxy === null) return plain;
  const { host, port } = near(secureProxy);
  const address = host.includes(':') ? `[${host}]` : host;
  return plain.replaceAll(/--resolve ([^\s:]+):443:ADDRESS https:\/\/\1/g, (_all, name: string) => {
    const shown = port === 443 ? '' : `:${port}`;
    return `--resolve ${name}:${port}:${address} https://${name}${shown}`;
  });
}

function readListeners(options: GlobalOptions): Listeners | null {
  try {
    if (options.api !== undefined) return null;
    return JSON.parse(readFileSync(fileOf(options.adminSocket), 'utf8')) as Listeners;
  } catch {
    return null;
  }
}

/** An address to reach it by from this machine. */
function near({ host, port }: Address): Address {
  if (host === '0.0.0.0') return { host: '127.0.0.1', port };
  return host === '::' ? { host: '::1', port } : { host, port };
}
