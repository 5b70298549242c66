/** Tasks that need others: an authority of certificates, a node, a document, a session. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { expect } from 'vitest';
import { apiDocuments } from '../../support/api-documents.ts';
import { eventually } from '../../support/eventually.ts';
import { missingPebble, startPebble } from '../../support/pebble.ts';
import { endNode, enroll, startNode, type TestNode } from '../../support/remote-node.ts';
import { chosenPassword, sendRaw } from '../console-driver.ts';
import type { Task, World } from './task.ts';

/** Who signed the certificate that a name gets. */
function issuerOf(world: World, servername: string): Promise<string> {
  const { securePort: port } = world;
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, servername, rejectUnauthorized: false };
    const socket = tls.connect(options, () => {
      const { issuer } = socket.getPeerCertificate();
      resolve(String(issuer.CN));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

/** Numbers of a page as they stand in hints, exact, by their headings. */
const tiles = `Object.fromEntries([...document.querySelectorAll('.tile')].map((tile) =>
  [tile.querySelector('h2').textContent, tile.querySelector('p').title.replace(/\\D/g, '')]))`;

/** The table. */
export const wholeTasks: readonly Task[] = [
  {
    id: 'overview-numbers',
    page: 'Overview',
    does: 'reads how many requests there were and how many were blocked',
    expects: 'the numbers are those of the API',
    run: async (desk, world) => {
      await world.refused('counted');
      await desk.go('/?span=1h');
      await desk.refreshes(async () => {
        const end = new Date();
        const timeRange = { start: new Date(end.getTime() - 3_600_000), end };
        const found = await world.call('SystemService/GetDashboardOverview', { timeRange });
        const { traffic, stats, trafficQuality } = found as {
          traffic: { total?: string; blocked?: string }[];
          trafficQuality: { status5xx?: string };
          stats: { nodesOnline: number; sitesEnabled: number };
        };
        const sum = (name: 'total' | 'blocked'): string =>
          String(traffic.reduce((all, point) => all + Number(point[name] ?? 0), 0));
        const shown = (await desk.page.evaluate(tiles)) as Record<string, string>;
        expect(Object.keys(shown)).toHaveLength(6);
        return (
          Number(shown['Requests']) > 0 &&
          shown['Requests'] === sum('total') &&
          shown['Blocked'] === sum('blocked') &&
          shown['Server errors'] === (trafficQuality.status5xx ?? '0') &&
          shown['Active sites'] === String(stats.sitesEnabled) &&
          shown['Nodes online'] === String(stats.nodesOnline)
        );
      });
    },
  },
  {
    id: 'session-ended',
    page: 'Sign in',
    does: 'saves a form after the own session was ended elsewhere',
    expects: 'the password is asked in place, and what was typed is saved',
    run: async (desk, world) => {
      const id = await world.site('ended');
      await desk.go(`/sites/${id}`);
      await desk.fill('Name', 'Typed before the end');
      const found = await world.call('waf.access.v1.SessionService/ListSessions', {
        allUsers: true,
      });
      const others = (found['items'] as { id: string; current?: boolean }[]).filter(
        ({ current }) => current !== true,
      );
      expect(others.length).toBeGreaterThan(0);
      for (const { id: session } of others) {
        await world.call('waf.access.v1.SessionService/EndSession', { id: session });
      }
      await desk.press('Save');
      await desk.shows('Your session ended. Sign in to continue where you are.');
      expect(await desk.held('Name', 'Names and origins')).toBe('Typed before the end');
      await desk.fill('Name', 'admin', 'Sign in');
      await desk.fill('Password', chosenPassword, 'Sign in');
      await desk.press('Sign in');
      await desk.shows('Saved. The proxy takes it over now.');
      await desk.hides('Your session ended.');
      expect(await world.siteAt(id)).toMatchObject({ name: 'Typed before the end' });
    },
  },
  {
    id: 'site-managed',
    page: 'Sites',
    does: 'lets an authority issue the certificate of a site, and of another as it is made',
    expects: 'each site is served with its own over TLS',
    run: async (desk, world) => {
      if (missingPebble !== null) throw new Error(missingPebble);
      const pebble = await startPebble({ httpPort: world.product.proxyPort });
      try {
        const config = { directoryUrl: pebble.directoryUrl, caPem: pebble.authority.cert };
        await world.call('SystemService/UpdateSystemSettings', {
          values: { 'acme.config': config, 'outgoing.allowed_networks': ['127.0.0.0/8'] },
        });
        await desk.go(`/sites/${await world.site('managed')}?tab=tls`);
        await desk.choose('Certificate', 'Managed: ordered and renewed (ACME)');
        await desk.press('Save');
        await desk.shows('Saved. The proxy takes it over now.');
        await eventually(async () => {
          const issuer = await issuerOf(world, 'managed.example').catch(() => '');
          return issuer.startsWith('Pebble');
        });
        await desk.go('/certificates');
        await desk.shows('managed.example');
        const create = 'Create a site';
        await desk.go('/sites');
        await desk.press(create);
        await desk.fill('Host', 'at-once.example', create);
        await desk.fill('Origin', world.origin, create);
        await desk.choose('Certificate', 'Managed', create);
        await desk.press('Create', create);
        await eventually(async () => {
          const issuer = await issuerOf(world, 'at-once.example').catch(() => '');
          return issuer.startsWith('Pebble');
        });
      } finally {
        pebble.stop();
      }
    },
  },
  {
    id: 'api-enforce',
    page: 'APIs',
    does: 'uploads a document, reviews what it checks, and puts it in force',
    expects: 'a request that breaks a check is refused, one that keeps it passes',
    run: async (desk, world) => {
      const siteId = await world.site('petshop');
      const get = (path: string): Promise<number> =>
        sendRaw(world.product, path, { host: 'petshop.example' });
      // Until then it has no site, which is refused, too.
      await eventually(async () => (await get('/v1/pets?limit=1000')) === 200);
      const file = join(mkdtempSync(join(tmpdir(), 'waf-document-')), 'pets.json');
      writeFileSync(file, apiDocuments['pets']!);
      await desk.go(`/apis?site=${siteId}`);
      await desk.fill('Name', 'Pets', 'Upload');
      await desk.choose('Format', 'JSON', 'Upload');
      await (await desk.page.$('input[type=file]'))!.uploadFile(file);
      await desk.press('Upload', 'Upload');
      await desk.shows('2. Review');
      await desk.fill('Its paths begin with', '/v1', '2. Review');
      await desk.choose('A request that breaks a check', 'Is refused', '2. Review');
      await desk.press('Show what would change');
      await desk.shows('GET petshop.example/v1/pets');
      await desk.press('Put this in force');
      await desk.press('Put this in force');
      await desk.shows('In force. Nodes take it over now.');
      await eventually(async () => (await get('/v1/pets?limit=1000')) >= 400);
      expect(await get('/v1/pets?limit=10')).toBe(200);
      await desk.press('What is kept for review');
      await desk.shows('Choices of operations');
    },
  },
  {
    id: 'node-enrolled',
    page: 'Nodes',
    does: 'adds a node by the command that the page makes',
    expects: 'it serves the sites, and the page shows it connected',
    run: async (desk, world) => {
      await world.site('everywhere');
      await desk.go('/nodes');
      await desk.press('Add a node');
      await desk.fill('Address of this service, as the node reaches it', world.url);
      await desk.press('Make the command');
      await desk.shows('Run this on the new machine, before');
      const line = await desk.page.$eval('main pre', (one) => one.textContent ?? '');
      const token = /WAF_TOKEN=['"]?([\w.-]+)/.exec(line)?.[1];
      const pin = /--ca-sha256 ['"]?([0-9a-f]{64})/.exec(line)?.[1];
      if (token === undefined || pin === undefined) throw new Error(`no token in ${line}`);
      const data = mkdtempSync(join(tmpdir(), 'waf-node-'));
      const { code, stderr } = enroll(data, { controller: world.url, token, pin });
      expect(code, stderr).toBe(0);
      let node: TestNode | undefined;
      try {
        node = await startNode(data);
        const { port, name } = node;
        await eventually(
          async () =>
            (await sendRaw({ ...world.product, proxyPort: port }, '/', {
              host: 'everywhere.example',
            }).catch(() => 0)) === 200,
        );
        await desk.refreshes(() => desk.has('1 of 1 enrolled'));
        await desk.shows(name);
        await eventually(async () => {
          const rows = await desk.page.$$eval('main tbody tr', (all) =>
            all.map((row) => row.textContent ?? ''),
          );
          return rows.some((row) => row.includes(name) && row.includes('Connected'));
        });
      } finally {
        if (node !== undefined) await endNode(node);
      }
    },
  },
];
