/** Every expectation of the guide on delivery that is built has rows of the chain, or tests. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { declaredTests } from '../requirements/titles.ts';
import { root } from '../support/product.ts';
import { chainGroups } from './chain-groups.ts';
import { ways } from './chain-row.ts';
import { edgeExpectations, edgeTests } from './edge-expectations.ts';

const rows = Object.values(chainGroups).flatMap((group) => group.rows);
const edgeRows = chainGroups['edge']!.rows;
const file = new URL('../../deploy/guides/delivery.md', import.meta.url);
const compared = readFileSync(file, 'utf8').split('## Compared with other proxies')[1] ?? '';
/** Cells of a line: the expectation, nginx, HAProxy, Caddy, here. */
const table = compared
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );

test.each(Object.entries(edgeExpectations))('%s: rows of the chain hold it', (_, begins) => {
  expect(begins).not.toBe('');
  expect(rows.filter(({ says }) => says.startsWith(begins)).length).toBeGreaterThan(0);
});

test.each(Object.entries(edgeTests))('%s: tests beside the chain hold it', (_, named) => {
  expect(named.length).toBeGreaterThan(0);
  for (const { file, title } of named) {
    const declared = declaredTests(file, readFileSync(path.join(root, file), 'utf8'));
    expect(declared).toContainEqual({ title, idle: false });
  }
});

test('the guide compares each of them, and says of all others that they are not built', () => {
  for (const cells of table) {
    expect(cells.length).toBe(5);
    expect(cells.every((cell) => cell !== '')).toBe(true);
  }
  const built = table.filter((cells) => !cells[4]!.startsWith('not ')).map(([topic]) => topic);
  expect(built).toEqual([...Object.keys(edgeExpectations), ...Object.keys(edgeTests)]);
});

test('what a site answers by itself has 80 rows or more, over every way', () => {
  expect(edgeRows.length).toBeGreaterThanOrEqual(80);
  for (const row of edgeRows) expect(row.ways ?? ways).toEqual(ways);
  const begins = Object.values(edgeExpectations);
  for (const { says } of edgeRows) expect(begins.some((one) => says.startsWith(one))).toBe(true);
});
