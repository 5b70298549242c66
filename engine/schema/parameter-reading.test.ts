/** Proof of how texts are taken apart: a row for each style, explode and shape, and each fault. */

import { expect, test } from 'vitest';
import type { ApiParameterStyle, ApiScalar, ApiTextShape } from '../contract/api-checks.ts';
import { decodeForm, decodePercent, fromUtf8 } from './pairs.ts';
import { readTexts } from './parameter-reading.ts';

const scalar = (...types: ApiScalar[]): ApiTextShape => ({ kind: 'scalar', types });
const list = (items: ApiScalar): ApiTextShape => ({ kind: 'array', items });
const color: ApiTextShape = {
  kind: 'object',
  properties: { R: 'integer', G: 'integer' },
  additional: 'string',
};
const decoders = { path: decodePercent, query: decodeForm, header: fromUtf8 };

type Row = readonly [
  says: string,
  place: keyof typeof decoders,
  style: ApiParameterStyle,
  explode: boolean,
  shape: ApiTextShape,
  raws: readonly string[],
  expected: unknown,
];

const rows: readonly Row[] = [
  ['a text', 'path', 'simple', false, scalar('string'), ['a%20b'], ['a b']],
  ['a plus is a plus in a path', 'path', 'simple', false, scalar('string'), ['a+b'], ['a+b']],
  ['a plus is a space in a query', 'query', 'form', true, scalar('string'), ['a+b'], ['a b']],
  [
    'an escape in a header is a text',
    'header',
    'simple',
    false,
    scalar('string'),
    ['%41'],
    ['%41'],
  ],
  ['text in UTF-8', 'query', 'form', true, scalar('string'), ['%C3%A4'], ['ä']],
  ['text that is not UTF-8', 'query', 'form', true, scalar('string'), ['%FF'], 'encoding'],
  ['a broken escape', 'query', 'form', true, scalar('string'), ['%4'], 'encoding'],
  ['an escape is decoded once', 'query', 'form', true, scalar('string'), ['%2541'], ['%41']],
  ['a whole number', 'query', 'form', true, scalar('integer'), ['42'], [42]],
  ['a negative whole number', 'query', 'form', true, scalar('integer'), ['-42'], [-42]],
  ['a leading zero is no number', 'query', 'form', true, scalar('integer'), ['042'], ['042']],
  ['a plus sign is no number', 'query', 'form', true, scalar('integer'), ['%2B4'], ['+4']],
  ['hexadecimal is no number', 'query', 'form', true, scalar('integer'), ['0x1F'], ['0x1F']],
  ['a fraction is no whole number', 'query', 'form', true, scalar('integer'), ['4.5'], ['4.5']],
  ['blanks around are no number', 'query', 'form', true, scalar('integer'), ['+4'], [' 4']],
  ['an empty text is no number', 'query', 'form', true, scalar('integer'), [''], ['']],
  ['a number', 'query', 'form', true, scalar('number'), ['-1.5e3'], [-1500]],
  ['words are no numbers', 'query', 'form', true, scalar('number'), ['Infinity'], ['Infinity']],
  ['NaN is no number', 'query', 'form', true, scalar('number'), ['NaN'], ['NaN']],
  ['true', 'query', 'form', true, scalar('boolean'), ['true'], [true]],
  ['other spellings are texts', 'query', 'form', true, scalar('boolean'), ['True'], ['True']],
  ['one is not true', 'query', 'form', true, scalar('boolean'), ['1'], ['1']],
  ['null', 'query', 'form', true, scalar('null'), ['null'], [null]],
  ['two types', 'query', 'form', true, scalar('integer', 'string'), ['7'], [7, '7']],
  ['a scalar twice', 'query', 'form', true, scalar('string'), ['a', 'b'], 'duplicate'],
  ['simple list', 'path', 'simple', false, list('integer'), ['3,4'], [[3, 4]]],
  ['simple list, exploded', 'path', 'simple', true, list('integer'), ['3,4'], [[3, 4]]],
  ['an escaped comma is data', 'path', 'simple', false, list('string'), ['a%2Cb'], [['a,b']]],
  ['list in a header with blanks', 'header', 'simple', false, list('integer'), ['3, 4'], [[3, 4]]],
  ['label', 'path', 'label', false, scalar('integer'), ['.5'], [5]],
  ['label without its dot', 'path', 'label', false, scalar('integer'), ['5'], 'style'],
  ['label list', 'path', 'label', false, list('integer'), ['.3,4'], [[3, 4]]],
  ['label list, exploded', 'path', 'label', true, list('integer'), ['.3.4'], [[3, 4]]],
  ['matrix', 'path', 'matrix', false, scalar('integer'), [';id=5'], [5]],
  ['matrix of another name', 'path', 'matrix', false, scalar('integer'), [';no=5'], 'style'],
  ['matrix list', 'path', 'matrix', false, list('integer'), [';id=3,4'], [[3, 4]]],
  ['matrix list, exploded', 'path', 'matrix', true, list('integer'), [';id=3;id=4'], [[3, 4]]],
  ['form list', 'query', 'form', false, list('integer'), ['3,4'], [[3, 4]]],
  ['form list twice', 'query', 'form', false, list('integer'), ['3', '4'], 'duplicate'],
  ['form list, exploded', 'query', 'form', true, list('integer'), ['3', '4'], [[3, 4]]],
  ['form list of one', 'query', 'form', true, list('integer'), ['3'], [[3]]],
  ['an exploded list has no commas', 'query', 'form', true, list('integer'), ['3,4'], [['3,4']]],
  ['blanks', 'query', 'spaceDelimited', false, list('integer'), ['3%204'], [[3, 4]]],
  ['blanks as plus', 'query', 'spaceDelimited', false, list('integer'), ['3+4'], [[3, 4]]],
  ['bars', 'query', 'pipeDelimited', false, list('integer'), ['3|4'], [[3, 4]]],
  ['escaped bars', 'query', 'pipeDelimited', false, list('integer'), ['3%7C4'], [[3, 4]]],
  ['bars, exploded', 'query', 'pipeDelimited', true, list('integer'), ['3', '4'], [[3, 4]]],
  ['simple object', 'path', 'simple', false, color, ['R,1,G,2'], [{ R: 1, G: 2 }]],
  ['simple object, exploded', 'path', 'simple', true, color, ['R=1,G=2'], [{ R: 1, G: 2 }]],
  ['an object with a name left over', 'path', 'simple', false, color, ['R,1,G'], 'style'],
  ['an object without equals', 'path', 'simple', true, color, ['R,1'], 'style'],
  ['a property twice', 'path', 'simple', false, color, ['R,1,R,2'], 'duplicate'],
  ['a property of another type', 'path', 'simple', false, color, ['R,x'], [{ R: 'x' }]],
  ['a property that is not declared', 'path', 'simple', false, color, ['Q,1'], [{ Q: '1' }]],
  ['label object', 'path', 'label', false, color, ['.R,1,G,2'], [{ R: 1, G: 2 }]],
  ['label object, exploded', 'path', 'label', true, color, ['.R=1.G=2'], [{ R: 1, G: 2 }]],
  ['matrix object', 'path', 'matrix', false, color, [';id=R,1,G,2'], [{ R: 1, G: 2 }]],
  ['matrix object, exploded', 'path', 'matrix', true, color, [';R=1;G=2'], [{ R: 1, G: 2 }]],
  ['form object', 'query', 'form', false, color, ['R,1,G,2'], [{ R: 1, G: 2 }]],
  ['an object in bars', 'query', 'pipeDelimited', false, color, ['R|1|G|2'], [{ R: 1, G: 2 }]],
  ['JSON', 'query', 'form', true, { kind: 'json' }, ['%7B%22a%22%3A1%7D'], [{ a: 1 }]],
  ['broken JSON', 'query', 'form', true, { kind: 'json' }, ['%7B'], 'malformed'],
  ['JSON, a member twice', 'query', 'form', true, { kind: 'json' }, ['{"a":1,"a":2}'], 'duplicate'],
  ['what has no one reading', 'query', 'form', true, { kind: 'unread' }, ['a'], []],
];

test.each(rows)('%s', (_, place, style, explode, shape, raws, expected) => {
  const found = readTexts('id', { style, explode, shape }, raws, decoders[place]);
  if (typeof expected === 'string') expect(found).toEqual({ fault: expected });
  else expect(JSON.parse(JSON.stringify(found))).toEqual({ values: expected });
});

test('names of the client inherit nothing', () => {
  const found = readTexts(
    'id',
    { style: 'simple', explode: false, shape: color },
    ['__proto__,1,constructor,2'],
    decodePercent,
  );
  const [object] = 'values' in found ? found.values : [];
  expect(Object.getPrototypeOf(object)).toBeNull();
  expect(Object.keys(object as object)).toEqual(['__proto__', 'constructor']);
});
