/** YAML: faults are named by place, and what could cost much is refused before it is parsed. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AppError } from '../../base/errors.ts';
import { yamlLimits } from '../limits/resource-limits.ts';
import { readInputObject } from '../cli/input.ts';
import { readManifests } from '../cli/manifest/manifest-input.ts';
import { readYaml } from './yaml-text.ts';

function faultOf(text: string): string {
  try {
    readYaml(text, 'shop.yaml');
  } catch (error) {
    if (error instanceof AppError && error.code === 'yaml_invalid') return error.message;
    throw error;
  }
  return '';
}

const quote = (name: string): RegExp =>
  new RegExp(`is an alias of YAML, .*: write "\\*${name.replaceAll('.', '\\.')}"`);

test.each([
  ['a value', 'host: *.example\n', '1:7', quote('.example')],
  ['an item', 'a:\n  aliases:\n    - *.shop.example\n', '3:7', quote('.shop.example')],
  ['an item of a flow list', 'a: [x, *.example]\n', '1:8', quote('.example')],
  ['a key', '*.example : 1\n', '1:1', quote('.example')],
  ['a later document', 'a: 1\n---\nb: 2\n---\n\nhost: *x\n', '6:7', /document 3: .*"\*x"/],
  ['an anchor of another document', 'a: &x 1\n---\nb: *x\n', '2:4'.replace('2', '3'), /alias/],
  ['a star alone', 'host: *\n', '1:7', /is not valid YAML/],
  ['a list that does not end', 'a: [1,\n', '2:1', /is not valid YAML at line 2/],
  ['a tab', 'a:\n\tb: 1\n', '2:1', /is not valid YAML/],
  ['a quote that does not end', 'a: "x\n', '2:1', /is not valid YAML/],
  ['a key twice', 'a: 1\nb:\n  c: 1\n  c: 2\n', '4:3', /the key c comes twice/],
  ['a tag nobody knows', 'a: !!binary aGk=\n', '1:13', /is not read/],
  ['a tag of a date', 'a: !!timestamp 2001-01-01\n', '1:16', /is not read/],
  ['a tag of an application', 'a: !shop x\n', '1:4', /not valid YAML/],
  ['another version', '%YAML 1.1\n---\na: 2001-01-01\n', '1:1', /only %YAML 1.2/],
  ['a key that is no text', '? [a]\n: 1\n', '1:3', /a key must be text/],
  ['an alias inside its anchor', 'a: &x [*x]\n', '1:8', /inside its own anchor/],
  ['a number that is none', 'a: .nan\n', '1:4', /not finite/],
])('%s is refused at its place', (_name, text, place, problem) => {
  const message = faultOf(text);
  expect(message).toMatch(new RegExp(`^shop\\.yaml:${place}: `));
  expect(message).toMatch(problem);
});

const bomb = (levels: number): string =>
  Array.from(
    { length: levels },
    (_one, at) =>
      `a${at}: &a${at} [${
        at === 0
          ? 'x'
          : Array<string>(9)
              .fill(`*a${at - 1}`)
              .join(', ')
      }]`,
  ).join('\n');
const many = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_one, at) => line(at)).join('\n');

test.each([
  ['keys', many(yamlLimits.keysMax + 1, (at) => `k${at}: 1`), /more than 250000 keys/],
  ['keys of flow mappings', `{${many(250_001, (at) => `k${at}: 1,`)}}`, /250000 keys/],
  ['tokens', `[${'a,'.repeat(yamlLimits.tokensMax)}]`, /more than 2000000 tokens/],
  ['documents', '---\n'.repeat(1_002), /more than 1000 documents/],
  ['aliases', `a: &x 1\nb: [${'*x, '.repeat(101)}]`, /more than 100 aliases/],
  ['values that aliases repeat', bomb(8), /aliases repeat more than 500000 values/],
  ['lists in lists', '['.repeat(100_000), /nested deeper/],
  ['dashes', `${'- '.repeat(100_000)}a`, /nested deeper/],
  ['question marks', `${'? '.repeat(100_000)}a`, /nested deeper/],
  ['question marks on lines of their own', many(5_000, (at) => `${' '.repeat(at)}?`), /deeper/],
  ['indents', many(5_000, (at) => `${' '.repeat(at)}a:`), /nested deeper/],
  ['levels', `a: ${'['.repeat(70)}${']'.repeat(70)}`, /nested deeper than 64/],
  ['characters of a key', `${'k'.repeat(1_025)}: 1`, /not valid YAML|1024 characters/],
])('too many %s', (_name, text, problem) => {
  expect(faultOf(text)).toMatch(problem);
});

test('what is good is read as it stands', () => {
  const text = `a: &x {b: 1, "*.example": '*'}
list:
- *x
- - 1
  - "two: three"
text: |
  a: *b
  %c
JSON: {"k": [true, null, "x\\u0041"]}
# [[[[ a comment
---
---
# nothing here
---
c: "- - -"
`;
  const shared = { b: 1, '*.example': '*' };
  expect(readYaml(text, 'f')).toEqual([
    {
      number: 1,
      value: {
        a: shared,
        list: [shared, [1, 'two: three']],
        text: 'a: *b\n%c\n',
        JSON: { k: [true, null, 'xA'] },
      },
    },
    { number: 2, value: null },
    { number: 3, value: null },
    { number: 4, value: { c: '- - -' } },
  ]);
  expect(readYaml('', 'f').every(({ value }) => value === null)).toBe(true);
  expect(
    readYaml(
      many(200, (at) => `k${at}:\n  a: [1, 2]`),
      'f',
    ),
  ).toHaveLength(1);
});

test('commands name file, line and column of each file they read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'yaml-'));
  const good = join(folder, 'good.yaml');
  const bad = join(folder, 'bad.yaml');
  writeFileSync(good, 'a: 1\n');
  writeFileSync(bad, 'a: 1\nhost: *.example\n');
  const place = `${bad}:2:7: `;
  expect(() => readManifests({ file: [good, bad] })).toThrow(place);
  expect(() => readInputObject(bad)).toThrow(place);
  expect(readInputObject(good)).toEqual({ a: 1 });
  writeFileSync(good, '[1]');
  expect(() => readInputObject(good)).toThrow(`${good}:1:1: must hold one mapping`);
  rmSync(folder, { recursive: true });
});
