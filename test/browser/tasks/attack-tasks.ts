/** Tasks of a site under attack: every client is challenged, then all is as before. */

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { settled } from '../console-driver.ts';
import { inChinese } from './chinese-tasks.ts';
import { inNarrow, type Desk } from './desk.ts';
import { Keys } from './keys.ts';
import type { Task, World } from './task.ts';

/** What the page says. */
interface Words {
  readonly start: string;
  readonly lasts: string;
  readonly hour: string;
  readonly on: string;
  readonly open: string;
  readonly until: string;
  readonly end: string;
  readonly overview: string;
}

const hourMs = 3_600_000;

/** A site that challenges under one path only, once it serves another. */
async function makeSite(world: World, name: string): Promise<string> {
  const id = await world.site(name);
  const { revision } = await world.siteAt(id);
  const mode = 'BOT_PROTECTION_MODE_BROWSER_CHECK';
  const botProtection = { mode, challengePaths: ['/login'], exemptPaths: ['/health'] };
  const site = { id, botProtection };
  await world.call('SiteService/UpdateSite', { site, revision, updateMask: 'botProtection' });
  await eventually(async () => (await statusOf(world, name, '/login')) === 403);
  expect(await statusOf(world, name, '/')).toBe(200);
  return id;
}

const statusOf = (world: World, name: string, path: string): Promise<number> =>
  world.get(path, '127.0.0.1', `${name}.example`);

async function defend(desk: Desk, world: World, name: string, words: Words): Promise<void> {
  const id = await makeSite(world, name);
  const { botProtection: before } = await world.siteAt(id);
  await desk.go(`/sites/${id}`);
  await desk.press(words.start);
  await desk.shows(words.on);
  await desk.shows(words.open);
  await eventually(async () => (await statusOf(world, name, '/')) === 403);
  expect(await statusOf(world, name, '/health')).toBe(200);
  // It is of the site, not of the page.
  await desk.page.reload();
  await desk.page.waitForSelector('header ~ main h1');
  await settled(desk.page);
  await desk.shows(words.on);
  await desk.go('/');
  await desk.shows(`${name} ${words.overview}`);
  await desk.go(`/sites/${id}`);
  // The key ends it and begins it anew: the focus stays at the button.
  const keys = new Keys(desk.page);
  await keys.to(words.end);
  await keys.press('Enter');
  await desk.hides(words.on);
  await eventually(async () => (await statusOf(world, name, '/')) === 200);
  expect((await world.siteAt(id))['botProtection']).toEqual(before);
  expect(await statusOf(world, name, '/login')).toBe(403);
  expect(await keys.words()).toBe(words.start);
  await desk.choose(words.lasts, words.hour);
  const fromMs = Date.now();
  await desk.press(words.start);
  await desk.shows(`${words.on} ${words.until}`);
  const { botProtection: now } = await world.siteAt(id);
  const endMs = Date.parse(now!['underAttackUntil']);
  expect(endMs).toBeGreaterThanOrEqual(fromMs + hourMs);
  expect(endMs).toBeLessThanOrEqual(Date.now() + hourMs);
  await desk.press(words.end);
  await desk.hides(words.on);
  expect((await world.siteAt(id))['botProtection']).toEqual(before);
}

const english: Words = {
  start: 'Under attack',
  lasts: 'How long',
  hour: '1 hour',
  on: 'Under attack: every client gets a challenge.',
  open: 'It ends when it is switched off.',
  until: 'Until ',
  end: 'End it',
  overview: 'is under attack: every client gets a challenge.',
};
const chinese: Words = {
  start: '遭受攻击',
  lasts: '持续时间',
  hour: '1 小时',
  on: '遭受攻击：每个客户端都须通过验证。',
  open: '关闭后结束。',
  until: '截至 ',
  end: '结束',
  overview: '遭受攻击：每个客户端都须通过验证。',
};

const task: Task = {
  id: 'site-attack',
  page: 'Sites',
  does: 'declares a site under attack, ends it by the keyboard, and declares it for an hour',
  expects: 'every path challenges meanwhile, after a reload, too; then the settings of before hold',
  run: (desk, world) => defend(desk, world, 'attacked', english),
};

/** The table. */
export const attackTasks: readonly Task[] = [
  task,
  {
    ...task,
    id: 'site-attack-narrow',
    does: 'declares a site under attack in a narrow window',
    run: (desk, world) => inNarrow(desk, () => defend(desk, world, 'attacked-narrow', english)),
  },
  inChinese({
    ...task,
    id: 'zh-site-attack',
    run: (desk, world) => defend(desk, world, 'attacked-chinese', chinese),
  }),
];
