/**
 * The figures of control: how long it takes to start, its memory, and how fast RPCs of an
 * installation with a few hundred sites are answered at a steady rate. Over TLS and with sessions,
 * as clients call. A figure for people; it asserts nothing. Works on the compiled product:
 *
 *   node test/scale/control-figures.mjs [--sites 200] [--rate 100] [--seconds 8] [--idle 20]
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    sites: { type: 'string', default: '200' },
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '8' },
    idle: { type: 'string', default: '20' },
    build: { type: 'string', default: join(import.meta.dirname, '..', '..', '.build') },
  },
});
const count = Number(values.sites);
const idleMs = Number(values.idle) * 1000;
/** A session may call 50 times a second. */
const sessionCount = Math.ceil(Number(values.rate) / 25);
const starts = 3;
const burst = 1000;

const data = mkdtempSync(join(tmpdir(), 'waf-figures-'));
const socketPath = join(data, 'admin.sock');
const kept = { keepAlive: true, maxSockets: 16, scheduling: 'fifo' };
const socketAgent = new Agent({ ...kept, timeout: 3000 });
const rows = [];
const row = (what, figure) => rows.push([what, figure]);
const milliseconds = (value) => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;

function ask(send, options, body) {
  return new Promise((resolve, reject) => {
    const call = send({ ...options, timeout: 60_000 }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() });
      });
    });
    call.on('timeout', () => call.destroy(new Error('no answer in a minute')));
    call.on('error', reject);
    call.end(body);
  });
}

async function rpc(send, options, name, body) {
  const headers = { 'content-type': 'application/json', ...options.headers };
  const line = { ...options, headers, method: 'POST', path: `/waf.v1.${name}` };
  const answer = await ask(send, line, JSON.stringify(body));
  if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text);
}

const local = (name, body = {}) => rpc(httpRequest, { socketPath, agent: socketAgent }, name, body);

async function until(check) {
  const deadline = performance.now() + 300_000;
  while (performance.now() < deadline) {
    if (await check().catch(() => false)) return;
    await sleep(10);
  }
  throw new Error('it was not ready in five minutes');
}

const caughtUp = async () =>
  (await ask(httpRequest, { socketPath, path: '/readyz' })).status === 200;

function freePort() {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts the product with its demo site. */
async function startProduct() {
  const management = await freePort();
  const line = [
    join(values.build, 'control', 'cli', 'main.js'),
    ...['run', '--log-level', 'error', '--data', data, '--workers', '1'],
    ...[
      '--https',
      'off',
      '--proxy',
      `127.0.0.1:${await freePort()}`,
      '--management',
      `127.0.0.1:${management}`,
    ],
  ];
  const began = performance.now();
  const child = spawn(process.execPath, line, { stdio: 'ignore' });
  running = child;
  await until(caughtUp);
  return { child, management, startMs: performance.now() - began };
}

/** Control as the supervisor starts it, without an engine; resolves to its milliseconds. */
async function startControl() {
  const line = [
    ...controlFlags,
    join(values.build, 'control', 'main.js'),
    ...[
      '--data',
      data,
      '--management',
      '127.0.0.1:0',
      '--admin-socket',
      socketPath,
      '--no-demo',
      '--log-level',
      'error',
    ],
  ];
  const began = performance.now();
  const child = spawn(process.execPath, line, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  running = child;
  await new Promise((resolve) => child.once('message', resolve));
  const took = performance.now() - began;
  await stop(child);
  return took;
}

function stop(child) {
  running = null;
  socketAgent.destroy();
  return new Promise((resolve) => {
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });
}

/** The control process under a supervisor: its id, and the flags that Node was given. */
function controlOf(parent) {
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) !== parent) continue;
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      const script = words.findIndex((word) => word.endsWith(join('control', 'main.js')));
      if (script > 0) return { pid: name, flags: words.slice(1, script) };
    } catch {
      // It ended while we looked.
    }
  }
  throw new Error('control is not running');
}

function weigh(what, pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (field) => {
    const found = new RegExp(`${field}:\\s+(\\d+)`).exec(status);
    return (Number(found?.[1]) / 1024).toFixed(0);
  };
  row(what, `${megabytes('VmRSS')} MB (${megabytes('RssAnon')} MB without files)`);
}

async function makeSites() {
  const documents = Array.from({ length: count }, (_, at) =>
    JSON.stringify({
      apiVersion: 'waf.io/v1',
      kind: 'Site',
      metadata: { name: `site-${at}`, id: `site-${at}` },
      spec: {
        primaryHost: `site-${at}.example`,
        upstreamRef: 'figures',
        policyRef: 'policy-standard',
      },
    }),
  );
  const pool = JSON.stringify({
    apiVersion: 'waf.io/v1',
    kind: 'Upstream',
    metadata: { name: 'figures', id: 'figures' },
    spec: { endpoints: [{ url: 'http://127.0.0.1:9' }] },
  });
  const text = [pool, ...documents].join('\n---\n');
  await local('SystemService/Apply', { manifestYaml: Buffer.from(text).toString('base64') });
  await until(caughtUp);
}

/** One client for each session, over TLS. */
async function signIn(port) {
  const ca = readFileSync(join(data, 'tls', 'ca.pem'));
  // The service closes connections that are idle for five seconds: ours go before that.
  const agent = new TlsAgent({ ...kept, timeout: 3000, ca });
  const at = { host: '127.0.0.1', port, agent };
  const given = {
    username: 'admin',
    password: readFileSync(join(data, 'admin-password'), 'utf8').trim(),
  };
  const clients = [];
  for (let one = 0; one < sessionCount; one++) {
    const { accessToken } = await rpc(httpsRequest, at, 'AuthService/Login', given);
    const headers = { authorization: `Bearer ${accessToken}` };
    clients.push((name, body) => rpc(httpsRequest, { ...at, headers }, name, body));
  }
  return { clients, close: () => agent.destroy() };
}

/** Calls at a steady rate, whether or not earlier ones are answered. */
async function measureRpc(what, clients, call) {
  const gapMs = 1000 / Number(values.rate);
  const calls = Math.round(Number(values.rate) * Number(values.seconds));
  const times = [];
  const open = [];
  const failures = [];
  const began = performance.now();
  for (let at = 0; at < calls && failures.length === 0; at++) {
    await sleep(Math.max(0, began + at * gapMs - performance.now()));
    const sent = performance.now();
    const answered = call(clients[at % clients.length], at).then(() => {
      times.push(performance.now() - sent);
    });
    open.push(answered.catch((error) => failures.push(error)));
  }
  await Promise.all(open);
  if (failures.length > 0) throw new Error(`${what} failed`, { cause: failures[0] });
  times.sort((left, right) => left - right);
  const quantile = (share) => times[Math.min(calls - 1, Math.floor(calls * share))];
  const [half, most] = [quantile(0.5), quantile(0.99)].map(milliseconds);
  row(what, `p50 ${half}, p99 ${most} (${calls} calls)`);
}

async function measureRpcs(clients) {
  const idOf = (at) => `site-${at % count}`;
  const page = { page: 1, pageSize: 50 };
  const get = (client, at) => client('SiteService/GetSite', { id: idOf(at) });
  const sites = new Map();
  for (let at = 0; at < count; at++)
    sites.set(idOf(at), (await local('SiteService/GetSite', { id: idOf(at) })).site);
  const update = async (client, at) => {
    const site = { ...sites.get(idOf(at)), aliases: [`alias-${at}.example`] };
    const { revision } = site;
    const change = { site, revision, updateMask: 'aliases' };
    const answer = await client('SiteService/UpdateSite', change);
    sites.set(idOf(at), answer.site);
  };
  await measureRpc('GetSite', clients, get);
  await measureRpc('ListSites, 50 of them', clients, (client) =>
    client('SiteService/ListSites', { page }),
  );
  await measureRpc('UpdateSite, published', clients, update);
}

async function sendBurst() {
  const names = [
    'SiteService/ListSites',
    'PolicyService/ListPolicies',
    'UpstreamService/ListUpstreams',
  ];
  const all = Array.from({ length: burst }, (_, at) => local(names[at % names.length]));
  const began = performance.now();
  await Promise.all(all);
  row(`burst of ${burst} List RPCs`, milliseconds(performance.now() - began));
}

let running = null;
let controlFlags = [];
try {
  await measureAll();
} finally {
  if (running !== null) await stop(running);
  rmSync(data, { recursive: true });
}

const heading = `${count} sites, ${values.rate} calls a second, ${sessionCount} sessions`;
process.stdout.write(`${heading}, load ${loadavg()[0].toFixed(1)}\n\n`);
for (const [what, figure] of rows) process.stdout.write(`${what.padEnd(34)} ${figure}\n`);

async function measureAll() {
  const first = await startProduct();
  controlFlags = controlOf(first.child.pid).flags;
  row('first start until all is served', milliseconds(first.startMs));
  await makeSites();
  await stop(first.child);
  const took = [];
  for (let at = 0; at < starts; at++) took.push(await startControl());
  row('control, start to ready', took.map(milliseconds).join(', '));
  const product = await startProduct();
  row('second start until all is served', milliseconds(product.startMs));
  const { pid } = controlOf(product.child.pid);
  await sleep(idleMs);
  weigh('control, idle', pid);
  await sendBurst();
  weigh('control, after the burst', pid);
  const { clients, close } = await signIn(product.management);
  await measureRpcs(clients);
  weigh('control, after the calls', pid);
  await sleep(idleMs);
  weigh('control, idle again', pid);
  close();
}
