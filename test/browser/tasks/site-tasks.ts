/** Tasks on sites: names, routes, TLS, inspection, challenges, limits, and whose address counts. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { makeTestCertificate } from '../../support/test-certificates.ts';
import type { Task } from './task.ts';

const attack = '/?id=1%27%20OR%20%271%27=%271';
const saved = 'Saved. The proxy takes it over now.';

/** The table. */
export const siteTasks: readonly Task[] = [
  {
    id: 'site-create',
    page: 'Sites',
    does: 'creates a site from a host and an origin',
    expects: 'it serves, and blocks an attack',
    run: async (desk, world) => {
      await desk.go('/sites');
      await desk.press('Create a site');
      await desk.fill('Host', 'created.example');
      await desk.fill('Origin', world.origin);
      await desk.press('Create');
      await desk.shows('Created created.example.');
      await eventually(async () => (await world.get('/', '127.0.0.1', 'created.example')) === 200);
      expect(await world.get(attack, '127.0.0.1', 'created.example')).toBe(403);
    },
  },
  {
    id: 'site-application',
    page: 'Sites',
    does: 'creates a site before an application that is known, and uses its profile',
    expects: 'the page names the application, the setting holds its profile for this site alone',
    run: async (desk, world) => {
      const blog = createServer((_request, response) =>
        response.end('<link href="/wp-includes/css/dashicons.css">'),
      );
      await new Promise<void>((resolve) => blog.listen(0, '127.0.0.1', resolve));
      try {
        await desk.go('/');
        await desk.go('/sites');
        await desk.press('Create a site');
        await desk.fill('Host', 'blog.example');
        await desk.fill('Origin', `http://127.0.0.1:${(blog.address() as AddressInfo).port}`);
        await desk.press('Create');
        await desk.shows('This looks like WordPress');
        await desk.press('Use the profile of WordPress');
        await desk.shows('The profile of WordPress is in use.');
      } finally {
        blog.closeAllConnections();
        blog.close();
      }
      const { items } = await world.call('SiteService/ListSites', { query: 'blog.example' });
      const { id } = (items as { id: string; primaryHost: string }[]).find(
        ({ primaryHost }) => primaryHost === 'blog.example',
      )!;
      const { settings } = await world.call('SystemService/GetSystemSettings', {});
      const { values } = settings as { values: Record<string, object> };
      expect(values['detection.applications']).toEqual({ [id]: 'wordpress' });
    },
  },
  {
    id: 'site-rename',
    page: 'Sites',
    does: 'renames a site and gives it a further host',
    expects: 'the further host is served',
    run: async (desk, world) => {
      const id = await world.site('names');
      await desk.go(`/sites/${id}`);
      await desk.fill('Name', 'Renamed');
      await desk.fill('Further hosts, one a line', 'www.names.example\nold.names.example');
      await desk.press('Save');
      await desk.shows(saved);
      expect(await world.siteAt(id)).toMatchObject({ name: 'Renamed', aliases: { length: 2 } });
      await eventually(
        async () => (await world.get('/', '127.0.0.1', 'old.names.example')) === 200,
      );
    },
  },
  {
    id: 'site-disable',
    page: 'Sites',
    does: 'disables a site and enables it again',
    expects: 'it gets 404 in between',
    run: async (desk, world) => {
      const id = await world.site('paused');
      await desk.go(`/sites/${id}`);
      await desk.press('Disable');
      await desk.press('Disable');
      await desk.shows('This site is disabled');
      await eventually(async () => (await world.get('/', '127.0.0.1', 'paused.example')) === 404);
      await desk.press('Enable');
      await desk.shows('This site serves.');
      await eventually(async () => (await world.get('/', '127.0.0.1', 'paused.example')) === 200);
    },
  },
  {
    id: 'site-delete',
    page: 'Sites',
    does: 'deletes a site',
    expects: 'it is asked for, and then the list is without it',
    run: async (desk, world) => {
      await desk.go(`/sites/${await world.site('gone')}`);
      await desk.press('Delete the site');
      await desk.shows('Delete it with its routes, exclusions and limits?');
      await desk.press('Delete the site');
      await desk.shows('Create a site');
      await desk.hides('gone.example');
    },
  },
  {
    id: 'route-add',
    page: 'Sites',
    does: 'sends a path prefix to a new pool, and refuses other paths',
    expects: 'the prefix is served, another path gets 404',
    run: async (desk, world) => {
      await desk.go(`/sites/${await world.site('routed')}?tab=routes`);
      await desk.press('Add a route');
      await desk.fill('Path prefix', '/shop', 'Add a route');
      await desk.fill('Address of the origin', world.origin, 'Add a route');
      await desk.press('Add a route', 'Add a route');
      await desk.shows('/shop');
      await desk.choose('A path without a route', 'Is refused with 404');
      await desk.press('Save', 'Other paths');
      await desk.shows('Saved.');
      await eventually(
        async () => (await world.get('/else', '127.0.0.1', 'routed.example')) === 404,
      );
      expect(await world.get('/shop/x', '127.0.0.1', 'routed.example')).toBe(200);
    },
  },
  {
    id: 'route-conflict',
    page: 'Sites',
    does: 'edits a route that somebody else changed meanwhile',
    expects: 'both versions are shown, and the own edit is kept',
    run: async (desk, world) => {
      const siteId = await world.site('contested');
      const upstream = { name: 'contested', endpoints: [{ url: world.origin, weight: 1 }] };
      const pool = await world.call('UpstreamService/CreateUpstream', { upstream });
      const upstreamId = (pool['upstream'] as { id: string }).id;
      const routes = (pathPrefix: string): object => ({
        siteId,
        routing: { routes: [{ id: 'r1', pathPrefix, upstreamId, rewriteMode: 1 }] },
      });
      await world.call('SiteService/UpdateSiteRouting', routes('/first'));
      await desk.go(`/sites/${siteId}?tab=routes`);
      await desk.press('Edit', '/first');
      await desk.fill('Path prefix', '/mine', 'Edit');
      await world.call('SiteService/UpdateSiteRouting', routes('/theirs'));
      await desk.press('Save', 'Edit');
      await desk.shows('Somebody else saved this meanwhile.');
      await desk.shows('/theirs');
      expect(await desk.held('Path prefix', 'Edit')).toBe('/mine');
      await desk.press('Save mine over it');
      await desk.shows('/mine');
    },
  },
  {
    id: 'site-tls',
    page: 'Sites',
    does: 'uploads a certificate for a site',
    expects: 'the site holds it, and plain HTTP is still served',
    run: async (desk, world) => {
      const id = await world.site('secure');
      const { cert, key } = await makeTestCertificate({ names: ['secure.example'] });
      await desk.go(`/sites/${id}?tab=tls`);
      await desk.press('Upload a certificate for this site');
      await desk.fill('Certificate and chain, PEM', cert);
      await desk.fill('Private key, PEM', key);
      await desk.press('Upload and use');
      await eventually(async () => (await desk.held('Certificate of your own')) !== '');
      await desk.choose('Plain HTTP', 'Is served, too');
      await desk.fill('Browsers keep to TLS for seconds (HSTS)', '600');
      await desk.press('Save');
      await desk.shows(saved);
      expect(await world.siteAt(id)).toMatchObject({
        tls: {
          mode: 'TLS_MODE_UPLOADED',
          httpBehavior: 'TLS_HTTP_BEHAVIOR_SERVE_BOTH',
          hstsMaxAgeSeconds: 600,
        },
      });
      await eventually(async () => (await world.get('/', '127.0.0.1', 'secure.example')) === 200);
    },
  },
  {
    id: 'site-tls-half',
    page: 'Sites',
    does: 'uploads a certificate that the site is then not given, and submits again',
    expects:
      'it says which half is done, and lists it; then the site holds it, and it is there once',
    run: async (desk, world) => {
      const id = await world.site('half-secure');
      const { cert, key } = await makeTestCertificate({ names: ['half-secure.example'] });
      await desk.go(`/sites/${id}?tab=tls`);
      const form = 'Upload a certificate for this site';
      await desk.press(form);
      await desk.fill('Name', 'Half secure', form);
      await desk.fill('Certificate and chain, PEM', cert, form);
      await desk.fill('Private key, PEM', key, form);
      await desk.refuseOnce('UpdateSite', () => desk.press('Upload and use', form));
      await desk.shows('The certificate was uploaded, but this site does not use it yet.');
      await desk.shows('Reason: the store could not be written');
      const listed = await world.certificates('Half secure');
      expect(listed).toHaveLength(1);
      expect((await world.siteAt(id))['tls']).not.toMatchObject({ certId: listed[0] });
      await desk.press('Upload and use', form);
      await desk.hides('does not use it yet');
      await eventually(async () => (await desk.held('Certificate of your own')) === listed[0]);
      expect(await world.certificates('Half secure')).toEqual(listed);
      expect(await world.siteAt(id)).toMatchObject({
        tls: { mode: 'TLS_MODE_UPLOADED', certId: listed[0] },
      });
    },
  },
  {
    id: 'site-detection',
    page: 'Sites',
    does: 'lets a site only record attacks',
    expects: 'an attack passes',
    run: async (desk, world) => {
      const id = await world.site('watching');
      await desk.go(`/sites/${id}?tab=inspection`);
      await desk.choose('Attacks are', 'Only recorded');
      await desk.press('Save', 'Inspection');
      await desk.shows(saved);
      await eventually(
        async () => (await world.get(attack, '127.0.0.1', 'watching.example')) === 200,
      );
    },
  },
  {
    id: 'site-policy-asks',
    page: 'Sites',
    does: 'moves a site with an exclusion to another policy',
    expects: 'the exclusion is named and asked for before anything changes',
    run: async (desk, world) => {
      const policyId = await world.policy('Left');
      const next = await world.policy('Next');
      const siteId = await world.site('moving', policyId);
      const override = { policyId, siteId, crsRuleId: '942100', actionEnum: 1 };
      await world.call('RuleOverrideService/UpsertRuleOverride', { override });
      await desk.go(`/sites/${siteId}?tab=inspection`);
      await desk.choose('Policy', 'Next');
      await desk.press('Save', 'Inspection');
      await desk.shows('lose their effect: exclusion of rule 942100.');
      expect(await world.siteAt(siteId)).toMatchObject({ waf: { policyId } });
      await desk.press('Save anyway');
      await desk.shows(saved);
      expect(await world.siteAt(siteId)).toMatchObject({ waf: { policyId: next } });
    },
  },
  {
    id: 'site-numbers',
    page: 'Sites',
    does: 'lets a site block from another score, and takes it back',
    expects: 'the service holds the number, then none',
    run: async (desk, world) => {
      const siteId = await world.site('numbers');
      await desk.go(`/sites/${siteId}?tab=inspection`);
      const card = 'What this site changes in its policy';
      await desk.fill('Blocks requests from score', '25', card);
      await desk.press('Save', card);
      await desk.shows('Use the policy as it is');
      expect(await world.call('SiteService/GetSitePolicyOverride', { siteId })).toMatchObject({
        override: { inboundAnomalyScoreThreshold: 25 },
      });
      await desk.press('Use the policy as it is');
      await desk.hides('Use the policy as it is');
      await expect(world.call('SiteService/GetSitePolicyOverride', { siteId })).rejects.toThrow(
        /404/,
      );
    },
  },
  {
    id: 'site-bodies',
    page: 'Sites',
    does: 'sets how much of a body is inspected',
    expects: 'the policy holds the limit',
    run: async (desk, world) => {
      const policyId = await world.policy('Bodies');
      await desk.go(`/sites/${await world.site('bodies', policyId)}?tab=inspection`);
      await desk.fill('Bytes that are always inspected', '4096');
      await desk.choose('A longer body', 'Is refused with 413');
      await desk.press('Save', 'Bodies of requests');
      await desk.shows('Saved. Compiling rules');
      expect(await world.call('PolicyService/GetPolicy', { id: policyId })).toMatchObject({
        bodyInspection: { limitBytes: '4096', past: 'refused' },
      });
    },
  },
  {
    id: 'site-challenge',
    page: 'Sites',
    does: 'asks clients of one path for a browser',
    expects: 'that path answers with a challenge, another does not',
    run: async (desk, world) => {
      await desk.go(`/sites/${await world.site('guarded')}?tab=challenges`);
      await desk.choose('Ask for', 'A browser');
      await desk.fill('Only these paths, one a line', '/login');
      await desk.press('Save');
      await desk.shows(saved);
      const get = (path: string): Promise<number> =>
        world.get(path, '127.0.0.1', 'guarded.example');
      await eventually(async () => (await get('/login')) !== 200);
      expect(await get('/other')).toBe(200);
    },
  },
  {
    id: 'site-limit',
    page: 'Sites',
    does: 'limits how often a client may ask',
    expects: 'the second request within the time is refused',
    run: async (desk, world) => {
      await desk.go(`/sites/${await world.site('limited')}?tab=limits`);
      await desk.press('Add a rate limit');
      await desk.fill('Path', '/api');
      await desk.fill('Requests', '1');
      await desk.press('Add');
      await desk.shows('1 in 60 s');
      const get = (client: string): Promise<number> => world.get('/api', client, 'limited.example');
      const first = world.client();
      await eventually(async () => (await get(first)) === 429);
      const client = world.client();
      expect([await get(client), await get(client)]).toEqual([200, 429]);
      // The same again would replace it.
      await desk.fill('Path', '/api');
      await desk.fill('Requests', '9');
      await desk.press('Add');
      await desk.shows('read it again');
    },
  },
  {
    id: 'site-trust',
    page: 'Sites',
    does: 'names the proxy before a site',
    expects: 'the address in its header counts',
    run: async (desk, world) => {
      const siteId = await world.site('behind');
      await world.ipList('Balancer', '198.51.100.7');
      await desk.go(`/sites/${siteId}?tab=trust`);
      await desk.shows('No proxy is trusted.');
      await desk.choose('Addresses of proxy 1, from the internet inwards', 'Balancer');
      await desk.press('Save', 'Proxies before this site');
      await desk.shows('This site has a profile of its own.');
      await desk.shows('Internet\nBalancer\nAddresses in Balancer: 1\nwaf');
      await desk.shows(
        'x-forwarded-for names the client: the last address that is no proxy. ' +
          'Each proxy of a way through Balancer has to be found in its place.',
      );
      await desk.fill('Address that connects', '198.51.100.7');
      await desk.fill('X-Forwarded-For', '203.0.113.9');
      await desk.press('Whose address would count?');
      await desk.shows('203.0.113.9 counts as the client.');
      // Saved again as it is shown, it says the same.
      const held = await world.call('TrustService/GetTrustProfile', { siteId });
      await desk.press('Save', 'Proxies before this site');
      await desk.shows('Saved');
      await desk.go(`/sites/${siteId}?tab=trust`);
      await desk.hides('branches that this form cannot show');
      const again = await world.call('TrustService/GetTrustProfile', { siteId });
      expect(again['profile']).toEqual(held['profile']);
      expect(again['profile']).toMatchObject({
        extractionRules: [{ header: 'x-forwarded-for', parser: 'xff' }],
      });
    },
  },
  {
    id: 'site-trust-branches',
    page: 'Sites',
    does: 'opens a profile that the form cannot show whole',
    expects: 'it says that saving replaces what is not shown',
    run: async (desk, world) => {
      const siteId = await world.site('branched');
      const list = await world.ipList('Edge', '198.51.100.9');
      const node = { id: 'edge', name: 'Edge', trust: { ipListIds: [list] }, xffMode: 'overwrite' };
      const profile = {
        nodes: [node],
        edges: [
          { from: 'internet', to: 'edge' },
          { from: 'edge', to: 'waf' },
        ],
        extractionRules: [
          { id: 'h', header: 'x-real-ip', parser: 'single_ip', nodeIds: ['edge'], enabled: true },
        ],
      };
      await world.call('TrustService/SetTrustProfile', { siteId, profile });
      await desk.go(`/sites/${siteId}?tab=trust`);
      await desk.shows('branches that this form cannot show');
    },
  },
  {
    id: 'country-rule',
    page: 'Protection',
    does: 'refuses countries at one site, one by its name',
    expects: 'the rule is in the list, and names them and the site',
    run: async (desk, world) => {
      const siteId = await world.site('unvisited');
      await desk.go('/protection?tab=countries');
      await desk.press('Add a country rule');
      await desk.fill('Name', 'No Andorra', 'Add a country rule');
      await desk.fill('Countries, for example Germany, FR', 'Andorra, fr');
      await desk.choose('Where', 'unvisited', 'Add a country rule');
      await desk.press('Add');
      await desk.shows('Andorra (AD), France (FR)');
      const found = await world.call('CountryAccessService/ListCountryAccessRules', {});
      expect(found['items']).toMatchObject([
        { name: 'No Andorra', countryCodes: ['AD', 'FR'], targets: [{ scope: 'site', siteId }] },
      ]);
    },
  },
  {
    id: 'site-conflict',
    page: 'Sites',
    does: 'saves a site that somebody else saved meanwhile',
    expects: 'both versions are shown, and nothing typed is lost',
    run: async (desk, world) => {
      const id = await world.site('two');
      await desk.go(`/sites/${id}`);
      await desk.fill('Name', 'Mine');
      const { revision } = await world.siteAt(id);
      const request = { site: { id, name: 'Theirs' }, revision, updateMask: 'name' };
      await world.call('SiteService/UpdateSite', request);
      await desk.press('Save');
      await desk.shows('Somebody else saved this meanwhile.');
      await desk.shows('Theirs');
      expect(await desk.held('Name')).toBe('Mine');
      await desk.press('Take theirs');
      expect(await desk.held('Name')).toBe('Theirs');
    },
  },
];
