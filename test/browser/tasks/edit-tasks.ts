/** Tasks of two people who edit at the same time: what one saves is never lost to the other. */

import { expect } from 'vitest';
import type { Task } from './task.ts';

const saved = 'Saved. The proxy takes it over now.';
const conflict = 'Somebody else saved this meanwhile.';

/** A profile with one proxy, whose header is this one. */
const profileWith = (list: string, header: string, parser: string): object => ({
  nodes: [{ id: 'proxy-1', name: 'Edge', trust: { ipListIds: [list] } }],
  edges: [
    { from: 'internet', to: 'proxy-1' },
    { from: 'proxy-1', to: 'waf' },
  ],
  extractionRules: [{ id: 'header-1', header, parser, nodeIds: ['proxy-1'], enabled: true }],
});

/** The table. */
export const editTasks: readonly Task[] = [
  {
    id: 'edit-origin-port',
    page: 'Sites',
    does: 'moves an origin to another port',
    expects: 'its weight and headers stay; a pool in its place asks first',
    run: async (desk, world) => {
      const id = await world.site('moved');
      const { revision } = await world.siteAt(id);
      const upstreams = [
        { inline: { url: world.origin, weight: 7 }, requestHeaders: { 'x-team': 'kept' } },
      ];
      const request = { site: { id, upstreams }, revision, updateMask: 'upstreams' };
      await world.call('SiteService/UpdateSite', request);
      await world.call('UpstreamService/CreateUpstream', {
        upstream: { name: 'Spare', endpoints: [{ url: world.origin, weight: 1 }] },
      });
      await desk.go(`/sites/${id}`);
      await desk.fill('Addresses of origins, one a line', 'http://127.0.0.1:9');
      await desk.press('Save');
      await desk.shows(saved);
      expect(await world.siteAt(id)).toMatchObject({
        upstreams: [{ inline: { url: 'http://127.0.0.1:9', weight: 7 } }],
      });
      expect((await world.siteAt(id))['upstreams']).toMatchObject([
        { requestHeaders: { 'x-team': 'kept' } },
      ]);
      await desk.choose('Origins', 'Spare');
      await desk.press('Save');
      await desk.shows('are no longer used: http://127.0.0.1:9.');
      await desk.press('Cancel');
      expect(await world.siteAt(id)).toMatchObject({ upstreams: [{ inline: { weight: 7 } }] });
    },
  },
  {
    id: 'edit-apart',
    page: 'Sites',
    does: 'saves the names of a site whose inspection somebody else changed',
    expects: 'both changes are kept, and nothing is asked',
    run: async (desk, world) => {
      const id = await world.site('apart');
      await desk.go(`/sites/${id}`);
      const { revision } = await world.siteAt(id);
      const waf = { enabled: true, mode: 'WAF_MODE_DETECTION' };
      const request = { site: { id, waf }, revision, updateMask: 'waf.mode' };
      await world.call('SiteService/UpdateSite', request);
      await desk.fill('Name', 'Named apart');
      await desk.press('Save');
      await desk.shows(saved);
      expect(await world.siteAt(id)).toMatchObject({
        name: 'Named apart',
        waf: { mode: 'WAF_MODE_DETECTION' },
      });
    },
  },
  {
    id: 'edit-trust',
    page: 'Sites',
    does: 'saves a profile of proxies that somebody else changed meanwhile',
    expects: 'it says what the other saved, and saves only when asked again',
    run: async (desk, world) => {
      const siteId = await world.site('trusting');
      const list = await world.ipList('Edge of two', '198.51.100.8');
      const set = (header: string, parser: string): Promise<object> =>
        world.call('TrustService/SetTrustProfile', {
          siteId,
          profile: profileWith(list, header, parser),
        });
      await set('x-forwarded-for', 'xff');
      await desk.go(`/sites/${siteId}?tab=trust`);
      await desk.shows('This site has a profile of its own.');
      await desk.choose('Header that names the client', 'forwarded');
      await set('x-real-ip', 'single_ip');
      await desk.press('Save', 'Proxies before this site');
      await desk.shows(conflict);
      await desk.shows('x-real-ip');
      await desk.press('Save mine over it');
      await desk.hides(conflict);
      expect(await world.call('TrustService/GetTrustProfile', { siteId })).toMatchObject({
        profile: { extractionRules: [{ parser: 'forwarded' }] },
      });
    },
  },
  {
    id: 'edit-limit',
    page: 'Sites',
    does: 'changes a rate limit that somebody else changed meanwhile',
    expects: 'it says what the other saved, and takes it over',
    run: async (desk, world) => {
      const siteId = await world.site('limits');
      const endpoint = {
        ...{ siteId, pathPattern: '/api', methodMode: 'any', action: 'block' },
        ...{ requestCount: 50, windowSeconds: 60, mitigationSeconds: 30 },
        enforcementMode: 'enforce',
      };
      const set = (requestCount: number): Promise<object> =>
        world.call('RateLimitService/UpsertRateLimitEndpoint', {
          endpoint: { ...endpoint, requestCount },
        });
      await set(50);
      await desk.go(`/sites/${siteId}?tab=limits`);
      const form = 'Edit the rate limit at /api';
      await desk.press('Edit', '/api');
      await desk.fill('Requests', '60', form);
      await set(55);
      await desk.press('Save', form);
      await desk.shows(conflict);
      await desk.press('Take theirs');
      expect(await desk.held('Requests', form)).toBe('55');
      await desk.fill('Requests', '61', form);
      await desk.press('Save', form);
      await desk.shows('61 in 60 s');
    },
  },
  {
    id: 'edit-exclusion',
    page: 'Policies',
    does: 'excludes a second argument of a rule',
    expects: 'the argument that was excluded before still is',
    run: async (desk, world) => {
      const policyId = await world.policy('Excluding more');
      await world.exclude(policyId, 'ARGS:kept');
      const excluded = async (): Promise<unknown> => {
        const { items } = await world.call('RuleOverrideService/ListRuleOverrides', { policyId });
        return items;
      };
      await desk.go(`/policies/${policyId}?tab=exclusions`);
      const form = 'Add an exclusion to a rule';
      const argument = 'Argument to leave out, for example ARGS:comment';
      await desk.press(form);
      await desk.fill('Rule', '942100', form);
      await desk.fill(argument, 'ARGS:added', form);
      await desk.press('Add', form);
      await desk.shows('ARGS:added');
      expect(await excluded()).toMatchObject([{ removedTargets: ['ARGS:kept', 'ARGS:added'] }]);
    },
  },
  {
    id: 'edit-delivery',
    page: 'Sites',
    does: 'closes a site for work whose closing somebody else changed meanwhile',
    expects: 'it says what the other saved, and saves only when asked again',
    run: async (desk, world) => {
      const id = await world.site('closing');
      const form = 'Close the site for work';
      await desk.go(`/sites/${id}?tab=delivery`);
      await desk.fill('Title of the page', 'Mine', form);
      const { revision } = await world.siteAt(id);
      const delivery = { maintenance: { title: 'Theirs' } };
      const site = { id, delivery };
      const updateMask = 'delivery.maintenance';
      await world.call('SiteService/UpdateSite', { site, revision, updateMask });
      await desk.press('Save', form);
      await desk.shows(conflict);
      await desk.shows('Theirs');
      expect(await desk.held('Title of the page', form)).toBe('Mine');
      await desk.press('Save mine over it', form);
      await desk.hides(conflict);
      expect(await world.siteAt(id)).toMatchObject({
        delivery: { maintenance: { title: 'Mine' } },
      });
    },
  },
  {
    id: 'edit-list',
    page: 'Protection',
    does: 'adds an address to a list to which somebody else adds one meanwhile',
    expects: 'both addresses are in the list',
    run: async (desk, world) => {
      const ipListId = await world.ipList('Two hands', '192.0.2.1');
      await desk.go('/protection');
      await desk.press('Open', 'Two hands');
      await desk.shows('192.0.2.1');
      const entries = [{ value: '192.0.2.2' }];
      await world.call('IpListService/AddEntries', { ipListId, entries });
      await desk.fill('Addresses or networks, one a line', '192.0.2.3', 'Add addresses');
      await desk.press('Add addresses', 'Add addresses');
      await desk.shows('192.0.2.3');
      await desk.shows('192.0.2.2');
      const found = await world.call('IpListService/ListIpListEntries', { ipListId });
      expect(found['items']).toHaveLength(3);
    },
  },
];
