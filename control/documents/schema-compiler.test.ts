/** Checks of recursive schemas end in time, whatever the value is. */

import { expect, test } from 'vitest';
import { Re2 } from '../../native-bindings/re2/re2.ts';
import { loadChecks, type ApiCheck } from '../../engine/base/check-code.ts';
import { schemaLimits } from '../../base/schema-limits.ts';
import { SchemaCompiler } from './schema-compiler.ts';
import type { Dialect } from './schema-keywords.ts';

const node = { $ref: '#/components/schemas/Node' };

function checkOf(schema: object, dialect: Dialect): ApiCheck {
  const document = { components: { schemas: { Node: schema } } };
  const compiler = new SchemaCompiler(document, { dialect, openApi: true, formats: true });
  const { check, faults } = compiler.add(node, '/body');
  expect([check, faults]).toEqual([0, []]);
  return loadChecks(compiler.code(), (source) => new Re2(source, 'text'))[0]!;
}

/** Objects in each other, the innermost with `leaf`. */
function nested(depth: number, leaf: object): unknown {
  let value = leaf;
  for (let at = 0; at < depth; at++) value = { child: value };
  return value;
}

/** Both alternatives look at the child: twice the work at each level. */
const alternatives = (keyword: string): object => ({
  type: 'object',
  [keyword]: [
    { properties: { child: node, leaf: { type: 'string' } } },
    { properties: { child: node, leaf: { type: 'boolean' } } },
  ],
});

test.each(['draft4', '2020-12'] as const)(
  'alternatives that refer to themselves, %s',
  (dialect) => {
    const leaves = { anyOf: { leaf: 1 }, oneOf: { leaf: 1 }, allOf: {} };
    for (const [keyword, leaf] of Object.entries(leaves)) {
      const check = checkOf(alternatives(keyword), dialect);
      const deep = nested(schemaLimits.jsonDepthMax, leaf);
      expect(() => check(deep)).toThrow('too many calls');
      // The next value is counted anew.
      expect(check(nested(3, leaf))).toBe(keyword === 'allOf');
    }
    const any = checkOf(alternatives('anyOf'), dialect);
    expect([any(nested(3, { leaf: true })), any.errors]).toEqual([true, null]);
  },
);

test.each(['draft4', '2020-12'] as const)(
  'a long list of nodes is checked whole, %s',
  (dialect) => {
    const schema = {
      type: 'object',
      properties: { children: { type: 'array', items: node }, name: { type: 'string' } },
    };
    const check = checkOf(schema, dialect);
    const count = schemaLimits.jsonNodesMax;
    const children = Array.from({ length: count }, () => ({ name: 'a' }));
    expect(check({ children })).toBe(true);
    expect(check({ children: [...children.slice(1), { name: 1 }] })).toBe(false);
  },
);
