/** What counts as a function, and as a return to a file. */

import { expect, test } from 'vitest';
import { countCalls, instrument, type CountedFunction } from './count-calls.ts';

const source = `export function one(): number {
  return two((value) => value + 1);
}
const two = (work: (value: number) => number): number => work(1);
class Three {
  constructor() {}
  get four() { return () => ({ five: 5 }); }
}
declare function six(): void;
`;

test('every function with a body calls the recorder first, and nothing else changes', () => {
  const known: CountedFunction[] = [];
  const text = instrument('a.ts', source, known);
  expect(known.map(({ name, line }) => `${name} ${line}`)).toEqual([
    ...['one 1', '(anonymous) 2', 'two 4', 'constructor 6', 'four 7', '(anonymous) 7'],
  ]);
  expect(text.replaceAll(/__enter\(\d+\);|\(__enter\(\d+\), (.*?)\)(?=[,;)]|$)/gm, '$1')).toBe(
    source,
  );
  expect(text).toContain('export function one(): number {__enter(0);');
  expect(text).toContain('return two((value) => (__enter(1), value + 1));');
  expect(text).toContain('get four() {__enter(4); return () => (__enter(5), ({ five: 5 })); }');
});

test('a call that leads back into a file that was left is a return', () => {
  const known = ['a.ts', 'a.ts', 'b.ts', 'c.ts'].map((file) => ({ file, name: '', line: 1 }));
  expect(countCalls([0, 1, 2, 0, 3, 2, 2], known)).toEqual({
    calls: 7,
    functions: 4,
    files: 3,
    returns: 2,
  });
});
