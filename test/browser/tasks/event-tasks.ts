/** Tasks on the page of an event, from real requests: allow, block, list, record, read a score. */

import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Desk } from './desk.ts';
import { attackIn, type Refused, type Task, type World } from './task.ts';

/** Sends an attack from a client of its own to a site of its own, and opens the list at it. */
async function attacked(
  desk: Desk,
  world: World,
  name: string,
  policyId = '',
): Promise<Omit<Refused, 'eventId'>> {
  const siteId = await world.site(name, policyId);
  const client = world.client();
  const get = (path: string): Promise<number> => world.get(path, client, `${name}.example`);
  await eventually(async () => (await get(attackIn('q'))) === 403);
  await eventually(async () => {
    await desk.go('/');
    await desk.go(`/attacks?site=${siteId}`);
    return (await desk.page.$('tbody a')) !== null;
  });
  desk.presses = 0;
  await desk.open('tbody a');
  await desk.shows('This request was blocked with status 403.');
  return { client, get, siteId };
}

/** The id of the newest event of a site of which no evidence is kept, once there is one. */
function bareEvent(world: World, siteId: string, ask: () => Promise<number>): Promise<string> {
  return eventually(async () => {
    expect(await ask()).toBe(403);
    const timeRange = { start: new Date(Date.now() - 3_600_000), end: new Date() };
    const query = { siteId, timeRange, outcome: 'SECURITY_EVENT_OUTCOME_BLOCKED' };
    const { items = [] } = (await world.call('LogService/QuerySecurityEvents', query)) as {
      items?: { id: string; requestEvidence?: { available?: boolean } }[];
    };
    return items.find(({ requestEvidence }) => requestEvidence?.available !== true)?.id ?? null;
  });
}

/** The table. */
export const eventTasks: readonly Task[] = [
  {
    id: 'event-allow',
    page: 'Event',
    does: 'goes from the event to a saved exclusion',
    expects: 'at most four clicks, the request passes, and the same in another argument does not',
    run: async (desk, world) => {
      const { get } = await attacked(desk, world, 'allowing', await world.policy('Allowing'));
      await desk.press('Show what else it lets through');
      await desk.shows('This request would pass.');
      await desk.press('Save this exclusion');
      await desk.shows('Saved. Send the request again');
      expect(desk.presses).toBeLessThanOrEqual(4);
      await eventually(async () => (await get(attackIn('q'))) === 200);
      expect(await get(attackIn('other'))).toBe(403);
    },
  },
  {
    id: 'event-block',
    page: 'Event',
    does: 'blocks the client of an event',
    expects: 'it is refused whatever it asks, another client is not',
    run: async (desk, world) => {
      const { client, get } = await attacked(desk, world, 'blocking');
      const block = `Block ${client} on all sites`;
      expect(await get('/')).toBe(200);
      await desk.press(block);
      await desk.press(block);
      await desk.shows('Blocked: the list “Blocked clients” holds it');
      expect(desk.presses).toBeLessThanOrEqual(4);
      await eventually(async () => (await get('/')) === 403);
      expect(await world.get('/', world.client(), 'blocking.example')).toBe(200);
    },
  },
  {
    id: 'event-list',
    page: 'Event',
    does: 'adds the client of an event to a list',
    expects: 'the list holds its address, with the request in the note',
    run: async (desk, world) => {
      const ipListId = await world.ipList('Watched');
      const { client } = await attacked(desk, world, 'listing');
      await desk.choose('Address list', 'Watched');
      await desk.press('Add to the list', 'Add to the list');
      await desk.shows('Saved.');
      const { items } = await world.call('IpListService/ListIpListEntries', { ipListId });
      expect(items).toMatchObject([
        { value: client, note: expect.stringMatching(/^from request /) },
      ]);
    },
  },
  {
    id: 'event-record',
    page: 'Event',
    does: 'lets the rule of an event only record on this site',
    expects: 'it passes, another site still blocks it, and what was excluded before still is',
    run: async (desk, world) => {
      const policyId = await world.crsPolicy('Recording');
      await world.site('unchanged', policyId);
      const { get, siteId } = await attacked(desk, world, 'recording', policyId);
      await world.exclude(policyId, 'ARGS:kept', { siteId });
      await desk.press('Only record rule 942100');
      await desk.press('Only record rule 942100');
      await desk.shows('Saved. The rule only records');
      expect(desk.presses).toBeLessThanOrEqual(4);
      await eventually(async () => (await get(attackIn('q'))) === 200);
      expect(await world.get(attackIn('q'), world.client(), 'unchanged.example')).toBe(403);
      const { items } = await world.call('RuleOverrideService/ListRuleOverrides', { policyId });
      expect(items).toMatchObject([{ siteId, removedTargets: ['ARGS:kept'] }]);
    },
  },
  {
    id: 'event-score',
    page: 'Event',
    does: 'reads what the score of detection says of a request',
    expects: 'the sentence, the marked piece, the points, and what each decision would have done',
    run: async (desk, world) => {
      const policyId = await world.policy('Scored');
      const { policy } = await world.call('PolicyService/GetPolicy', { id: policyId });
      const { crsCore, revision } = policy as { crsCore: object; revision: string };
      await world.call('PolicyService/UpdatePolicy', {
        policy: { id: policyId, crsCore: { ...crsCore, decision: 'DECISION_BOTH' } },
        revision,
        updateMask: 'crs_core',
      });
      await attacked(desk, world, 'scoring', policyId);
      await desk.shows('Score of detection');
      await desk.shows('of 100 (');
      await desk.shows('Either score (in force)');
      const marked = await desk.page.$$eval('pre mark', (marks) =>
        marks.map((mark) => mark.textContent),
      );
      expect(marked.join('')).toContain('OR');
      const cells = await desk.page.$$eval('[aria-label=Points] td.number', (all) =>
        all.map((cell) => Number(cell.textContent)),
      );
      expect(cells.length).toBeGreaterThan(0);
      expect(Math.max(...cells)).toBeGreaterThan(0);
    },
  },
  {
    id: 'event-rebuilt',
    page: 'Event',
    does: 'tries an exclusion for a request that was not kept',
    expects: "the event's own values are tried, the page names that, and nothing has changed",
    run: async (desk, world) => {
      const policyId = await world.policy('Rebuilt');
      const { siteId, get } = await world.refused('rebuilt', policyId);
      const override = { siteId, requestEvidenceMode: 'REQUEST_EVIDENCE_MODE_OFF' };
      const wanted = { override, expectedRevision: '0' };
      await world.call('LogService/UpsertSiteLogPolicyOverride', wanted);
      const id = await bareEvent(world, siteId, () => get(attackIn('bare')));
      await desk.go(`/attacks/${id}`);
      await desk.press('Show what else it lets through');
      await desk.shows('This request would pass.');
      await desk.shows("Tried on the event's own values: the request was not kept whole.");
      expect(await get(attackIn('bare'))).toBe(403);
    },
  },
];
