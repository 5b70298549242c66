/** Tasks of tables: rows sorted by a column, and as the API delivers them again. */

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { inChinese } from './chinese-tasks.ts';
import type { Desk } from './desk.ts';
import { Keys } from './keys.ts';
import type { Task, World } from './task.ts';

/** Address lists by name, with how many entries they have. */
const lists = { 'ten-10': 10, b: 1, 'ten-9': 9, á: 2 };
const byName = ['á', 'b', 'ten-9', 'ten-10'];
const byEntries = ['b', 'á', 'ten-9', 'ten-10'];

/** Titles of columns, and what lists of this task begin with. */
interface Words {
  readonly name: string;
  readonly entries: string;
  readonly prefix: string;
}

async function makeLists(world: World, prefix: string): Promise<void> {
  for (const [name, count] of Object.entries(lists)) {
    const values = Array.from({ length: count }, (_, index) => `198.51.100.${index}`);
    await world.ipList(`${prefix}-${name}`, ...values);
  }
}

/** The lists of one task in the order of their rows, without what they begin with. */
async function rowsOf(desk: Desk, prefix: string): Promise<string[]> {
  const names = await desk.page.$$eval('main tbody tr[role=row] td:first-child', (all) =>
    all.map((one) => (one.textContent ?? '').replace(/[\u2068\u2069]/g, '')),
  );
  const own = names.filter((name) => name.startsWith(`${prefix}-`));
  return own.map((name) => name.slice(prefix.length + 1));
}

/** The titles of sorted columns, with their order. */
const sortedColumns = (desk: Desk): Promise<string[]> =>
  desk.page.$$eval('main th[aria-sort]', (all) =>
    all.map((one) => `${one.textContent} ${one.getAttribute('aria-sort')}`),
  );

/** Presses a header; its column is `order` then, and the rows of the task are these. */
async function sort(
  desk: Desk,
  title: string,
  { order, prefix, rows }: { order: string; prefix: string; rows: readonly string[] },
): Promise<void> {
  await desk.press(title);
  const wanted = order === '' ? [] : [`${title} ${order}`];
  await eventually(async () => (await sortedColumns(desk)).join() === wanted.join());
  expect(await rowsOf(desk, prefix)).toEqual(rows);
  expect(await new Keys(desk.page).words()).toBe(title);
}

async function sortLists(desk: Desk, world: World, words: Words): Promise<void> {
  const { name, entries, prefix } = words;
  await makeLists(world, prefix);
  // A view that stays open keeps its order.
  await desk.go('/sites');
  await desk.go('/protection?tab=lists');
  await eventually(async () => (await rowsOf(desk, prefix)).length === byName.length);
  const delivered = await rowsOf(desk, prefix);
  expect([byName.join(), byEntries.join()]).not.toContain(delivered.join());
  expect(await sortedColumns(desk)).toEqual([]);
  await sort(desk, name, { order: 'ascending', prefix, rows: byName });
  await sort(desk, name, { order: 'descending', prefix, rows: byName.toReversed() });
  await sort(desk, name, { order: '', prefix, rows: delivered });
  await sort(desk, entries, { order: 'ascending', prefix, rows: byEntries });
  await world.ipList(`${prefix}-new`, '198.51.100.1', '198.51.100.2', '198.51.100.3');
  await desk.refreshes(async () => (await rowsOf(desk, prefix)).includes('new'));
  expect(await rowsOf(desk, prefix)).toEqual(['b', 'á', 'new', 'ten-9', 'ten-10']);
}

const words = { name: 'Name', entries: 'Entries', prefix: 'sorted' };
const chineseWords = { name: '名称', entries: '条目', prefix: 'chinese' };

const inEnglish: Task = {
  id: 'table-sort',
  page: 'Protection',
  does: 'sorts the address lists by a column, ascending, descending and not at all',
  expects: 'names and numbers in their order, headers that name it; a new list at its place',
  run: (desk, world) => sortLists(desk, world, words),
};

/** The table. */
export const tableTasks: readonly Task[] = [
  inEnglish,
  {
    ...inEnglish,
    id: 'table-narrow',
    does: 'sorts the address lists in a narrow window',
    expects: 'the same, by headers above the rows',
    run: async (desk, world) => {
      const wide = desk.page.viewport();
      await desk.page.setViewport({ width: 390, height: 900 });
      try {
        await sortLists(desk, world, { ...words, prefix: 'narrow' });
      } finally {
        await desk.page.setViewport(wide);
      }
    },
  },
  inChinese({
    ...inEnglish,
    id: 'zh-table-sort',
    run: (desk, world) => sortLists(desk, world, chineseWords),
  }),
];
