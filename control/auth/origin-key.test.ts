/** Whose attempts count together. */

import { expect, test } from 'vitest';
import { originKey } from './origin-key.ts';

test('an IPv6 network of one customer counts as one, and its neighbor does not', () => {
  const first = originKey('2001:db8:1:2:3:4:5:6');
  expect(originKey('2001:db8:1:2:ffff::1')).toBe(first);
  expect(originKey('2001:0db8:0001:0002::')).toBe(first);
  expect(originKey('2001:db8:1:3::1')).not.toBe(first);
  expect(originKey('fe80::1%eth0')).toBe(originKey('fe80::2'));
});

test('IPv4 addresses count each, however they are written', () => {
  expect(originKey('192.0.2.1')).toBe('192.0.2.1');
  expect(originKey('::ffff:192.0.2.1')).toBe('192.0.2.1');
  expect(originKey('::ffff:192.0.2.2')).not.toBe('192.0.2.1');
});

test('what is no address counts as it is', () => {
  expect(originKey('')).toBe('');
  expect(originKey('/run/socket')).toBe('/run/socket');
});
