/** Tasks of where attacks come from: countries by their names, in both languages. */

import type { ElementHandle } from 'puppeteer-core';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { sendRaw } from '../console-driver.ts';
import { inChinese } from './chinese-tasks.ts';
import { inNarrow, type Desk } from './desk.ts';
import { attackIn, type Task, type World } from './task.ts';

/** An address that is in the United States in every data set. */
const americanClient = '8.8.8.8';

/** Sends an attack of this client, whose address a proxy on loopback reports. */
async function attackFrom(world: World, name: string, client: string): Promise<void> {
  const siteId = await world.site(name);
  const list = await world.ipList(name, '127.0.0.1');
  const profile = {
    nodes: [{ id: 'proxy', name, trust: { ipListIds: [list] } }],
    edges: [
      { from: 'internet', to: 'proxy' },
      { from: 'proxy', to: 'waf' },
    ],
    extractionRules: [
      { id: 'h', header: 'x-forwarded-for', parser: 'xff', nodeIds: ['proxy'], enabled: true },
    ],
  };
  await world.call('TrustService/SetTrustProfile', { siteId, profile });
  const headers = { host: `${name}.example`, 'x-forwarded-for': client };
  const query = { siteId, clientIpCidrs: [client], outcome: 'SECURITY_EVENT_OUTCOME_BLOCKED' };
  await eventually(async () => {
    await sendRaw(world.product, attackIn('q'), headers);
    const timeRange = { start: new Date(Date.now() - 3_600_000), end: new Date() };
    const asked = { ...query, timeRange };
    const { items } = await world.call('LogService/QuerySecurityEvents', asked);
    return ((items as unknown[] | undefined) ?? []).length > 0;
  });
}

/** What a country is called, and the field that takes it. */
interface Words {
  readonly american: string;
  readonly field: string;
  readonly german: string;
}

async function readCountries(desk: Desk, world: World, name: string, words: Words): Promise<void> {
  const { american: shown, field, german } = words;
  await attackFrom(world, name, americanClient);
  const { stdout } = world.product.waf('log', 'security', '--country', 'us', '--output', 'json');
  const { items: listed } = JSON.parse(stdout) as { items: { clientIp: string }[] };
  expect(new Set(listed.map(({ clientIp }) => clientIp))).toEqual(new Set([americanClient]));
  await desk.go('/sites');
  await desk.go('/');
  await desk.refreshes(() => desk.has(shown));
  const timeRange = { start: new Date(Date.now() - 24 * 3_600_000), end: new Date() };
  const answer = await world.call('SystemService/GetDashboardOverview', { timeRange });
  const { items } = answer['securityTopCountries'] as { items: { key: string; count: string }[] };
  const counted = items.find(({ key }) => key === 'US')!.count;
  await desk.shows(`${shown}\n${counted}`);
  expect(await desk.has(americanClient)).toBe(true);
  await inNarrow(desk, async () => {
    expect(await tile(desk).then((found) => found.isVisible())).toBe(false);
  });
  // By keyboard, as a link.
  const link = await tile(desk);
  const label = await link.evaluate((one) => Reflect.get(one, 'ariaLabel') as string);
  expect(label).toBe(`${shown}: ${counted}`);
  await link.focus();
  await desk.page.keyboard.press('Enter');
  await eventually(async () => (await clientsOf(desk)).length > 0);
  expect(new URL(desk.page.url()).search).toBe('?span=24h&country=US');
  expect(new Set(await clientsOf(desk))).toEqual(new Set([americanClient]));
  await desk.fill(field, german);
  await desk.page.keyboard.press('Enter');
  await eventually(async () => (await desk.held(field)) === 'DE');
  await eventually(async () => (await clientsOf(desk)).length === 0);
  await desk.go(`/attacks?country=${'\u202e'}x`);
  await desk.page.waitForSelector('main .notice');
}

/** The tile of the United States. */
const tile = async (desk: Desk): Promise<ElementHandle> =>
  (await desk.page.waitForSelector('main .country-map a[href*="country=US"]'))!;

const clientsOf = (desk: Desk): Promise<string[]> =>
  desk.page.$$eval('main tbody td:nth-child(3)', (all) => all.map((one) => one.textContent ?? ''));

const task: Task = {
  id: 'overview-countries',
  page: 'Overview',
  does: 'reads from which countries attacks came, and opens the events of one',
  expects: 'its name, with as many attacks as the API counts; a list of its clients alone',
  run: (desk, world) =>
    readCountries(desk, world, 'abroad', {
      ...{ american: 'United States (US)', field: 'Country', german: 'germany' },
    }),
};

/** The table. */
export const countryTasks: readonly Task[] = [
  task,
  inChinese({
    ...task,
    id: 'zh-overview-countries',
    run: (desk, world) =>
      readCountries(desk, world, 'abroad-chinese', {
        ...{ american: '美国 (US)', field: '国家/地区', german: '德国' },
      }),
  }),
];
