/** JA4 of hellos whose fingerprint is published, and of the corners that its description names. */

import { expect, test } from 'vitest';
import type { ClientHello, HelloFingerprint } from './client-hello.ts';
import { ja4 } from './ja4.ts';

const hexNumbers = (text: string): number[] => text.split(' ').map((one) => parseInt(one, 16));

/** The worked example of FoxIO's description, in the order of the wire, GREASE included. */
const published: HelloFingerprint = {
  version: 0x0304,
  suites: hexNumbers(
    '0a0a 1301 1302 1303 c02b c02f c02c c030 cca9 cca8 c013 c014 009c 009d 002f 0035',
  ),
  extensions: hexNumbers(
    'eaea 001b 0000 0033 0010 4469 0017 002d 000d 0005 0023 0012 002b ff01 000b 000a 0015 5a5a',
  ),
  signatureAlgorithms: hexNumbers('0403 0804 0401 0503 0805 0501 0806 0601'),
};

function hello(
  change: Partial<HelloFingerprint> = {},
  protocols: readonly string[] = ['h2', 'http/1.1'],
): ClientHello {
  return { serverName: 'a.example', protocols, fingerprint: { ...published, ...change } };
}

const withoutName = published.extensions.filter((one) => one !== 0);
const many = Array.from({ length: 120 }, (_, index) => index + 1);

test.each<[string, ClientHello, string | RegExp]>([
  ['the published example', hello(), 't13d1516h2_8daaf6152771_e5627efa2ab1'],
  [
    'another order of suites and extensions is the same client',
    hello({
      suites: published.suites.toReversed(),
      extensions: published.extensions.toReversed(),
    }),
    't13d1516h2_8daaf6152771_e5627efa2ab1',
  ],
  [
    'the order of signature algorithms counts',
    hello({ signatureAlgorithms: published.signatureAlgorithms.toReversed() }),
    /^t13d1516h2_8daaf6152771_(?!e5627efa2ab1)[0-9a-f]{12}$/,
  ],
  [
    'GREASE among signature algorithms does not',
    hello({ signatureAlgorithms: [0x1a1a, ...published.signatureAlgorithms] }),
    't13d1516h2_8daaf6152771_e5627efa2ab1',
  ],
  ['TLS 1.2', hello({ version: 0x0303 }), /^t12d1516h2_/],
  ['TLS 1.0', hello({ version: 0x0301 }), /^t10d1516h2_/],
  ['a version that nobody knows', hello({ version: 0x7f1c }), /^t00d1516h2_/],
  ['no server name', hello({ extensions: withoutName }), /^t13i1515h2_8daaf6152771_e5627efa2ab1$/],
  ['no application protocol', hello({}, []), /^t13d151600_/],
  ['HTTP/1.1', hello({}, ['http/1.1']), /^t13d1516h1_/],
  ['a protocol of one letter', hello({}, ['h']), /^t13d1516hh_/],
  ['a protocol that is no text', hello({}, ['\xab\xcd']), /^t13d1516ad_/],
  ['a protocol that ends in no letter', hello({}, ['h\xff']), /^t13d15166f_/],
  ['more than 99 suites', hello({ suites: many }), /^t13d9916h2_/],
  [
    'no extensions',
    hello({ extensions: [], signatureAlgorithms: [] }, []),
    't13i150000_8daaf6152771_000000000000',
  ],
])('%s', (_, given, wanted) => {
  expect(ja4(given)).toMatch(wanted);
});

test('more clients than are kept get their own fingerprints, however often they come', () => {
  const clients = Array.from({ length: 1_000 }, (_, index) => {
    const extra = [0x2000 + (index % 10), 0x3000 + (Math.floor(index / 10) % 10)];
    const algorithm = 0x0800 + Math.floor(index / 100);
    return hello({
      extensions: [...published.extensions, ...extra],
      signatureAlgorithms: [...published.signatureAlgorithms, algorithm],
    });
  });
  const first = clients.map(ja4);
  expect(new Set(first).size).toBe(1_000);
  expect(clients.toReversed().map(ja4).toReversed()).toEqual(first);
  expect(clients.flatMap((one) => [ja4(one), ja4(one)])).toEqual(first.flatMap((x) => [x, x]));
});

test('what is kept of a client is not taken for one that differs in one place', () => {
  const changed: HelloFingerprint[] = [
    { ...published, version: 0x0303 },
    { ...published, suites: published.suites.slice(1, -1) },
    { ...published, extensions: published.extensions.slice(0, -2) },
    { ...published, signatureAlgorithms: published.signatureAlgorithms.slice(1) },
  ];
  const texts = [hello(), hello({}, ['http/1.1']), ...changed.map((one) => hello(one))].map(ja4);
  expect(new Set(texts).size).toBe(texts.length);
  const again = [hello(), hello({}, ['http/1.1']), ...changed.map((one) => hello(one))].map(ja4);
  expect(again).toEqual(texts);
});
