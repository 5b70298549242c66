/** Tasks of who runs the product: attacks and logs, alerts, nodes, users, the audit trail. */

import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { call, textOf } from '../console-driver.ts';
import type { Desk } from './desk.ts';
import type { Task, World } from './task.ts';

const attack = '/?id=1%27%20OR%20%271%27=%271';

/** Events of the task with many of them, and rows that the page may hold for any number. */
const manyEvents = 240;
const drawnMax = 130;

/** How many events the service has of a site. */
async function eventsOf(world: World, siteId: string): Promise<number> {
  const timeRange = { start: new Date(Date.now() - 3_600_000), end: new Date() };
  const query = { siteId, timeRange, outcome: 'SECURITY_EVENT_OUTCOME_ANY' };
  const { total } = await world.call('LogService/GetSecurityLogSummary', { query });
  return Number(total ?? 0);
}

/** Rows of the table: those that are elements, and how many there are said to be. */
async function rowsOf(desk: Desk): Promise<{ drawn: number; listed: string }> {
  return desk.page.$$eval('main table', ([table]) => ({
    drawn: table?.querySelectorAll('tbody tr').length ?? 0,
    listed: table?.getAttribute('aria-rowcount') ?? '',
  }));
}

/** The code of an authenticator app now (RFC 6238). */
function codeOf(secret: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...secret.replace(/[\s=]/g, '')]
    .map((one) => alphabet.indexOf(one.toUpperCase()).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((one) => parseInt(one, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const digest = createHmac('sha1', key).update(step).digest();
  const number = digest.readUInt32BE(digest.at(-1)! & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/** The table. */
export const operateTasks: readonly Task[] = [
  {
    id: 'attacks-client',
    page: 'Attacks',
    does: 'narrows the list to one client, and clears the filter',
    expects: 'only its events are shown; the address holds the filter',
    run: async (desk, world) => {
      await world.site('narrow');
      const [client, other] = [world.client(), world.client()];
      const get = (from: string): Promise<number> => world.get(attack, from, 'narrow.example');
      await eventually(async () => (await get(client)) === 403);
      expect(await get(other)).toBe(403);
      const clients = (): Promise<string[]> =>
        desk.page.$$eval('main tbody td:nth-child(3)', (all) =>
          all.map((cell) => cell.textContent ?? ''),
        );
      await eventually(async () => {
        await desk.go('/');
        await desk.go('/attacks');
        return (await clients()).includes(client);
      });
      await desk.fill('Client address or network', client);
      await desk.page.keyboard.press('Enter');
      await desk.shows('Clear filters');
      await eventually(async () => {
        const shown = await clients();
        return shown.length > 0 && shown.every((one) => one === client);
      });
      expect(desk.page.url()).toContain(`client=${client}`);
      await desk.press('Clear filters');
      await desk.hides('Clear filters');
    },
  },
  {
    id: 'attacks-live',
    page: 'Attacks',
    does: 'follows events as they happen',
    expects: 'an attack appears without a reload',
    run: async (desk, world) => {
      const siteId = await world.site('lively');
      await desk.go(`/attacks?live=1&site=${siteId}`);
      await desk.shows('New events appear at the top.');
      await eventually(async () => {
        const status = await world.get(attack, '127.0.0.1', 'lively.example');
        return status === 403 && (await desk.page.$('main tbody a')) !== null;
      });
      await desk.shows('lively.example/');
    },
  },
  {
    id: 'attacks-live-filter',
    page: 'Attacks',
    does: 'follows the events of one client live, then looks at the list of the same filter',
    expects: 'nobody else is shown, and the list has the same rows',
    run: async (desk, world) => {
      await world.site('lively-one');
      const [client, other] = [world.client(), world.client()];
      const get = (from: string): Promise<number> => world.get(attack, from, 'lively-one.example');
      await eventually(async () => (await get(other)) === 403);
      const begun = desk.page.waitForResponse((one) => one.url().endsWith('/TailSecurityEvents'));
      await desk.go(`/attacks?live=1&client=${client}`);
      await begun;
      expect([await get(other), await get(client), await get(client)]).toEqual([403, 403, 403]);
      const rows = (): Promise<(string | null)[]> =>
        desk.page.$$eval('main tbody tr', (all) => all.map((row) => row.textContent));
      await eventually(async () => (await rows()).length === 2);
      const live = await rows();
      expect(live.every((row) => row?.includes(client))).toBe(true);
      await desk.open('input[name=live]');
      await desk.hides('Pause');
      await eventually(async () => (await rows()).length === 2);
      expect(await rows()).toEqual(live);
    },
  },
  {
    id: 'attacks-many',
    page: 'Attacks',
    does: 'follows 240 attacks live, then scrolls through the list of them',
    expects: 'all are counted, few are elements of the page, and the oldest comes into view',
    run: async (desk, world) => {
      const siteId = await world.site('many');
      const send = (index: number): Promise<number> =>
        world.get(`/item-${index}${attack}`, '127.0.0.1', 'many.example');
      await eventually(async () => (await send(0)) === 403);
      await eventually(async () => (await eventsOf(world, siteId)) > 0);
      const before = await eventsOf(world, siteId);
      // Its first message says that events from now on are in it.
      const begun = desk.page.waitForResponse((one) => one.url().endsWith('/TailSecurityEvents'));
      await desk.go(`/attacks?live=1&site=${siteId}`);
      await desk.shows('New events appear at the top.');
      await begun;
      for (let index = 1; index <= manyEvents; index += 20) {
        const some = Array.from({ length: 20 }, (_, place) => send(index + place));
        expect(await Promise.all(some)).toEqual(some.map(() => 403));
      }
      const counted = (): Promise<string> =>
        desk.page.$eval('[data-count]', (one) => one.getAttribute('data-count') ?? '');
      await eventually(async () => (await counted()) === String(manyEvents));
      await eventually(async () => (await rowsOf(desk)).listed === String(manyEvents + 1));
      expect((await rowsOf(desk)).drawn).toBeLessThan(drawnMax);
      await desk.go(`/attacks?site=${siteId}`);
      const all = before + manyEvents;
      await eventually(async () => {
        await desk.page.evaluate('scrollTo(0, document.body.scrollHeight)');
        const { drawn, listed } = await rowsOf(desk);
        expect(drawn).toBeLessThan(drawnMax);
        return listed === String(all + 1);
      });
      await eventually(async () => {
        await desk.page.evaluate('scrollTo(0, document.body.scrollHeight)');
        return (await textOf(desk.page)).includes('many.example/item-0');
      });
    },
  },
  {
    id: 'logs-keeping',
    page: 'Logs',
    does: 'says how long requests are kept',
    expects: 'the page shows it again when it is opened anew',
    run: async (desk) => {
      await desk.go('/logs?tab=keeping');
      await desk.fill('Days requests are kept', '5');
      await desk.press('Save');
      await desk.shows('Saved');
      await desk.go('/');
      await desk.go('/logs?tab=keeping');
      expect(await desk.held('Days requests are kept')).toBe('5');
    },
  },
  {
    id: 'alert-silence',
    page: 'Alerts',
    does: 'silences alerts for some hours',
    expects: 'the silence is in the list, with its reason',
    run: async (desk) => {
      await desk.go('/alerts?tab=silences');
      await desk.press('Silence alerts');
      await desk.fill('Reason', 'planned work');
      await desk.press('Silence alerts');
      await desk.shows('planned work');
    },
  },
  {
    id: 'node-command',
    page: 'Nodes',
    does: 'makes the command that adds a node',
    expects: 'one line to run, and how long it is valid',
    run: async (desk) => {
      await desk.go('/nodes');
      await desk.press('Add a node');
      const address = 'Address of this service, as the node reaches it';
      await desk.fill(address, 'https://waf.example:9080');
      await desk.press('Make the command');
      await desk.shows('Run this on the new machine, before');
      const line = await desk.page.$eval('main pre', (one) => one.textContent ?? '');
      expect(line).toMatch(/enroll?|bootstrap/);
    },
  },
  {
    id: 'node-group',
    page: 'Nodes',
    does: 'adds a group of nodes',
    expects: 'the group is in the list',
    run: async (desk) => {
      await desk.go('/nodes');
      await desk.press('Add a group');
      await desk.fill('Name', 'Edge nodes', 'Add a group');
      await desk.fill('Tags', 'edge', 'Add a group');
      await desk.press('Add');
      await desk.shows('Edge nodes');
    },
  },
  {
    id: 'user-add',
    page: 'Access',
    does: 'adds a user, locks and unlocks it',
    expects: 'the service has it, in each state',
    run: async (desk, world) => {
      await desk.go('/access');
      await desk.press('Add a user');
      await desk.fill('Name', 'helper', 'Add a user');
      await desk.fill('Mail', 'helper@shop.example', 'Add a user');
      await desk.fill('Password', 'a long password of a helper 1', 'Add a user');
      await desk.press('Add');
      await desk.shows('helper@shop.example');
      await desk.press('Lock', 'helper@shop.example');
      await desk.shows('Locked');
      await desk.press('Unlock', 'helper@shop.example');
      await desk.hides('Locked');
      const found = await world.call('UserService/ListUsers', {});
      expect(JSON.stringify(found['items'])).toContain('helper@shop.example');
    },
  },
  {
    id: 'role-add',
    page: 'Access',
    does: 'adds a role that may only read sites',
    expects: 'the service has it with this permission',
    run: async (desk, world) => {
      await desk.go('/access?tab=roles');
      await desk.press('Add a role');
      await desk.fill('Name', 'Reads sites', 'Add a role');
      await desk.fill('Permission codes, one a line', 'site:read', 'Add a role');
      await desk.press('Add');
      await desk.shows('Reads sites');
      const found = await world.call('RoleService/ListRoles', {});
      expect(found['items']).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ name: 'Reads sites', permissions: ['site:read'] }),
        ]),
      );
    },
  },
  {
    id: 'token-life',
    page: 'Access',
    does: 'makes a token, replaces its text and revokes it',
    expects: 'each text is shown once and opens the API until it is replaced or revoked',
    run: async (desk, world) => {
      await desk.go('/access?tab=tokens');
      await desk.press('Create a token');
      await desk.fill('Name', 'deploy job', 'Create a token');
      await desk.choose('Role', 'Administrator', 'Create a token');
      await desk.press('Create a token', 'Create a token');
      await desk.shows('The token deploy job');
      const secret = (): Promise<string> =>
        desk.page.$eval('[data-secret]', (one) => one.textContent ?? '');
      const works = async (text: string): Promise<boolean> =>
        call(world.product, text, 'SiteService/ListSites', {}).then(
          () => true,
          () => false,
        );
      const first = await secret();
      expect(first).toMatch(/^waf_/);
      expect(await works(first)).toBe(true);
      await desk.press('I have kept it');
      expect(await textOf(desk.page)).not.toContain(first);
      await desk.press('New text', 'deploy job');
      await desk.press('New text', 'deploy job');
      await desk.shows('The token deploy job');
      const second = await secret();
      expect(second).not.toBe(first);
      expect([await works(first), await works(second)]).toEqual([true, true]);
      await desk.shows('The text before works until');
      await desk.press('Revoke', 'deploy job');
      await desk.press('Revoke', 'deploy job');
      await eventually(async () => !(await works(second)));
      expect(await works(first)).toBe(false);
    },
  },
  {
    id: 'session-end',
    page: 'Access',
    does: 'ends the session of somebody else',
    expects: 'its token is refused, the own session continues',
    run: async (desk, world) => {
      const password = 'a long password of a guest 1';
      const user = { username: 'guest', email: 'guest@shop.example' };
      await world.call('UserService/CreateUser', { user, password });
      const login = { username: 'guest', password };
      const { accessToken } = await call(world.product, '', 'AuthService/Login', login);
      const asks = (): Promise<boolean> =>
        call(world.product, String(accessToken), 'AuthService/GetUserInfo', {}).then(
          () => true,
          () => false,
        );
      expect(await asks()).toBe(true);
      await desk.go('/access?tab=sessions');
      await desk.shows('this one');
      await desk.press('End', 'guest');
      await desk.press('End', 'guest');
      await desk.hides('guest');
      expect(await asks()).toBe(false);
      await desk.go('/access');
      await desk.shows('guest@shop.example');
    },
  },
  {
    id: 'audit-chain',
    page: 'Access',
    does: 'checks the chain of the audit trail',
    expects: 'it is whole',
    run: async (desk) => {
      await desk.go('/access?tab=audit');
      await desk.press('Check the chain now');
      await desk.shows('Whole:');
    },
  },
  {
    id: 'account-totp',
    page: 'Sign in',
    does: 'sets up an authenticator app, and removes it',
    expects: 'recovery codes are shown once, and one of them removes it',
    run: async (desk) => {
      await desk.go('/account');
      await desk.press('Set up an authenticator app');
      await desk.shows('Enter this key in the app');
      const secret = await desk.page.$eval('main pre.code', (one) => one.textContent ?? '');
      await desk.fill('Code', codeOf(secret));
      await desk.press('Confirm');
      await desk.shows('Recovery codes: each works once.');
      const codes = await desk.page.$$eval('main pre.code', (all) =>
        all.map((one) => one.textContent ?? ''),
      );
      await desk.fill('Code', codes.at(-1)!.split('\n')[0]!, 'Remove the second factor');
      await desk.press('Remove the second factor');
      await desk.shows('An authenticator app is not set up');
    },
  },
  {
    id: 'settings-health',
    page: 'Settings',
    does: 'reads the health of each part',
    expects: 'it is that of the API',
    run: async (desk, world) => {
      const { checks } = await world.call('SystemService/Health', {});
      await desk.go('/settings');
      for (const { component } of checks as { component: string }[]) {
        await desk.shows(`${component.slice(0, 1).toUpperCase()}${component.slice(1)}`);
      }
    },
  },
  {
    id: 'settings-host',
    page: 'Settings',
    does: 'gives the console a name that is none',
    expects: 'it is said at the form, and nothing is changed',
    run: async (desk, world) => {
      await desk.go('/settings?tab=settings');
      await desk.fill('Host, for example waf.example.com', 'not a name');
      await desk.press('Save', 'The console from outside');
      await desk.shows('must be a host name in lower case');
      const { settings } = await world.call('SystemService/GetSystemSettings', {});
      expect(settings).not.toMatchObject({ values: { 'console.host': 'not a name' } });
    },
  },
];
