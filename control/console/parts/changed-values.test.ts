/** Tests that each setting that differs is one row, whatever its value is. */

import { expect, test } from 'vitest';
import { changedValues } from './changed-values.ts';

test('values within records and lists are rows of their own', () => {
  const before = {
    crsCore: { blockScore: 70, same: 1 },
    httpPolicy: { allowedMethods: ['GET'] },
    rules: [{ id: 'a', on: true }],
    gone: 'here',
  };
  const after = {
    crsCore: { blockScore: 80, same: 1 },
    httpPolicy: { allowedMethods: ['GET', 'PUT'] },
    rules: [{ id: 'a', on: false }, { id: 'b' }],
    added: false,
  };
  const paths = ['crsCore', 'httpPolicy.allowedMethods', 'rules', 'gone', 'added', 'neither'];
  expect(changedValues(before, after, paths)).toEqual([
    { path: 'crsCore.blockScore', before: '70', after: '80' },
    { path: 'httpPolicy.allowedMethods', before: 'GET', after: 'GET, PUT' },
    { path: 'rules[0].on', before: 'true', after: 'false' },
    { path: 'rules[1].id', before: '', after: 'b' },
    { path: 'gone', before: 'here', after: '' },
    { path: 'added', before: '', after: 'false' },
  ]);
});

test('a record that was not there shows what it holds', () => {
  expect(changedValues(undefined, { a: { b: 1 } }, ['a'])).toEqual([
    { path: 'a.b', before: '', after: '1' },
  ]);
  expect(changedValues({ a: 'text' }, { a: null }, ['a.b.c'])).toEqual([]);
});
