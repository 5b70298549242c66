/** Addresses of shared stores: what is taken, and what is refused without showing a password. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readStoreAddress, storeAddressText } from './store-option.ts';

const read = (text: string) => readStoreAddress(text, 'WAF_STORE');

test('nothing and `embedded` are the store in the data folder', () => {
  expect([read(''), read('embedded')]).toEqual([null, null]);
});

test('an address is taken apart; TLS is checked but on loopback, or turned off', () => {
  expect(read('postgres://u%40:p%2Fw@db.example:6432/waf')).toEqual({
    ...{ host: 'db.example', port: 6432, user: 'u@', password: 'p/w', database: 'waf' },
    tls: { authority: '' },
  });
  expect(read('postgresql://u@[::1]/waf')).toMatchObject({ host: '::1', port: 5432, tls: 'off' });
  expect(read('postgres://u@127.0.0.1/waf?sslmode=verify-full')?.tls).toEqual({ authority: '' });
  expect(read('postgres://u@db.example/waf?sslmode=disable')?.tls).toBe('off');
});

test.each([
  ['mysql://u:secret@db/waf', /takes embedded or postgres:/],
  ['postgres://:secret@db/waf', /takes embedded or postgres:/],
  ['postgres://u:secret@db', /names one database/],
  ['postgres://u:secret@db/a/b', /names one database/],
  ['postgres://u:secret%@db/waf', /percent sign/],
  ['postgres://u:secret@db/waf?sslmode=require', /verify-full or disable/],
  ['postgres://u:secret@db/waf?host=other', /no parameter but/],
  ['postgres://u:secret@db/waf?sslrootcert=/nowhere.pem', /cannot be read \(ENOENT\)/],
  ['postgres://u:secret@db/waf?sslmode=disable&sslrootcert=/x.pem', /needs sslmode=verify-full/],
  [`postgres://u:secret@db/${'w'.repeat(5_000)}`, /takes embedded or postgres:/],
])('%s is refused', (text, reason) => {
  expect(() => read(text)).toThrow(reason);
  expect(() => read(text)).toThrow(/^WAF_STORE (?!.*secret)/);
});

test('a password on the command line is refused; a file may hold one', () => {
  expect(() => storeAddressText('postgres://u:secret@db/waf')).toThrow(
    /^--store shows its password(?!.*secret)/,
  );
  expect(storeAddressText('postgres://u@db/waf')).toBe('postgres://u@db/waf');
  const file = join(mkdtempSync(join(tmpdir(), 'waf-store-')), 'store');
  writeFileSync(file, 'postgres://u:secret@db/waf\n');
  expect(storeAddressText(file)).toBe('postgres://u:secret@db/waf');
  expect(() => storeAddressText(`${file}-gone`)).toThrow('cannot be read (ENOENT)');
});
