/** Tests that a text of certificates is split into the site's certificate and its chain. */

import { expect, test } from 'vitest';
import { pemParts } from './pem.ts';

const block = (body: string): string =>
  `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----`;
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test('the first certificate is that of the site, the others are the chain', () => {
  const parts = pemParts([block('a'), block('b'), block('c')].join('\n'), 'key');
  expect(text(parts.certPem)).toBe(block('a'));
  expect(text(parts.keyPem)).toBe('key');
  expect(parts.chainPem).toEqual([block('b'), block('c')]);
});

test('a text that holds no certificate is sent as it is, for the API to refuse', () => {
  const parts = pemParts('nothing', '');
  expect(text(parts.certPem)).toBe('nothing');
  expect(parts.chainPem).toEqual([]);
});
