/** Networks that an address is found by; none for what is no address. */

import { expect, test } from 'vitest';
import { networkTerms } from './event-terms.ts';

test.each([
  ['192.0.2.1', ['c0', 'c000', 'c00002', 'c0000201']],
  ['0.0.0.0', ['00', '0000', '000000', '00000000']],
  ['255.255.255.255', ['ff', 'ffff', 'ffffff', 'ffffffff']],
  ['256.0.0.1', []],
  ['01.2.3.4', []],
  ['1.2.3', []],
  ['1.2.3.4.5', []],
  ['1.2.3.4.', []],
  ['1..3.4', []],
  ['1.2.3.4 ', []],
  ['', []],
  ['1.2.3.4%eth0', []],
  [
    'fe80::1%eth0',
    ['fe800000', 'fe8000000000', 'fe80000000000000', 'fe800000000000000000000000000001'],
  ],
  [
    '2001:db8::1',
    ['20010db8', '20010db80000', '20010db800000000', '20010db8000000000000000000000001'],
  ],
])('%s', (address, terms) => {
  expect(networkTerms(address)).toEqual(terms);
});
