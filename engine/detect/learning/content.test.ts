/** Tests which signs are content where: names, paths, ends, and signs that prove an attack. */

import { expect, test } from 'vitest';
import type { SignFacts } from '../score.ts';
import { contentName, isLearnable, namesValue, pathPattern, plainPath } from './content-name.ts';
import { countedSigns, weakSigns } from './content-signs.ts';
import { familyOfSign } from './sign-family.ts';
import { SiteContent } from './site-content.ts';

const strong = 198_400;
const weakHtml = 198_405;
const weakSql = 198_108;
const facts: SignFacts = {
  isStrong: (id) => id === strong,
  confirmedBy: (id) => (id === weakSql ? [942] : id === weakHtml || id === strong ? [941] : []),
};
const leaves = [{ name: 'ARGS:content' }, { name: 'ARGS:q' }];
const sign = (id: number, leaf = 0) => ({ id, leaf, start: 0, end: 1 });
const idsOf = (list: readonly { id: number }[]): number[] => list.map(({ id }) => id);

const learned = [{ name: 'ARGS:content', family: 'html', strong: false }] as const;
const own = [{ name: 'ARGS:content', family: 'html', strong: true }] as const;

test.each([
  ['weak signs of the family are content', learned, [sign(weakHtml), sign(941_100)], []],
  ['those of others are not', learned, [sign(weakHtml), sign(weakSql)], [weakSql]],
  ['nor those of other values', learned, [sign(weakHtml, 1)], [weakHtml]],
  [
    'none is where one proves an attack',
    learned,
    [sign(weakHtml), sign(strong)],
    [weakHtml, strong],
  ],
  ['all are in a field of an application', own, [sign(weakHtml), sign(strong)], []],
  ['but no others', own, [sign(strong), sign(weakSql)], [weakSql]],
] as const)('%s', (_title, content, signs, left) => {
  expect(idsOf(countedSigns(signs, leaves, content, facts))).toEqual(left);
});

test('a request with a proved attack shows nothing of what is ordinary', () => {
  const points = (): boolean => true;
  expect(weakSigns([sign(weakHtml), sign(941_100)], leaves, facts, points)).toEqual([
    { name: 'ARGS:content', family: 'html' },
  ]);
  expect(weakSigns([sign(weakHtml), sign(strong, 1)], leaves, facts, points)).toBeNull();
  expect(weakSigns([sign(weakHtml)], leaves, facts, () => false)).toEqual([]);
});

test('families go by the rules that look for the same', () => {
  expect([weakHtml, weakSql, 932_100, 199_201].map((id) => familyOfSign(id, facts))).toEqual([
    ...['html', 'sql', 'shell'],
    null,
  ]);
});

test('numbers of lists are no part of a name', () => {
  expect(contentName('ARGS:json.blocks.12.text')).toBe('ARGS:json.blocks.*.text');
  expect(contentName('ARGS:rows[3][note]')).toBe('ARGS:rows[*][note]');
  expect(contentName('ARGS:json.posts.array_0.html')).toBe('ARGS:json.posts.*.html');
  expect(contentName('ARGS:q1')).toBe('ARGS:q1');
  expect(namesValue('ARGS:json.**', 'ARGS:json.flows.*.func')).toBe(true);
  expect(namesValue('ARGS:json.flows', 'ARGS:json.flows.*.func')).toBe(false);
});

test('paths and names that somebody chose are not learned', () => {
  const names = ['ARGS:a', 'REQUEST_BODY', 'ARGS_NAMES:a', 'REQUEST_FILENAME', 'ARGS:'];
  expect(names.map(isLearnable)).toEqual([true, true, false, false, false]);
  expect(isLearnable(`ARGS:${'a'.repeat(200)}`)).toBe(false);
});

test('only paths with one reading are those of a rule', () => {
  expect(plainPath('/a/b?c')).toBe('/a/b');
  for (const path of ['/a//b', '/a/../b', '/a/.', '/a%2fb', '/a;b', '/a\\b', 'a']) {
    expect(plainPath(path)).toBeNull();
  }
  expect(pathPattern('/posts/4711/edit')).toBe('/posts/{value}/edit');
});

test('a rule holds for its method and path until its end', () => {
  const rule = { method: 'POST', path: '/posts/{value}', name: 'ARGS:content', family: 'html' };
  const site = new SiteContent([{ ...rule, family: 'html', endsAtMs: 1_000 }], []);
  expect(site.of('POST', '/posts/42?x=1', 999)).toEqual(learned);
  for (const [method, target, atMs] of [
    ['PUT', '/posts/42', 999],
    ['POST', '/posts/all', 999],
    ['POST', '/posts/42/more', 999],
    ['POST', '/posts/%34%32', 999],
    ['POST', '/posts/42', 1_000],
  ] as const) {
    expect(site.of(method, target, atMs)).toEqual([]);
  }
});
