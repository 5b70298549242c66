/** Tests tables and JSON. */

import { expect, test } from 'vitest';
import { createOutput, renderTable } from './output.ts';

test('columns line up and control characters never reach the terminal', () => {
  const text = renderTable({
    columns: ['ID', 'NAME'],
    rows: [
      ['1', 'a\u001b[31mred'],
      ['22', 'b'],
    ],
  });
  expect(text).toBe('ID  NAME\n1   a [31mred\n22  b\n');
});

test('64-bit integers become decimal strings', () => {
  let text = '';
  const output = createOutput('json', (part) => {
    text += part;
  });
  output.line('for people');
  output.result({ revision: 2n ** 60n }, { columns: [], rows: [] });
  expect(JSON.parse(text)).toEqual({ revision: '1152921504606846976' });
});

test.each([
  ['a terminal', true],
  ['a pipe', false],
])('long cells on %s', (_where, isTerminal) => {
  let text = '';
  const reason = `${'reason '.repeat(200)}end`;
  const write = (part: string): void => void (text += part);
  const output = createOutput('table', write, write, undefined, isTerminal);
  output.result(
    {},
    {
      columns: ['REASON', 'N'],
      rows: [
        [reason, '1'],
        ['b', '2'],
      ],
    },
  );
  expect(text.includes(reason)).toBe(!isTerminal);
  expect(text.includes('…')).toBe(isTerminal);
  // A long cell does not widen the rows of others.
  expect(text.split('\n')[2]!.length).toBeLessThan(1_000);
});
