/**
 * What observing costs traffic: two products take the same requests in turn, one that observes as
 * little as may be, one with everything on: all access events, evidence with bodies, an access log
 * file, and SIEM targets that take nothing. The second also with control stopped, and with its disk
 * full. Prints latencies and CPU time a request, each as the median of the rounds, and what was
 * dropped and kept. CPU time is that of the front thread, for which responses wait, of the rest of
 * the engine, and of control. Figures for people; it asserts nothing.
 *
 *   node test/scale/observation-cost.mjs [--requests 20000] [--rounds 5] [--senders 8]
 *     [--only everything|access|evidence|access-log|siem|security] [--profiles FOLDER]
 *
 * `--only` switches one thing on, or everything, and leaves control and the disk alone.
 * `--profiles` writes CPU profiles of every thread of the second product.
 */

import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ask, childOf, print, Product, until } from './product.mjs';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    senders: { type: 'string', default: '8' },
    only: { type: 'string' },
    profiles: { type: 'string' },
  },
});
const [requests, rounds, senders] = ['requests', 'rounds', 'senders'].map((name) =>
  Number(values[name]),
);
const build = join(import.meta.dirname, '..', '..', '.build');
const attack = '/?id=1%27%20OR%20%271%27=%271';
const little = {
  ...{ accessMode: 'LOG_DETAIL_MODE_NONE', securityMode: 'LOG_DETAIL_MODE_NONE' },
  requestEvidenceMode: 'REQUEST_EVIDENCE_MODE_OFF',
};
const access = { accessMode: 'LOG_DETAIL_MODE_ALL' };
const security = { securityMode: 'LOG_DETAIL_MODE_ALL' };
const evidence = {
  ...{ evidencePairing: true, requestEvidenceMode: 'REQUEST_EVIDENCE_MODE_RETAINED_LOGS' },
  ...{ requestEvidenceBodyMode: 'REQUEST_EVIDENCE_BODY_MODE_PREFIX' },
  requestEvidenceBodyMaxBytes: 4096,
};
/** What `--only` switches on. Evidence is that of retained access events. */
const switches = {
  access: { policy: access },
  security: { policy: security },
  evidence: { policy: { ...access, ...evidence } },
  'access-log': { policy: {}, accessLog: true },
  siem: { policy: {}, targets: true },
};
const everything = {
  policy: { ...access, ...security, ...evidence },
  accessLog: true,
  targets: true,
};
switches.everything = everything;
const wanted = switches[values.only ?? 'everything'];
if (wanted === undefined) throw new Error(`--only is one of ${Object.keys(switches).join(', ')}`);

/** CPU time of one thread so far, microseconds. */
function threadUs(pid, thread) {
  const [ns] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
  return Number(ns) / 1000;
}

/** CPU time of the threads of a child of the product so far, microseconds. */
function threadTimes(product, program) {
  const pid = childOf(product.child.pid, `${program}/main.js`);
  return new Map(readdirSync(`/proc/${pid}/task`).map((thread) => [thread, threadUs(pid, thread)]));
}

/** The front thread is the one that works most where nothing is observed. */
function frontThread(before, after) {
  const spent = [...after].map(([thread, us]) => [us - (before.get(thread) ?? 0), thread]);
  return spent.sort(([left], [right]) => right - left)[0][1];
}

const sum = (times) => [...times.values()].reduce((total, us) => total + us, 0);

function cpuTimes(product) {
  const engine = threadTimes(product, 'engine');
  const front = engine.get(product.front) ?? 0;
  return {
    engine,
    front,
    rest: sum(engine) - front,
    control: sum(threadTimes(product, 'control')),
  };
}

/** One round: latencies in milliseconds, CPU times a request in microseconds. */
async function round(product) {
  const times = [];
  // Connections that were idle meanwhile may be closed while they are used again.
  product.proxyAgent.destroy();
  const before = cpuTimes(product);
  let next = 0;
  const send = async () => {
    while (next < requests) {
      const at = next++;
      const path = at % 20 === 19 ? attack : `/item/${at % 500}?page=${at % 9}`;
      const began = performance.now();
      await ask({ port: product.port, path, agent: product.proxyAgent });
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: senders }, send));
  times.sort((left, right) => left - right);
  const at = (share) => times[Math.floor((times.length - 1) * share)];
  // What was observed last is still on its way.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const after = cpuTimes(product);
  product.front ??= frontThread(before.engine, after.engine);
  const spent = (part) => (after[part] - before[part]) / times.length;
  const [front, rest, control] = ['front', 'rest', 'control'].map(spent);
  return { p50: at(0.5), p99: at(0.99), front, rest, control };
}

/** Servers that accept and never read. */
async function stuckTargets(count) {
  const sockets = [];
  const servers = [];
  for (let number = 0; number < count; number++) {
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      socket.on('error', () => socket.destroy());
      sockets.push(socket);
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    servers.push(server);
  }
  const close = () => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  };
  return { ports: servers.map((server) => server.address().port), close };
}

async function start(data, policy, flags) {
  const product = new Product({ build, data, workers: '1', quiet: true, flags });
  await product.start();
  await product.caughtUp();
  const sent = { policy, expectedRevision: '1', acknowledgeStorageRisk: true };
  await product.call('LogService/UpdateGlobalLogPolicy', sent);
  return product;
}

async function useTargets(product, ports) {
  const formats = ['access', 'audit', 'ecs'];
  const targets = ports.map((port, at) => ({
    ...{ id: `stuck-${at}`, transport: 'tcp', host: '127.0.0.1', port, queueBytes: 65_536 },
    ...{ format: formats[at], ...(formats[at] === 'audit' ? { evidence: true } : {}) },
  }));
  const values = { 'siem.targets': targets, 'outgoing.allowed_networks': ['127.0.0.0/8'] };
  await product.call('SystemService/UpdateSystemSettings', { values });
}

/** A small file system for the data; null where none can be mounted. */
function smallDisk(folder) {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=768m', 'tmpfs', folder], { stdio: 'pipe' });
    return folder;
  } catch {
    return null;
  }
}

function fillDisk(folder) {
  const file = openSync(join(folder, 'filler'), 'w');
  const piece = Buffer.alloc(1024 * 1024);
  try {
    for (;;) writeSync(file, piece);
  } catch (error) {
    if (error.code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

const median = (list) => list.toSorted((left, right) => left - right)[Math.floor(list.length / 2)];
const found = new Map();

/** A round of each, in turn. */
async function pair(name, plain, watched) {
  const base = await round(plain);
  const result = await round(watched);
  for (const [one, what] of [
    ['little', { ...base, base }],
    [name, { ...result, base }],
  ]) {
    found.set(one, [...(found.get(one) ?? []), what]);
  }
}

/** Medians, and what they are to those of the product that observes little, round by round. */
function report(name) {
  const list = found.get(name);
  const one = (field) => median(list.map((result) => result[field]));
  const over = median(list.map(({ p99, base }) => p99 / base.p99));
  const cpu = (part) => {
    const added = median(list.map((result) => result[part] - result.base[part]));
    return `${one(part).toFixed(1)} us (${added.toFixed(1)} more)`;
  };
  print(
    name,
    `p50 ${one('p50').toFixed(2)} ms, p99 ${one('p99').toFixed(2)} ms (${over.toFixed(2)} of ` +
      `little); CPU a request: front thread ${cpu('front')}, rest of the engine ${cpu('rest')}, ` +
      `control ${cpu('control')}`,
  );
}

/** What the stores and the targets of a product say of it all. */
async function account(product) {
  const { text } = await product.askAdmin('/metrics');
  for (const line of text.split('\n')) {
    const wanted = /^waf_(security_events|events_stored|requests_total|evidence_rejected)/;
    if (wanted.test(line) || /lane="siem:.*field="(written|dropped)"/.test(line)) {
      process.stdout.write(`  ${line}\n`);
    }
  }
}

/** A CPU profile of each thread, a round each. */
async function takeProfiles(product, folder) {
  mkdirSync(folder, { recursive: true });
  for (const [process, thread] of [
    ['control', 'main'],
    ['engine', 'main'],
    ['engine', 'front-0'],
  ]) {
    const path = `/debug/profile?seconds=3&process=${process}&thread=${thread}`;
    const [{ text }] = await Promise.all([product.askAdmin(path), round(product)]);
    writeFileSync(join(folder, `${process}-${thread}.cpuprofile`), text);
  }
}

/** The rounds without control, and without room on the disk. */
async function withoutHelp(plain, watched) {
  const control = childOf(watched.child.pid, 'control/main.js');
  process.kill(control, 'SIGSTOP');
  for (let turn = 0; turn < rounds; turn++) {
    await pair('everything, control stopped', plain, watched);
  }
  process.kill(control, 'SIGCONT');
  await until(async () => (await watched.askAdmin('/readyz')).status === 200, 100);
  if (disk !== null) {
    fillDisk(disk);
    for (let turn = 0; turn < rounds; turn++) {
      await pair('everything, disk full', plain, watched);
    }
    rmSync(join(disk, 'filler'));
  } else print('everything, disk full', 'skipped: a tmpfs cannot be mounted');
}

const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'waf-cost-')));
const disk = smallDisk(folders[1]);
const stuck = await stuckTargets(3);
const products = [];
try {
  const plain = await start(folders[0], little, []);
  products.push(plain);
  const log = ['--access-log', join(folders[0], 'access.log')];
  const policy = { ...little, ...wanted.policy };
  const watched = await start(folders[1], policy, wanted.accessLog === true ? log : []);
  products.push(watched);
  if (wanted.targets === true) await useTargets(watched, stuck.ports);
  for (const product of products) {
    await product.caughtUp();
    await round(product);
  }
  for (let turn = 0; turn < rounds; turn++) {
    await pair(values.only ?? 'everything', plain, watched);
  }
  if (values.only === undefined) await withoutHelp(plain, watched);
  if (values.profiles !== undefined) await takeProfiles(watched, values.profiles);
  for (const name of found.keys()) report(name);
  print('afterwards', '');
  await account(watched);
} finally {
  for (const product of products) {
    await product.stop();
    product.close();
  }
  stuck.close();
  if (disk !== null) execFileSync('umount', [disk]);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
