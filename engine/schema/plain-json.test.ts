/** A document with a member twice is never read, whatever its layout is; all others are. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { schemaLimits } from '../../base/schema-limits.ts';
import { readPlainJson, type PlainJson } from './plain-json.ts';

const read = (text: string): PlainJson => readPlainJson(Buffer.from(text, 'utf8'));

/** A value as its parts, so that a member can come twice. */
type Part = string | readonly Part[] | { readonly members: readonly (readonly [string, Part])[] };

/** A scalar stands as its text. */
const scalar = fc.constantFrom(
  ...['0', '-0', '1', '-1', '9', '10', '100', '1000', '1e3', '15e4', '150000', '1.0', '0.5'],
  ...['1E1', '1e-7', '3.14', '9007199254740993', '1e999', '12345678901234567890', '-10', '1e2'],
  ...['true', 'false', 'null', '""', '"a"', '"\u00e9\ud83d\ude00"', '"\\u0061"', '"\\n"', '":,"'],
);
const name = fc.constantFrom(
  '',
  'a',
  'b',
  '__proto__',
  'constructor',
  '7',
  'é',
  '\u2028',
  '"',
  ':',
);
const { part } = fc.letrec<{ part: Part }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie('part'), { maxLength: 4 }),
    fc.record({ members: fc.array(fc.tuple(name, tie('part')), { maxLength: 4 }) }),
  ),
}));

/** How a text is laid out: a blank after a separator, or not; names escaped, or not. */
interface Layout {
  readonly blank: '' | ' ';
  readonly escaped: boolean;
}

function textOf(one: Part, layout: Layout): string {
  if (typeof one === 'string') return one;
  const { blank } = layout;
  if ('members' in one) {
    const members = one.members.map(
      ([key, value]) => `${nameText(key, layout)}:${blank}${textOf(value, layout)}`,
    );
    return `{${members.join(`,${blank}`)}}`;
  }
  return `[${one.map((item) => textOf(item, layout)).join(`,${blank}`)}]`;
}

function nameText(key: string, { escaped }: Layout): string {
  if (!escaped) return JSON.stringify(key);
  const unit = (at: number): string => `\\u${key.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return `"${Array.from({ length: key.length }, (_one, at) => unit(at)).join('')}"`;
}

function hasTwice(one: Part): boolean {
  if (typeof one === 'string') return false;
  if (!('members' in one)) return one.some(hasTwice);
  const names = new Set(one.members.map(([key]) => key));
  return names.size < one.members.length || one.members.some(([, value]) => hasTwice(value));
}

test('a member twice is found in every layout, and nothing else is taken for one', () => {
  let twice = 0;
  const layouts = fc.record<Layout>({
    blank: fc.constantFrom('', '', ' '),
    escaped: fc.constantFrom(false, false, true),
  });
  const property = fc.property(part, layouts, (one, layout) => {
    const text = textOf(one, layout);
    const expected = hasTwice(one)
      ? { fault: 'duplicate' }
      : { value: JSON.parse(text) as unknown };
    if (hasTwice(one)) twice++;
    expect(read(text)).toEqual(expected);
  });
  fc.assert(property, { numRuns: 20_000 });
  expect(twice).toBeGreaterThan(500);
});

test.each([
  '{"":0,"":0}',
  '{"":1e9,"":1000000000}',
  '{"a":1000,"a":1e3}',
  '[{"":[],"":[]}]',
  '{"":{"":1},"":{"":2}}',
  '{"a":12345678901234567890,"a":1}',
])('the shortest member twice: %s', (text) => {
  expect(read(text)).toEqual({ fault: 'duplicate' });
});

test.each([
  ...['0', '-0', '1e0', '1E1', '10', '1e2', '100', '1e3', '12e2', '1e9', '15e4', '-1e5', '1e15'],
  ...['1e16', '1e99', '1e999', '9e15', '0.5', '5e-1', '1e-7', '1.5e1', '2.0', 'true', 'false'],
  ...['null', '""', '"\\n"', '"\u00e9"', '"\ud83d\ude00"', '[]', '{}', '{"":0}'],
])('many values in their shortest spelling hide no member twice: %s', (value) => {
  const many = `${value},`.repeat(100);
  expect(read(`[${many}{"":0,"":0}]`)).toEqual({ fault: 'duplicate' });
  expect(read(`[${many}{"":0}]`)).toHaveProperty('value');
});

test.each(['[', '{"":'])('too deep is not evaluated, within any container: %s', (open) => {
  const close = open === '[' ? ']' : '}';
  const nested = (depth: number): string =>
    `${open.repeat(depth - 1)}${open === '[' ? '[]' : '{}'}${close.repeat(depth - 1)}`;
  const most = schemaLimits.jsonDepthMax;
  expect(read(nested(most))).toHaveProperty('value');
  expect(read(nested(most + 1))).toEqual({ fault: 'depth' });
  expect(read(`[${nested(most)}]`)).toEqual({ fault: 'depth' });
  // Depth comes first, in well-formed texts and in others.
  expect(read(open.repeat(most + 1))).toEqual({ fault: 'depth' });
});

test('too many members and items are not evaluated, whatever their length', () => {
  const many = schemaLimits.jsonNodesMax + 2;
  expect(read(`[${'1,'.repeat(many)}1]`)).toEqual({ fault: 'size' });
  expect(read(`[${'1,'.repeat(many - 3)}1]`)).toHaveProperty('value');
  expect(read(`${','.repeat(many)}`)).toEqual({ fault: 'size' });
});
