/** Tasks of tables: rows sorted by a column, and columns that are hidden. */

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { overflow } from '../chromium.ts';
import { inChinese } from './chinese-tasks.ts';
import { inNarrow, type Desk } from './desk.ts';
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

/** What the page of attacks calls its menu and its columns. */
interface ColumnWords {
  readonly menu: string;
  readonly columns: readonly string[];
}

/** The titles of the columns that are seen; where rows are cards, of those in the first card. */
const seenColumns = (desk: Desk): Promise<string[]> =>
  desk.page.$$eval('main table.events th', (all) =>
    all.filter((one) => one.checkVisibility()).map((one) => one.textContent ?? ''),
  );

/** How many cells of the first event are seen. */
const seenCells = (desk: Desk): Promise<number> =>
  desk.page.$eval(
    'main table.events tbody tr',
    (row) => [...row.querySelectorAll('td')].filter((one) => one.checkVisibility()).length,
  );

async function chooseColumns(
  desk: Desk,
  world: World,
  name: string,
  { menu, columns }: ColumnWords,
): Promise<void> {
  const { siteId } = await world.refused(name);
  const [first, second = '', ...others] = columns;
  const last = others.pop()!;
  await desk.go(`/attacks?site=${siteId}`);
  await eventually(async () => (await seenCells(desk)) === columns.length);
  await desk.press(menu);
  const offered = await desk.page.$$eval('main .column-choice label', (all) =>
    all.map((one) => one.textContent ?? ''),
  );
  expect(offered).toEqual(columns.slice(1));
  await desk.tick(last, menu);
  const keys = new Keys(desk.page);
  await desk.page.focus('main .column-choice summary');
  await keys.press('Tab');
  expect(await keys.words()).toBe(second);
  await keys.press('Space');
  await eventually(async () => (await seenCells(desk)) === columns.length - 2);
  // The browser keeps it.
  await desk.page.reload();
  await desk.page.waitForSelector('main table.events tbody td');
  expect(await seenCells(desk)).toBe(columns.length - 2);
  expect(await overflow(desk.page)).toBe(0);
  if (desk.page.viewport()!.width > 640) {
    expect(await seenColumns(desk)).toEqual([first, ...others]);
  }
  await desk.press(menu);
  for (const column of [second, last]) await desk.tick(column, menu);
  await eventually(async () => (await seenCells(desk)) === columns.length);
}

const attackColumns: ColumnWords = {
  menu: 'Columns',
  columns: ['Time', 'Outcome', 'Client', 'Request', 'Rules', 'Score'],
};
const chineseColumns: ColumnWords = {
  menu: '列',
  columns: ['时间', '结果', '客户端', '请求', '规则', '分数'],
};

const columnsTask: Task = {
  id: 'table-columns',
  page: 'Attacks',
  does: 'hides two columns of the events by mouse and keyboard, reloads, and shows them again',
  expects: 'the first is always there, the two are hidden after the reload, too',
  run: (desk, world) => chooseColumns(desk, world, 'columns', attackColumns),
};

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
    run: (desk, world) =>
      inNarrow(desk, () => sortLists(desk, world, { ...words, prefix: 'narrow' })),
  },
  inChinese({
    ...inEnglish,
    id: 'zh-table-sort',
    run: (desk, world) => sortLists(desk, world, chineseWords),
  }),
  columnsTask,
  {
    ...columnsTask,
    id: 'table-columns-narrow',
    does: 'hides two columns of the events in a narrow window',
    run: (desk, world) =>
      inNarrow(desk, () => chooseColumns(desk, world, 'columns-narrow', attackColumns)),
  },
  inChinese({
    ...columnsTask,
    id: 'zh-table-columns',
    run: (desk, world) => chooseColumns(desk, world, 'columns-chinese', chineseColumns),
  }),
];
