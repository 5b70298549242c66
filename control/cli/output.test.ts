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
