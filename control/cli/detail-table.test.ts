/** All settings of one resource as a table: nothing of them is left out or cut. */

import { expect, test } from 'vitest';
import { commandLineLimits } from '../limits/command-limits.ts';
import { detailTable } from './detail-table.ts';
import { renderTable } from './output.ts';

test('each field has a row, by the path that masks use', () => {
  const site = {
    name: 'shop',
    waf: { enabled: true, mode: 'WAF_MODE_BLOCKING' },
    aliases: ['a.test', 'b.test'],
    upstreams: [{ inline: { url: 'http://10.0.0.1', weight: 2 } }, { poolId: 'p' }],
  };
  expect(detailTable(site)).toMatchObject({
    columns: ['SETTING', 'VALUE'],
    rows: [
      ['name', 'shop'],
      ['waf.enabled', 'true'],
      ['waf.mode', 'WAF_MODE_BLOCKING'],
      ['aliases', 'a.test, b.test'],
      ['upstreams[0].inline.url', 'http://10.0.0.1'],
      ['upstreams[0].inline.weight', '2'],
      ['upstreams[1].poolId', 'p'],
    ],
  });
});

test('no item of a long list is cut', () => {
  const items = Array.from({ length: 300 }, (_, index) => `application/type-${index}`);
  const { rows } = detailTable({ types: items });
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.map(([path]) => path)).toEqual(['types', ...rows.slice(1).map(() => '')]);
  expect(rows.flatMap(([, line = '']) => line.split(', '))).toEqual(items);
  for (const [, line = ''] of rows) {
    expect(line.length).toBeLessThan(commandLineLimits.cellCharactersMax);
  }
});

test('a value is shown whole where a cell of another table would be cut', () => {
  const url = `https://origin.test/${'a'.repeat(commandLineLimits.cellCharactersMax)}`;
  expect(renderTable(detailTable({ url }))).toContain(url);
  const huge = 'b'.repeat(commandLineLimits.detailCharactersMax + 1);
  expect(renderTable(detailTable({ huge }))).toMatch(/b…\n$/);
});
