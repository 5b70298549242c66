/** Values that schemas list or divide are held to their decimals, past double precision too. */

import { expect, test } from 'vitest';
import { Re2 } from '../../native-bindings/re2/re2.ts';
import { SchemaCompiler } from '../../control/documents/schema-compiler.ts';
import { loadChecks, type ApiCheck } from '../../engine/base/check-code.ts';
import { BodyChecks } from '../../engine/schema/body-checks.ts';
import { operation, parameter } from '../../engine/schema/fixture.ts';
import { ParameterChecks } from '../../engine/schema/parameter-checks.ts';
import { viewOf } from '../support/request-view.ts';

const listed = { enum: [0.1, 42, 9007199254740992] };

test.each([
  ['enum', listed, '0.1', true],
  ['enum', listed, '0.10', true],
  ['enum', listed, '0.1000000000000000055511', false],
  ['enum', listed, '42.00000000000000000001', false],
  ['enum', listed, '9007199254740992', true],
  ['enum', listed, '9007199254740993', false],
  ['const', { const: 100.5 }, '100.50', true],
  ['const', { const: 100.5 }, '100.50000000000000000001', false],
  ['const', { const: 100.5 }, '100.49999999999999999999', false],
  ['const', { const: 9007199254740992 }, '9007199254740993', false],
  ['multipleOf', { multipleOf: 0.01 }, '19.99', true],
  ['multipleOf', { multipleOf: 0.01 }, '0.07', true],
  ['multipleOf', { multipleOf: 0.01 }, '0.070000000000000000001', false],
  ['multipleOf', { multipleOf: 0.01 }, '19.990000000000000000001', false],
  ['multipleOf', { multipleOf: 2 }, '9007199254740992', true],
  ['multipleOf', { multipleOf: 2 }, '9007199254740993', false],
  ['multipleOf', { multipleOf: 5 }, '100.00000000000000000001', false],
] as const)('%s %j and the number %s: %s', (_keyword, schema, text, valid) => {
  const check = checkOf({ type: 'number', ...schema });
  const shape = { kind: 'scalar', types: ['number'] } as const;
  const spec = operation('GET', '/a', {
    parameters: [parameter('query', 'n', { shape, check: 0 })],
  });
  expect(new ParameterChecks(spec, () => check).checkQuery(`n=${text}`) === null).toBe(valid);
  expect(findingOfJson(check, text) === null).toBe(valid);
});

function checkOf(schema: object): ApiCheck {
  const document = { components: { schemas: { Value: schema } } };
  const options = { dialect: '2020-12', openApi: true, formats: true } as const;
  const compiler = new SchemaCompiler(document, options);
  const { check, faults } = compiler.add({ $ref: '#/components/schemas/Value' }, '/body');
  expect([check, faults]).toEqual([0, []]);
  return loadChecks(compiler.code(), (source) => new Re2(source, 'text'))[0]!;
}

function findingOfJson(check: ApiCheck, text: string): unknown {
  const json = { range: 'application/json', kind: 'json', check: 0, pointer: '/json' } as const;
  const checks = new BodyChecks({ required: true, media: [json], pointer: '' }, () => check);
  const fields = ['Content-Type: application/json', `Content-Length: ${text.length}`];
  const head = checks.checkHead(viewOf({ method: 'POST', fields }), true);
  if (head === null || !('media' in head)) throw new Error('the body is not looked at');
  return checks.checkContent(head, Buffer.from(text));
}
