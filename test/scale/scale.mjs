/**
 * The scale run: makes a store of many sites, policies and IP lists in the compiled product
 * and prints how long changes take to serve, how long a cold start takes, what the processes weigh
 * and how fast reads stay meanwhile. A figure for people; it asserts nothing.
 *
 *   node test/scale/scale.mjs [--sites 1000] [--policies 50] [--lists 200] [--entries 200000]
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { documentOf, megabytes, print, Product, quantiles, until } from './product.mjs';

const { values } = parseArgs({
  options: {
    sites: { type: 'string', default: '1000' },
    policies: { type: 'string', default: '50' },
    lists: { type: 'string', default: '200' },
    entries: { type: 'string', default: '200000' },
    changes: { type: 'string', default: '20' },
    large: { type: 'string', default: '600000' },
    workers: { type: 'string', default: '2' },
    build: { type: 'string', default: join(import.meta.dirname, '..', '..', '.build') },
    keep: { type: 'boolean', default: false },
    data: { type: 'string' },
    quiet: { type: 'boolean', default: false },
  },
});
const size = {
  sites: Number(values.sites),
  policies: Number(values.policies),
  lists: Number(values.lists),
  entries: Number(values.entries),
  changes: Number(values.changes),
  large: Number(values.large),
};
const perList = Math.ceil(size.entries / size.lists);
const poolCount = 20;
const settleMs = 3_000;

// Folder of an earlier run with --keep: its store is used as it is.
const made = values.data !== undefined;
const data = values.data ?? mkdtempSync(join(tmpdir(), 'waf-scale-'));
const product = new Product({
  build: values.build,
  data,
  workers: values.workers,
  quiet: values.quiet,
  flags: ['--no-demo'],
});

const pools = (port) =>
  Array.from({ length: poolCount }, (_, at) =>
    documentOf('Upstream', `pool-${at}`, { endpoints: [{ url: `http://127.0.0.1:${port}` }] }),
  );
const policies = () =>
  Array.from({ length: size.policies }, (_, at) =>
    documentOf('Policy', `policy-${at}`, {
      crsRulesetRef: 'default',
      crsCore: {
        blockingParanoiaLevel: 1,
        detectionParanoiaLevel: 1,
        inboundAnomalyScoreThreshold: 5,
        outboundAnomalyScoreThreshold: 4,
      },
      argLimits: { maxNumArgs: 100 + at },
    }),
  );
const lists = () =>
  Array.from({ length: size.lists }, (_, at) =>
    documentOf('IpList', `list-${at}`, {
      entries: Array.from(
        { length: perList },
        (_, one) => `10.${at % 256}.${Math.floor(one / 256)}.${one % 256}`,
      ),
    }),
  );
const site = (at, change = {}) =>
  documentOf('Site', `site-${at}`, {
    primaryHost: `site-${at}.example`,
    upstreamRef: `pool-${at % poolCount}`,
    policyRef: `policy-${at % size.policies}`,
    ...change,
  });

/** Lists that nothing refers to would not travel. */
async function bindLists() {
  for (let at = 0; at < size.lists; at++) {
    const place = { ipListId: `list-${at}`, policyId: `policy-${at % size.policies}` };
    const choice = { kind: 'deny', addressSource: 'client_ip', matchMode: 'in_list' };
    await product.call('IpListService/UpsertIpListBinding', { binding: { ...place, ...choice } });
  }
}

/** Changes, one after another, each until traffic shows it. */
async function measureChanges() {
  const times = { site: [], policy: [], list: [] };
  for (let at = 0; at < size.changes; at++) {
    const alias = `alias-${at}.example`;
    let began = performance.now();
    await product.apply([site(at, { aliases: [alias] })], 1);
    await until(async () => (await product.through(alias)).status === 200);
    times.site.push(performance.now() - began);
    const { policy } = await product.call('PolicyService/GetPolicy', {
      id: `policy-${at % size.policies}`,
    });
    const off = at % 2 === 0;
    const host = `site-${at % size.policies}.example`;
    began = performance.now();
    await product.call('PolicyService/SetEngineState', {
      policyId: policy.id,
      engineState: off ? 'ENGINE_STATE_OFF' : 'ENGINE_STATE_ON',
      revision: policy.revision,
    });
    const attack = '/?id=1%27%20OR%20%271%27=%271%20UNION%20SELECT%20password%20FROM%20users--';
    const wanted = off ? 200 : 403;
    await until(async () => (await product.through(host, attack)).status === wanted);
    times.policy.push(performance.now() - began);
    began = performance.now();
    const entries = [{ value: `172.16.${at}.1` }];
    await product.call('IpListService/AddEntries', { ipListId: `list-${at}`, entries });
    await product.caughtUp();
    times.list.push(performance.now() - began);
  }
  print('change of a site until it serves', quantiles(times.site));
  print('change of a policy until it serves', quantiles(times.policy));
  print('change of a list until it is applied', quantiles(times.list));
}

/** Reads for as long as `work` takes, and prints how long they took. */
async function whileReading(name, work) {
  let working = true;
  const times = { Get: [], List: [] };
  const timed = async (kind, rpc, body) => {
    const began = performance.now();
    await product.call(rpc, body);
    times[kind].push(performance.now() - began);
  };
  const reading = (async () => {
    for (let at = 0; working; at++) {
      await timed('Get', 'SiteService/GetSite', { id: `site-${at % size.sites}` });
      await timed('List', 'SiteService/ListSites', { page: { page: 1 + (at % 5), pageSize: 50 } });
      await timed('Get', 'PolicyService/GetPolicy', { id: `policy-${at % size.policies}` });
      await timed('List', 'PolicyService/ListPolicies', { page: { page: 1, pageSize: 50 } });
      await timed('List', 'IpListService/ListIpLists', { page: { page: 1, pageSize: 50 } });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  await work();
  working = false;
  await reading;
  print(`Get while ${name}`, quantiles(times.Get));
  print(`List while ${name}`, quantiles(times.List));
}

/** Reads while changes are published: one after another, many at once, one large list. */
async function measureReads() {
  await whileReading('publishing', async () => {
    for (let at = 0; at < 40; at++) {
      await product.apply([site(at, { aliases: [`other-${at}.example`] })], 1);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
  await whileReading('applying all sites at once', async () => {
    const all = Array.from({ length: size.sites }, (_, at) =>
      site(at, { aliases: [`again-${at}.example`] }),
    );
    await product.apply(all, 1_000);
    await product.caughtUp();
  });
  await whileReading('replacing a large list', async () => {
    const value = (at) => `11.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;
    const entries = Array.from({ length: size.large }, (_, at) => ({ value: value(at) }));
    await product.call('IpListService/ReplaceIpListEntries', { id: 'list-0', entries });
    await product.caughtUp();
  });
}

/** What sites weigh that use policies which others use too; then they go again. */
async function measureFurtherSites() {
  const count = 2 * size.sites;
  const lighter = product.weigh();
  const further = Array.from({ length: count }, (_, at) => site(size.sites + at));
  await product.apply(further, 250);
  await product.caughtUp();
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const bytes = (product.weigh().engine.own - lighter.engine.own) / count;
  print('engine, bytes per further site', `${bytes.toFixed(0)} (${count} sites)`);
  for (let at = 0; at < count; at++) {
    await product.call('SiteService/DeleteSite', { id: `site-${size.sites + at}` });
  }
  await product.caughtUp();
}

async function makeStore(origin) {
  const began = performance.now();
  await product.apply(pools(origin), poolCount);
  await product.apply(policies(), 10);
  await product.apply(lists(), 20);
  await bindLists();
  await product.apply(
    Array.from({ length: size.sites }, (_, at) => site(at)),
    250,
  );
  await product.caughtUp();
  print('store made and serving', `${((performance.now() - began) / 1000).toFixed(1)} s`);
}

async function measure(origin) {
  await product.start();
  if (!made) await makeStore(origin);
  await product.apply(pools(origin), poolCount);
  await product.caughtUp();
  await measureChanges();
  await measureReads();
  await measureFurtherSites();
  const after = product.weigh();
  print('resident', `control ${megabytes(after.control)}, engine ${megabytes(after.engine)}`);
  await product.stop();
  await product.start();
  const host = `site-${size.sites - 1}.example`;
  await until(async () => (await product.through(host)).status === 200, 5);
  const coldMs = performance.now() - product.startedMs;
  print('cold start until a site serves', `${(coldMs / 1000).toFixed(1)} s`);
  await product.caughtUp();
  const settledMs = performance.now() - product.startedMs;
  print('cold start until control agrees', `${(settledMs / 1000).toFixed(1)} s`);
  const cold = product.weigh();
  print('resident, cold', `control ${megabytes(cold.control)}, engine ${megabytes(cold.engine)}`);
  await product.stop();
}

const origin = createServer((_request, response) => response.end('from the origin'));
await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
print(
  'store',
  `${size.sites} sites, ${size.policies} policies, ${size.lists} lists, ` +
    `${size.lists * perList} entries`,
);
try {
  await measure(origin.address().port);
} finally {
  origin.close();
  product.close();
  if (!values.keep && !made) rmSync(data, { recursive: true, force: true });
}
