/**
 * Proves that values are kept from libinjection only where it finds nothing: the scan's test for
 * SQL injection against the library's own answer, on rows of names, of words of SQL and of attacks.
 */
import { expect, test } from 'vitest';
import { detectSqli } from './injection.ts';
import { ScanProgram } from './scan-program.ts';

const names = ['shop', 'Garden', 'x', 'blue_1', 'paper', 'a2', 'waterproofedgreenhouses', 'zqv'];
const sql = [
  ...['union', 'all', 'select', 'from', 'or', 'AND', 'not', 'in', 'is', 'null', 'like', 'sleep'],
  ...['group', 'by', 'order', 'having', 'where', 'insert', 'into', 'exec', 'drop', 'table', 'if'],
  ...['user', 'waitfor', 'delay', 'cross', 'join', 'current', 'date', 'partition', 'at', 'time'],
  ...['procedure', 'analyze', 'e', 'x', 'n', 'b', 'q', 'u', 'div', 'between', 'collate', 'sounds'],
];
const rests = [
  ...['', ' ', '1', "'1", "' or 1=1 -- ", '" or "1"="1', '; drop table users', '=1 or 2=2', '(1)'],
  ...[' union select 1,2 from t', '--', '#', '/*', ',1', '.b', '\\', '`', '\xa0or 1', '\tor 1=1'],
  ...["x'41'", '||1', ' 1e1 or 1', '@@version', 'waitfor delay 1', '\nunion select 1', '-1'],
  'a'.repeat(40),
];

/** Row numbers of values that the scan takes for SQL injection. */
function scanAll(values: readonly string[]): number[] {
  const program = new ScanProgram({
    nodes: Int32Array.of(-1, -1),
    databases: [],
    classes: [
      {
        chains: Int32Array.of(0),
        patterns: new Int32Array(0),
        tiers: [],
        tests: [{ kind: 'sqli', chain: 0, targetId: 0, negated: false, skipMask: 0 }],
      },
    ],
  });
  const slab = Buffer.from(values.join(''), 'latin1');
  let end = 0;
  const rows = values.flatMap((value) => [end, (end += value.length), 0]);
  const hits = new Int32Array(2 * values.length);
  const found = program.scan(slab, Int32Array.from(rows), values.length, hits);
  program.close();
  return Array.from({ length: found }, (_, at) => hits[2 * at + 1]!).sort((a, b) => a - b);
}

/** Every value of some words of the list and one rest, drawn by a fixed sequence. */
function draw(count: number, words: readonly string[]): string[] {
  let state = 1;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  return Array.from({ length: count }, () => {
    const list = Array.from({ length: below(9) }, () => {
      // Most words are names, so that words of SQL stand at every place between them.
      return below(3) === 0 ? words[below(words.length)]! : names[below(names.length)]!;
    });
    return list.join([' ', '  ', '.', ' '][below(4)]) + rests[below(rests.length)]!;
  });
}

test.each([
  ['names alone', 20_000, names],
  ['names and words of SQL', 150_000, sql],
])('%s: the scan answers as libinjection does', (_title, count, words) => {
  const values = draw(count, words);
  const expected = values.flatMap((value, row) => (detectSqli(value) === null ? [] : [row]));
  expect(expected.length).toBeGreaterThan(count / 100);
  expect(scanAll(values)).toEqual(expected);
});

test('every two words of SQL after names, and before them', () => {
  const values = sql.flatMap((one) => {
    return sql.flatMap((two) => [`shop ${one} ${two}`, `${one} ${two} 1`, `1 ${one} ${two} shop`]);
  });
  const expected = values.flatMap((value, row) => (detectSqli(value) === null ? [] : [row]));
  expect(expected.length).toBeGreaterThan(20);
  expect(scanAll(values)).toEqual(expected);
});
