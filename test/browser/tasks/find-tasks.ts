/** Tasks of who is asked about one request: found by its id, by its site, by its status. */

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Desk } from './desk.ts';
import { attackIn, type Task, type World } from './task.ts';

const lastHour = (): object => ({ start: new Date(Date.now() - 3_600_000), end: new Date() });

/** What the column with this title holds, row by row. */
const columnOf = (desk: Desk, title: string): Promise<string[]> =>
  desk.page.$$eval(`main td[data-title="${title}"]`, (all) =>
    all.map((one) => (one.textContent ?? '').replace(/[\u2068\u2069]/g, '')),
  );

/** Enters a value in a field of the filter. */
async function filter(desk: Desk, label: string, value: string): Promise<void> {
  await desk.fill(label, value, 'Filter');
  await desk.page.keyboard.press('Enter');
}

/** A request that was served, and kept: its id. */
async function servedId(world: World, siteId: string, host: string): Promise<string> {
  return eventually(async () => {
    await world.get('/served', world.client(), host);
    const query = { siteId, timeRange: lastHour() };
    const { items } = await world.call('LogService/QueryAccessEvents', query);
    const found = (items as { path: string; requestId: string }[] | undefined)?.find(
      ({ path }) => path === '/served',
    );
    return found?.requestId ?? null;
  });
}

/** The table. */
export const findTasks: readonly Task[] = [
  {
    id: 'find-refused',
    page: 'Attacks',
    does: 'finds why a client got 403, by the request id of its block page',
    expects: 'one event, whose page says why',
    run: async (desk, world) => {
      const { eventId } = await world.refused('asked-about');
      await world.refused('not-asked-about');
      const { event } = await world.call('LogService/GetSecurityEvent', { id: eventId });
      await desk.go('/');
      await desk.go('/attacks?span=1h');
      await filter(desk, 'Request id', (event as { requestId: string }).requestId);
      const links = (): Promise<(string | null)[]> =>
        desk.page.$$eval('main tbody a', (all) => all.map((one) => one.getAttribute('href')));
      await eventually(async () => (await links()).length === 1);
      expect(await links()).toEqual([`/attacks/${eventId}`]);
      expect(desk.page.url()).toContain('span=30d');
      await desk.open('main tbody a');
      await desk.shows('This request was blocked with status 403.');
    },
  },
  {
    id: 'find-served',
    page: 'Logs',
    does: 'asks by its id for a request that no rule refused',
    expects: 'the attacks say that they have none, and lead to the request in the log',
    run: async (desk, world) => {
      const siteId = await world.site('served-well');
      const id = await servedId(world, siteId, 'served-well.example');
      await desk.go('/attacks');
      await filter(desk, 'Request id', id);
      await desk.shows('No attack or refusal of the last 30 days has this request id.');
      await desk.open('main .empty a');
      await desk.page.waitForSelector('main .filters input[name=status]');
      const requests = (): Promise<string[]> => columnOf(desk, 'Request');
      await eventually(async () => (await requests()).length === 1);
      expect(await requests()).toEqual(['GET served-well.example/served']);
    },
  },
  {
    id: 'find-site',
    page: 'Logs',
    does: 'reads the requests of one site, then those of one status',
    expects: 'no other request is shown, and the rankings follow',
    run: async (desk, world) => {
      const [siteId, otherId] = [await world.site('read-alone'), await world.site('left-out')];
      await servedId(world, siteId, 'read-alone.example');
      await servedId(world, otherId, 'left-out.example');
      await desk.go('/logs?span=1h');
      await desk.choose('Site', 'read-alone', 'Filter');
      const onlyIt = (text: string): boolean => text.includes(' read-alone.example/');
      await eventually(async () => {
        const shown = await columnOf(desk, 'Request');
        return shown.length > 0 && shown.every((text) => onlyIt(text));
      });
      expect(desk.page.url()).toContain(`site=${siteId}`);
      const hosts = await desk.page.$$eval('.ranking', (all) => all.map((one) => one.textContent));
      expect(hosts.join()).not.toContain('left-out');
      await eventually(
        async () => (await world.get(attackIn('q'), '127.0.0.1', 'read-alone.example')) === 403,
      );
      await filter(desk, 'Status', '403');
      await eventually(async () => {
        await desk.page.evaluate('refreshNow()');
        const shown = await columnOf(desk, 'Status');
        return shown.length > 0 && shown.every((text) => text === '403');
      });
    },
  },
];
