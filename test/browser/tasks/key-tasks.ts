/** Tasks of the first three pages with keys alone: sign-in, overview, attacks and events. */

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { chosenPassword, settled } from '../console-driver.ts';
import type { Desk } from './desk.ts';
import { Keys } from './keys.ts';
import { attackIn, type Task } from './task.ts';

/** Goes to a page by its letter. */
async function goByKeys(desk: Desk, letter: 'o' | 'a'): Promise<Keys> {
  const keys = new Keys(desk.page);
  await keys.press('g');
  await keys.press(letter);
  await desk.page.waitForSelector('header ~ main h1');
  await settled(desk.page);
  return keys;
}

/** Opens the event of a request, as a link in a message does. */
async function openEvent(desk: Desk, id: string): Promise<Keys> {
  await desk.go(`/attacks/${id}`);
  await desk.shows('This request was blocked with status 403.');
  const keys = new Keys(desk.page);
  await keys.skip();
  return keys;
}

/** The table. */
export const keyTasks: readonly Task[] = [
  {
    id: 'keys-sign-in',
    page: 'Sign in',
    does: 'signs out and in again with the keyboard alone',
    expects: 'the page that was open is there again',
    run: async (desk) => {
      await desk.go('/sites');
      const keys = new Keys(desk.page);
      await keys.to('Sign out');
      await keys.press('Enter');
      await desk.page.waitForSelector('input[type=password]');
      await keys.to('Name');
      await keys.type('admin');
      await keys.press('Tab');
      expect(await keys.words()).toBe('Password');
      await keys.type(chosenPassword);
      await keys.press('Tab');
      expect(await keys.words()).toBe('Sign in');
      await keys.press('Enter');
      await desk.page.waitForSelector('header ~ main h1');
      await desk.shows('Create a site');
    },
  },
  {
    id: 'keys-overview',
    page: 'Overview',
    does: 'chooses a time and follows a ranking with the keyboard alone',
    expects: 'the events of that rule over that time',
    run: async (desk, world) => {
      await world.refused('ranked');
      const keys = await goByKeys(desk, 'o');
      await keys.skip();
      await keys.to('1 hour');
      await keys.press('Enter');
      await eventually(() => desk.page.url().endsWith('/?span=1h'));
      await settled(desk.page);
      const rule = await desk.page.waitForSelector('main a[href*="rule="]');
      const words = await rule!.evaluate((one) => String(one.textContent));
      await keys.to(words);
      await keys.press('Enter');
      await desk.shows('Clear filters');
      expect(desk.page.url()).toMatch(/\/attacks\?span=1h&rule=\d+$/);
    },
  },
  {
    id: 'keys-attacks',
    page: 'Attacks',
    does: 'narrows the list and opens an event with the keyboard alone',
    expects: 'the focus stays in the filter after each choice; arrows move in the list',
    run: async (desk, world) => {
      const { client, get } = await world.refused('arrows');
      expect(await get(attackIn('second'))).toBe(403);
      const keys = await goByKeys(desk, 'a');
      await keys.press('/');
      await keys.press('ArrowDown');
      await eventually(() => desk.page.url().includes('outcome=blocked'));
      expect(await keys.words()).toBe('Outcome');
      await keys.press('Tab');
      expect(await keys.words()).toBe('Client address or network');
      await keys.type(client);
      await keys.press('Enter');
      await eventually(() => desk.page.url().includes(`client=${client}`));
      expect(await keys.words()).toBe('Client address or network');
      await eventually(async () => {
        const clients = await desk.page.$$eval('main tbody td:nth-child(3)', (all) =>
          all.map((cell) => cell.textContent),
        );
        return clients.length > 1 && clients.every((one) => one === client);
      });
      const first = await desk.page.$eval('main tbody tr', (row) => String(row.textContent));
      await keys.to(first.trim());
      await keys.press('ArrowDown');
      await keys.press('ArrowUp');
      await keys.press('Enter');
      await desk.shows('This request was blocked with status 403.');
      expect(desk.page.url()).toMatch(/\/attacks\/[\w.-]+$/);
    },
  },
  {
    id: 'keys-live',
    page: 'Attacks',
    does: 'follows events live, and pauses, with the keyboard alone',
    expects: 'an attack appears, then the list rests',
    run: async (desk, world) => {
      const { get } = await world.refused('lively-keys');
      const keys = await goByKeys(desk, 'a');
      await keys.skip();
      await keys.to('Live');
      await keys.press('Space');
      await desk.shows('New events appear at the top.');
      await eventually(async () => {
        expect(await get(attackIn('live'))).toBe(403);
        return (await desk.page.$('main tbody a')) !== null;
      });
      await keys.to('Pause');
      await keys.press('Enter');
      await desk.shows('Paused. Events are still counted.');
    },
  },
  {
    id: 'keys-allow',
    page: 'Event',
    does: 'goes from an event to a saved exclusion with the keyboard alone',
    expects: 'the request passes, and the same in another argument does not',
    run: async (desk, world) => {
      const policyId = await world.policy('By keys');
      const { get, eventId } = await world.refused('keyed', policyId);
      const keys = await openEvent(desk, eventId);
      await keys.to('Show what else it lets through');
      await keys.press('Enter');
      await desk.shows('This request would pass.');
      await keys.to('Save this exclusion');
      await keys.press('Enter');
      await desk.shows('Saved. Send the request again');
      await eventually(async () => (await get(attackIn('q'))) === 200);
      expect(await get(attackIn('other'))).toBe(403);
    },
  },
  {
    id: 'keys-block',
    page: 'Event',
    does: 'blocks a client with the keyboard alone, after a change of mind',
    expects: 'Escape takes the question back, Enter answers it, the focus stays at the button',
    run: async (desk, world) => {
      const { client, get, eventId } = await world.refused('keyed-out');
      const block = `Block ${client} on all sites`;
      const keys = await openEvent(desk, eventId);
      await keys.to(block);
      await keys.press('Enter');
      await desk.shows(`Refuse every request of ${client}?`);
      await keys.press('Escape');
      await desk.hides(`Refuse every request of ${client}?`);
      expect(await keys.words()).toBe(block);
      expect(await get('/')).toBe(200);
      await keys.press('Enter');
      await desk.shows(`Refuse every request of ${client}?`);
      await keys.press('Enter');
      await desk.shows('Blocked: the list “Blocked clients” holds it');
      expect(await keys.words()).toBe(block);
      await eventually(async () => (await get('/')) === 403);
    },
  },
];
