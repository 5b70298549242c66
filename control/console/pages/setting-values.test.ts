/** How values of settings go into forms and back. */

import { expect, test } from 'vitest';
import { changedKeys, shownText, type SettingField } from './setting-values.ts';

const field = (
  kind: SettingField['kind'],
  standard: SettingField['standard'] = '',
): SettingField => ({ path: ['key', 'inner'], label: ['', ''], kind, standard });

test.each([
  ['text', 'one', 'one'],
  ['number', 60, '60'],
  ['check', true, 'on'],
  ['lines', ['10.0.0.0/8', 'fd00::/8'], '10.0.0.0/8\nfd00::/8'],
  ['servers', [{ host: 'radius.example', port: 1812 }], 'radius.example:1812'],
  ['servers', [{ host: '2001:db8::1', port: 1645 }], '2001:db8::1:1645'],
  ['pairs', { admins: 'role-a', 'cn=ops': 'role-b' }, 'admins = role-a\ncn=ops = role-b'],
] as const)('a value of kind %s is shown and read back: %j', (kind, value, text) => {
  const one = field(kind);
  expect(shownText(one, { key: { inner: value as never } })).toBe(text);
  const entered = changedKeys([one], { key: { other: 1 } }, { 'key.inner': text });
  expect(entered).toEqual({ key: { other: 1, inner: value } });
});

test('what nothing is set for shows the standard, and is not saved unless it is changed', () => {
  const one = field('number', 60);
  expect(shownText(one, {})).toBe('60');
  expect(changedKeys([one], {}, { 'key.inner': '60' })).toEqual({});
  expect(changedKeys([one], {}, { 'key.inner': '90' })).toEqual({ key: { inner: 90 } });
});

test('an emptied field returns to the standard', () => {
  const top: SettingField = { ...field('text'), path: ['key'] };
  expect(changedKeys([top], { key: 'a' }, { key: '' })).toEqual({ key: null });
  const held = { key: { inner: 90, other: 1 } };
  expect(changedKeys([field('number', 60)], held, { 'key.inner': '' })).toEqual({
    key: { other: 1 },
  });
});
