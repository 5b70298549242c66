/**
 * The table of requirements: each sentence on the product names the test that holds it. A test that
 * is renamed, removed or switched off leaves its sentence without proof, which is an error here.
 */

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { faultOf, readRequirements, Sources } from './requirements.ts';
import { declaredTests } from './titles.ts';

const table = readFileSync(new URL('requirements.jsonl', import.meta.url), 'utf8');
const rows = readRequirements(table);
const sources = new Sources();

describe('requirements', () => {
  let ran = 0;
  test.each(rows)('$id: $requirement', (row) => {
    expect(faultOf(row, sources)).toBeUndefined();
    ran++;
  });

  test('stand once, each with an id of its own, in one sentence', () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(new Set(rows.map(({ requirement }) => requirement)).size).toBe(rows.length);
    for (const { id, requirement } of rows) {
      expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      expect(requirement).not.toMatch(/\.$/);
    }
  });

  test('every row of the table ran', () => {
    expect(ran).toBe(table.trimEnd().split('\n').length);
  });
});

const source = `
test('runs', () => undefined);
test.skip('skipped', () => undefined);
test.todo('later');
test.skipIf(missing)('where it is there', () => undefined);
describe('a group', () => {
  test.each([['a case']])('%s of a table', () => undefined);
  describe.skip('within', () => void it('anything', () => undefined));
});
describe.skipIf(missing).each(folders)('%s', () => {
  it.fails('the other way around', () => undefined);
});
for (const name of names) test(name, () => undefined);
test(\`\${name}: made\`, () => undefined);
`;

test('titles are read as they stand, with what never runs', () => {
  expect(declaredTests('a.test.ts', source)).toEqual([
    { title: 'runs', idle: false },
    { title: 'skipped', idle: true },
    { title: 'later', idle: true },
    { title: 'where it is there', idle: false },
    { title: 'a group > %s of a table', idle: false },
    { title: 'a group > within > anything', idle: true },
    { title: '%s > the other way around', idle: true },
    { title: '${name}: made', idle: false },
  ]);
});

test('a row without proof is found', () => {
  const here = 'test/requirements/requirements.test.ts';
  const good = { id: 'a', requirement: 'A', file: here, title: 'a row without proof is found' };
  const faults = (change: object): string | undefined => faultOf({ ...good, ...change }, sources);
  expect(faults({})).toBeUndefined();
  expect(faults({ case: 'A' })).toBeUndefined();
  expect(faults({ title: 'a row that was renamed' })).toMatch(/has no test/);
  expect(faults({ file: 'test/requirements/gone.test.ts' })).toMatch(/has no test/);
  expect(faults({ file: 'test/requirements/titles.ts' })).toMatch(/no file of tests/);
  expect(faults({ case: ['no', 'such', 'case'].join(' ') })).toMatch(/has no case/);
  expect(faults({ table: 'test/backends/bed.ts' })).toMatch(/does not read/);
  expect(faults({ table: 'test/requirements/titles.ts', case: 'suite' })).toBeUndefined();
  expect(() => readRequirements('{"id":"a","file":"b","title":"c"}')).toThrow(
    'line 1: requirement',
  );
  expect(() => readRequirements('{"id":1}')).toThrow('line 1: id, requirement, file, title');
});
