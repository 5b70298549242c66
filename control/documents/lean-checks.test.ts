/** Proof that the shorter text of checks says what the compiler's text says, of every value. */

import { expect, test } from 'vitest';
import { Re2 } from '../../native-bindings/re2/re2.ts';
import { loadChecks, type ApiCheck } from '../../engine/base/check-code.ts';
import { readCorpus } from '../../test/seclang/corpus.ts';
import { SchemaCompiler, type CompilerOptions } from './schema-compiler.ts';
import type { Dialect } from './schema-keywords.ts';

interface Group {
  readonly draft: 'draft4' | 'draft7' | 'draft2020-12';
  readonly schema: unknown;
  readonly tests: readonly { readonly data: unknown }[];
}

const dialects: Readonly<Record<Group['draft'], Dialect>> = {
  draft4: 'draft4',
  draft7: 'draft7',
  'draft2020-12': '2020-12',
};
const corpus = readCorpus<Group>('json-schema.jsonl');

function compiled(schema: unknown, change: Partial<CompilerOptions> = {}): SchemaCompiler {
  const options = { dialect: '2020-12', openApi: false, formats: true, ...change } as const;
  const compiler = new SchemaCompiler(schema, options);
  compiler.add(schema, '');
  return compiler;
}

function load(code: string): ApiCheck | undefined {
  return loadChecks(code, (source) => new Re2(source, 'text'))[0];
}

/** Whether a value is valid, and what is wrong first, in the order in which it was found. */
function verdict(check: ApiCheck, value: unknown): unknown {
  if (check(value)) return 'valid';
  return check.errors?.map(({ keyword, schemaPath }) => `${keyword} ${schemaPath}`);
}

test.skipIf(corpus === null)(
  'every value of the JSON Schema suite is judged as by the text of the compiler',
  () => {
    const values = (corpus ?? []).flatMap(({ tests }) => tests.map(({ data }) => data));
    // Each schema gets its own values and some of others.
    const step = 61;
    const differing: unknown[] = [];
    let compared = 0;
    let characters: readonly [number, number] = [0, 0];
    for (const [at, { draft, schema, tests }] of (corpus ?? []).entries()) {
      const compiler = compiled(schema, { dialect: dialects[draft] });
      const [plainCode, leanCode] = [compiler.plainCode(), compiler.code()];
      const [plain, lean] = [load(plainCode), load(leanCode)];
      if (plain === undefined || lean === undefined) continue;
      characters = [characters[0] + plainCode.length, characters[1] + leanCode.length];
      const others = values.filter((_one, index) => index % step === at % step);
      for (const value of [...tests.map(({ data }) => data), ...others]) {
        compared++;
        const [left, right] = [verdict(plain, value), verdict(lean, value)];
        if (JSON.stringify(left) !== JSON.stringify(right))
          differing.push(schema, value, left, right);
      }
    }
    expect(differing.slice(0, 8)).toEqual([]);
    expect(compared).toBeGreaterThan(20_000);
    expect(characters[1]).toBeLessThan(0.75 * characters[0]);
  },
);

/** Texts that look like code, and like literals that were set aside. */
const traps = [
  '{instancePath,schemaPath:',
  ',keyword:',
  'const schema0 = 1;',
  ';if(errors === 0){}',
  'let errors = 0;',
  '"0"',
  '\\"7\\"',
  'else {}',
  '$1',
  '$&',
  'var valid0 = true;',
  'return errors === 0;',
  ' || (!(func0.call(data, "constructor")))',
  '\u2028\u2019\ud83d\ude00é',
];

test('texts of a document are never taken for code', () => {
  const properties = Object.fromEntries(traps.map((name) => [name, { enum: [...traps, name] }]));
  const schema = {
    type: 'object',
    required: traps,
    properties: { ...properties, nested: { anyOf: traps.map((text) => ({ const: text })) } },
    additionalProperties: false,
  };
  const compiler = compiled(schema);
  const [plain, lean] = [load(compiler.plainCode())!, load(compiler.code())!];
  const all = Object.fromEntries(traps.map((name) => [name, name]));
  expect(lean(all)).toBe(true);
  for (const name of traps) {
    const { [name]: _left, ...missing } = all;
    for (const value of [missing, { ...all, [name]: `${name} ` }, { ...all, nested: `${name} ` }]) {
      expect(lean(value)).toBe(false);
      expect(verdict(lean, value)).toEqual(verdict(plain, value));
    }
    expect(lean({ ...all, nested: name })).toBe(true);
  }
});

test('names that every object inherits are asked of the object itself', () => {
  const names = Object.getOwnPropertyNames(Object.prototype);
  const anything = {};
  const required = load(compiled({ required: [...names, 'plain'] }).code())!;
  const all = JSON.parse(
    `{${[...names, 'plain'].map((name) => `"${name}":1`).join(',')}}`,
  ) as object;
  expect(required(all)).toBe(true);
  expect(required(anything)).toBe(false);
  for (const name of names) {
    const one = load(compiled({ properties: { [name]: { type: 'string' } } }).code());
    // `__proto__` of a literal is no property; the others are.
    if (name === '__proto__') continue;
    expect([name, one!(anything)]).toEqual([name, true]);
    expect([name, one!(JSON.parse(`{"${name}":1}`))]).toEqual([name, false]);
  }
});

test('a text of many fields is half as long, and asks nothing twice', () => {
  const fields = Array.from({ length: 40 }, (_one, at) => `field${at}`);
  const field = { type: 'string', minLength: 1, maxLength: 3 };
  const schema = {
    type: 'object',
    required: fields,
    properties: Object.fromEntries(fields.map((name) => [name, field])),
  };
  const compiler = compiled(schema);
  const code = compiler.code();
  expect(code.length).toBeLessThan(compiler.plainCode().length / 2);
  expect(code).not.toMatch(/instancePath|params|func\d+\.call|const schema\d/);
  const check = load(code)!;
  const all = Object.fromEntries(fields.map((name) => [name, 'abc']));
  // Characters count, not code units.
  const rows = { abc: true, '': false, abcd: false, '\ud83d\ude00': true } as const;
  for (const [text, valid] of Object.entries(rows)) {
    expect([text, check({ ...all, field7: text })]).toEqual([text, valid]);
  }
  expect(check({ ...all, field7: '\ud83d\ude00'.repeat(3) })).toBe(true);
  expect(check({ ...all, field7: '\ud83d\ude00'.repeat(4) })).toBe(false);
});
