/** Tasks of where attacks come from: countries by their names, in both languages. */

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { sendRaw } from '../console-driver.ts';
import { inChinese } from './chinese-tasks.ts';
import type { Desk } from './desk.ts';
import { attackIn, type Task, type World } from './task.ts';

/** An address that is in the United States in every data set. */
const american = '8.8.8.8';

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

async function readCountries(desk: Desk, world: World, name: string, shown: string): Promise<void> {
  await attackFrom(world, name, american);
  await desk.go('/sites');
  await desk.go('/');
  await desk.refreshes(() => desk.has(shown));
  const timeRange = { start: new Date(Date.now() - 24 * 3_600_000), end: new Date() };
  const answer = await world.call('SystemService/GetDashboardOverview', { timeRange });
  const { items } = answer['securityTopCountries'] as { items: { key: string; count: string }[] };
  const counted = items.find(({ key }) => key === 'US')!.count;
  await desk.shows(`${shown}\n${counted}`);
  expect(await desk.has('8.8.8.8')).toBe(true);
}

const task: Task = {
  id: 'overview-countries',
  page: 'Overview',
  does: 'reads from which countries attacks came',
  expects: 'the name of the country, with as many attacks as the API counts',
  run: (desk, world) => readCountries(desk, world, 'abroad', 'United States (US)'),
};

/** The table. */
export const countryTasks: readonly Task[] = [
  task,
  inChinese({
    ...task,
    id: 'zh-overview-countries',
    run: (desk, world) => readCountries(desk, world, 'abroad-chinese', '美国 (US)'),
  }),
];
