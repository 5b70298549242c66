/** Hints name where the product on this machine listens, and nothing made up for another one. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Address } from '../supervisor/address.ts';
import type { GlobalOptions } from './global-options.ts';
import { keepListeners, withListeners } from './listeners.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'waf-listeners-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plain = "Try: curl -i -H 'Host: a.test' http://ADDRESS/x";
const secure = 'Try: curl -i --resolve a.test:443:ADDRESS https://a.test/x';
const at = (host: string, port: number): Address => ({ host, port });
const optionsOf = (name: string, api?: string): GlobalOptions =>
  ({ api, adminSocket: path.join(folder, name) }) as GlobalOptions;

test.each<[string, Address, Address | null, string, string]>([
  ['loopback', at('127.0.0.1', 8080), at('127.0.0.1', 8443), '127.0.0.1:8080', '8443:127.0.0.1'],
  ['every address', at('0.0.0.0', 80), at('0.0.0.0', 8443), '127.0.0.1:80', '8443:127.0.0.1'],
  ['every address of IPv6', at('::', 8080), at('::', 9443), '[::1]:8080', '9443:[::1]'],
  ['a name', at('edge.test', 8080), at('10.0.0.7', 8443), 'edge.test:8080', '8443:10.0.0.7'],
])('%s', (name, proxy, secureProxy, address, resolved) => {
  const options = optionsOf(name);
  keepListeners(options.adminSocket, { proxy, secureProxy });
  expect(withListeners(options, plain)).toBe(plain.replace('ADDRESS', address));
  const port = secureProxy?.port ?? 0;
  const shown = `Try: curl -i --resolve a.test:${resolved} https://a.test:${port}/x`;
  expect(withListeners(options, secure)).toBe(shown);
});

test('port 443 is not repeated in the address', () => {
  const options = optionsOf('usual');
  keepListeners(options.adminSocket, { proxy: at('::1', 80), secureProxy: at('::1', 443) });
  const shown = 'Try: curl -i --resolve a.test:443:[::1] https://a.test/x';
  expect(withListeners(options, secure)).toBe(shown);
});

test.each<[string, GlobalOptions]>([
  ['nothing is known', optionsOf('absent')],
  ['the product is elsewhere', optionsOf('loopback', 'https://waf.example:9443')],
])('where %s the hint says ADDRESS', (_name, options) => {
  expect(withListeners(options, plain)).toBe(plain);
  expect(withListeners(options, secure)).toBe(secure);
});

test('what stands there and is no address is left aside', () => {
  const options = optionsOf('broken');
  writeFileSync(`${options.adminSocket}.listeners.json`, '{');
  expect(withListeners(options, plain)).toBe(plain);
});
