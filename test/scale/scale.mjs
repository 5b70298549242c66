/**
 * Owns the scale run: makes a store of many sites, policies and IP lists in the compiled product
 * and prints how long changes take to serve, how long a cold start takes, what the processes weigh
 * and how fast reads stay meanwhile. A figure for people; it asserts nothing.
 *
 *   node test/scale/scale.mjs [--sites 1000] [--policies 50] [--lists 200] [--entries 200000]
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { createServer as createTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

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
const requestTimeoutMs = 600_000;
const settleMs = 3_000;

// Folder of an earlier run with --keep: its store is used as it is.
const made = values.data !== undefined;
const data = values.data ?? mkdtempSync(join(tmpdir(), 'waf-scale-'));
const socketPath = join(data, 'admin.sock');
const proxyAgent = new Agent({ keepAlive: true });
const adminAgent = new Agent({ keepAlive: true, maxSockets: 4 });

function ask(options, body) {
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, timeout: requestTimeoutMs }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function call(rpc, body = {}) {
  const path = `/waf.v1.${rpc}`;
  const headers = { 'content-type': 'application/json' };
  const options = { socketPath, path, method: 'POST', headers, agent: adminAgent };
  const answer = await ask(options, JSON.stringify(body));
  if (answer.status !== 200) throw new Error(`${rpc}: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text);
}

const through = (port, host, path = '/') =>
  ask({ host: '127.0.0.1', port, path, headers: { host }, agent: proxyAgent });

async function until(check, everyMs = 2, forMs = 600_000) {
  const started = performance.now();
  while (performance.now() - started < forMs) {
    if (await check().catch(() => false)) return performance.now() - started;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error('it never came true');
}

const documentOf = (kind, name, spec) =>
  JSON.stringify({ apiVersion: 'waf.io/v1', kind, metadata: { name, id: name }, spec });

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

async function apply(documents, batch) {
  for (let at = 0; at < documents.length; at += batch) {
    const text = documents.slice(at, at + batch).join('\n---\n');
    await call('SystemService/Apply', { manifestYaml: Buffer.from(text).toString('base64') });
  }
}

/** Lists that nothing refers to would not travel. */
async function bindLists() {
  for (let at = 0; at < size.lists; at++) {
    const place = { ipListId: `list-${at}`, policyId: `policy-${at % size.policies}` };
    const choice = { kind: 'deny', addressSource: 'client_ip', matchMode: 'in_list' };
    await call('IpListService/UpsertIpListBinding', { binding: { ...place, ...choice } });
  }
}

/** Starts the product; resolves to its port, process and start time. */
async function start() {
  const port = await freePort();
  const management = await freePort();
  const line = [
    join(values.build, 'control', 'cli', 'main.js'),
    ...['run', '--data', data, '--no-demo', '--workers', values.workers],
    ...[
      '--https',
      'off',
      '--proxy',
      `127.0.0.1:${port}`,
      '--management',
      `127.0.0.1:${management}`,
    ],
  ];
  const startedMs = performance.now();
  const child = spawn(process.execPath, line, {
    stdio: ['ignore', 'ignore', values.quiet ? 'ignore' : 'inherit'],
  });
  await until(async () => (await ask({ socketPath, path: '/healthz' })).status === 200, 20);
  return { port, child, startedMs };
}

function stop({ child }) {
  return new Promise((resolve) => {
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createTcp();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Resident bytes, all and without files' pages, of the child of `parent` that `text` names. */
function residentBytes(parent, text) {
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) !== parent) continue;
      if (!readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text)) continue;
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      const bytes = (field) => {
        const found = new RegExp(`${field}:\\s+(\\d+)`).exec(status);
        return Number(found?.[1]) * 1024;
      };
      return { all: bytes('VmRSS'), own: bytes('RssAnon') };
    } catch {
      // It ended while we looked.
    }
  }
  return { all: 0, own: 0 };
}

function quantiles(times) {
  const sorted = times.toSorted((left, right) => left - right);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const text = (share) => `${at(share).toFixed(1)}`;
  return `p50 ${text(0.5)} ms, p99 ${text(0.99)} ms, most ${text(1)} ms (${sorted.length})`;
}

const print = (name, text) => process.stdout.write(`${name.padEnd(34)} ${text}\n`);
const megabytes = ({ all, own }) => {
  const [shown, alone] = [all, own].map((bytes) => (bytes / 1024 / 1024).toFixed(0));
  return `${shown} MB (${alone} MB without files)`;
};

const caughtUp = () =>
  until(async () => (await ask({ socketPath, path: '/readyz' })).status === 200, 20);

/** Changes, one after another, each until traffic shows it. */
async function measureChanges(product) {
  const times = { site: [], policy: [], list: [] };
  for (let at = 0; at < size.changes; at++) {
    const alias = `alias-${at}.example`;
    let began = performance.now();
    await apply([site(at, { aliases: [alias] })], 1);
    await until(async () => (await through(product.port, alias)).status === 200);
    times.site.push(performance.now() - began);
    const { policy } = await call('PolicyService/GetPolicy', {
      id: `policy-${at % size.policies}`,
    });
    const off = at % 2 === 0;
    const host = `site-${at % size.policies}.example`;
    began = performance.now();
    await call('PolicyService/SetEngineState', {
      policyId: policy.id,
      engineState: off ? 'ENGINE_STATE_OFF' : 'ENGINE_STATE_ON',
      revision: policy.revision,
    });
    const attack = '/?id=1%27%20OR%20%271%27=%271%20UNION%20SELECT%20password%20FROM%20users--';
    const wanted = off ? 200 : 403;
    await until(async () => (await through(product.port, host, attack)).status === wanted);
    times.policy.push(performance.now() - began);
    began = performance.now();
    const entries = [{ value: `172.16.${at}.1` }];
    await call('IpListService/AddEntries', { ipListId: `list-${at}`, entries });
    await caughtUp();
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
    await call(rpc, body);
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
      await apply([site(at, { aliases: [`other-${at}.example`] })], 1);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
  await whileReading('applying all sites at once', async () => {
    const all = Array.from({ length: size.sites }, (_, at) =>
      site(at, { aliases: [`again-${at}.example`] }),
    );
    await apply(all, 1_000);
    await caughtUp();
  });
  await whileReading('replacing a large list', async () => {
    const value = (at) => `11.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;
    const entries = Array.from({ length: size.large }, (_, at) => ({ value: value(at) }));
    await call('IpListService/ReplaceIpListEntries', { id: 'list-0', entries });
    await caughtUp();
  });
}

const weigh = (product) => ({
  control: residentBytes(product.child.pid, 'control/main.js'),
  engine: residentBytes(product.child.pid, 'engine/main.js'),
});

/** What sites weigh that use policies which others use too; then they go again. */
async function measureFurtherSites(product) {
  const count = 2 * size.sites;
  const lighter = weigh(product);
  const further = Array.from({ length: count }, (_, at) => site(size.sites + at));
  await apply(further, 250);
  await caughtUp();
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const bytes = (weigh(product).engine.own - lighter.engine.own) / count;
  print('engine, bytes per further site', `${bytes.toFixed(0)} (${count} sites)`);
  for (let at = 0; at < count; at++) {
    await call('SiteService/DeleteSite', { id: `site-${size.sites + at}` });
  }
  await caughtUp();
}

async function makeStore(origin) {
  const began = performance.now();
  await apply(pools(origin), poolCount);
  await apply(policies(), 10);
  await apply(lists(), 20);
  await bindLists();
  await apply(
    Array.from({ length: size.sites }, (_, at) => site(at)),
    250,
  );
  await caughtUp();
  print('store made and serving', `${((performance.now() - began) / 1000).toFixed(1)} s`);
}

async function measure(origin) {
  let product = await start();
  if (!made) await makeStore(origin);
  await apply(pools(origin), poolCount);
  await caughtUp();
  await measureChanges(product);
  await measureReads();
  await measureFurtherSites(product);
  const after = weigh(product);
  print('resident', `control ${megabytes(after.control)}, engine ${megabytes(after.engine)}`);
  await stop(product);
  product = await start();
  const host = `site-${size.sites - 1}.example`;
  await until(async () => (await through(product.port, host)).status === 200, 5);
  const coldMs = performance.now() - product.startedMs;
  print('cold start until a site serves', `${(coldMs / 1000).toFixed(1)} s`);
  await caughtUp();
  const settledMs = performance.now() - product.startedMs;
  print('cold start until control agrees', `${(settledMs / 1000).toFixed(1)} s`);
  const cold = weigh(product);
  print('resident, cold', `control ${megabytes(cold.control)}, engine ${megabytes(cold.engine)}`);
  await stop(product);
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
  proxyAgent.destroy();
  adminAgent.destroy();
  if (!values.keep && !made) rmSync(data, { recursive: true, force: true });
}
