/** Proof of matching: literal before template, parts of segments, thousands of templates. */

import { expect, test } from 'vitest';
import { segmentsOf } from './fixture.ts';
import { PathMatcher } from './path-matcher.ts';
import { pathReadings } from './request-path.ts';

const templates = [
  'GET /',
  'GET /users',
  'GET /users/{id}',
  'GET /users/me',
  'DELETE /users/{id}',
  'GET /users/{id}/pets/{pet}',
  'GET /users/me/{thing}/x',
  'GET /files/{name}.json',
  'GET /files/v{major}.{minor}',
  'GET /files/{name}',
  'GET /slash/',
];
const matcher = new PathMatcher<string>();
for (const template of templates) {
  const [method = '', path = ''] = template.split(' ');
  matcher.add(method, segmentsOf(path), template);
}

type Row = readonly [sent: string, template: string | null, values?: string[]];
const rows: readonly Row[] = [
  ['GET /', 'GET /'],
  ['GET /users', 'GET /users'],
  ['GET /users/', 'GET /users'],
  ['GET /users/7', 'GET /users/{id}', ['7']],
  ['GET /users/me', 'GET /users/me'],
  ['DELETE /users/me', 'DELETE /users/{id}', ['me']],
  ['GET /users/me/pets/3', 'GET /users/{id}/pets/{pet}', ['me', '3']],
  ['GET /users/me/pets/x', 'GET /users/me/{thing}/x', ['pets']],
  ['GET /users/7/pets', null],
  ['GET /users//pets/3', null],
  ['GET /files/a.json', 'GET /files/{name}.json', ['a']],
  ['GET /files/.json', 'GET /files/{name}', ['.json']],
  ['GET /files/v1.2', 'GET /files/v{major}.{minor}', ['1', '2']],
  ['GET /files/v1.2.3', 'GET /files/v{major}.{minor}', ['1', '2.3']],
  ['GET /files/other', 'GET /files/{name}', ['other']],
  ['GET /slash/', 'GET /slash/'],
  ['GET /slash', 'GET /slash/'],
  ['GET /Users/Me', 'GET /users/me'],
  ['POST /users', null],
  ['GET /constructor', null],
];

for (const [sent, template, values = []] of rows) {
  test(sent, () => {
    const [method = '', path = ''] = sent.split(' ');
    const [reading] = pathReadings(path);
    const found = matcher.find(method, reading!.segments);
    expect(found?.operation ?? null).toBe(template);
    if (found !== null) expect(found.values).toEqual(values);
  });
}

test('a segment with two parameters is taken in the other way, too', () => {
  const found = matcher.find('GET', ['files', 'v1.2.3'], true);
  expect(found?.values).toEqual(['1.2', '3']);
  expect(found?.splits).toBe(true);
});

test('values are as sent where a character in lower case is longer', () => {
  const one = new PathMatcher<string>();
  const segment = [{ literal: 'V' }, { parameter: 'a' }, { literal: '-' }, { parameter: 'b' }];
  one.add('GET', [segment], 'found');
  for (const greedy of [false, true]) {
    const found = one.find('GET', ['v\u0130X-\u0130Y\u0130'], greedy);
    expect(found?.values).toEqual(['\u0130X', '\u0130Y\u0130']);
  }
  expect(one.find('GET', ['v\u0130a-b-c'], true)?.values).toEqual(['\u0130a-b', 'c']);
});

test('two thousand templates do not make a path longer to find', () => {
  const many = new PathMatcher<number>();
  for (let at = 0; at < 2_000; at++) {
    many.add('GET', segmentsOf(`/r${at}/{id}/s${at % 7}/{other}`), at);
  }
  expect(many.find('GET', ['r1234', 'a', 's2', 'b'])?.operation).toBe(1_234);
  expect(many.find('GET', ['r1234', 'a', 's3', 'b'])).toBeNull();
});

const readings: readonly (readonly [path: string, expected: readonly string[]])[] = [
  ['/a/b', ['a|b']],
  ['/a%2Fb', ['a/b', 'a|b']],
  ['/a//b', ['a||b', 'a|b']],
  ['/a/./b', ['a|.|b', 'a|b']],
  ['/a/../b', ['a|..|b', 'b']],
  ['/a/%2e%2e/b', ['a|..|b', 'b']],
  ['/a;x=1/b', ['a;x=1|b', 'a|b']],
  ['/a\\b', ['a\\b', 'a|b']],
  ['/%C3%A4', ['ä']],
  ['/%2541', ['%41']],
  ['//x/a', ['|x|a', 'a', 'x|a']],
  ['/\\x\\a', ['\\x\\a', 'a', '|x|a', 'x|a']],
  ['/a.php/b', ['a.php|b', 'a.php', 'b']],
  // What is not UTF-8 stays as it was sent in one of them.
  ['/a/;x=%FF', ['a|;x=%FF', 'a|', 'a|;x=\xff']],
  ['/%FF', ['%FF', '\xff']],
  ['*', []],
];

test.each(readings)('readings of %s', (path, expected) => {
  expect(pathReadings(path).map(({ segments }) => segments.join('|'))).toEqual(expected);
});
