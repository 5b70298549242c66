/**
 * What observing costs traffic: two products take the same requests in turn, one that observes as
 * little as may be, one with everything on: all access events, evidence with bodies, an access log
 * file, and SIEM targets that take nothing. The second also with control stopped, and with its disk
 * full. Prints latencies and CPU time a request, each as the median of the rounds, and what was
 * dropped and kept. Figures for people; it asserts nothing.
 *
 *   node test/scale/observation-cost.mjs [--requests 20000] [--rounds 5] [--senders 8]
 */

import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
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
  },
});
const [requests, rounds, senders] = ['requests', 'rounds', 'senders'].map((name) =>
  Number(values[name]),
);
const build = join(import.meta.dirname, '..', '..', '.build');
const attack = '/?id=1%27%20OR%20%271%27=%271';
const tickUs = 1e6 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const little = {
  ...{ accessMode: 'LOG_DETAIL_MODE_NONE', securityMode: 'LOG_DETAIL_MODE_NONE' },
  requestEvidenceMode: 'REQUEST_EVIDENCE_MODE_OFF',
};
const everything = {
  ...{ accessMode: 'LOG_DETAIL_MODE_ALL', securityMode: 'LOG_DETAIL_MODE_ALL' },
  ...{ evidencePairing: true, requestEvidenceMode: 'REQUEST_EVIDENCE_MODE_RETAINED_LOGS' },
  ...{ requestEvidenceBodyMode: 'REQUEST_EVIDENCE_BODY_MODE_PREFIX' },
  requestEvidenceBodyMaxBytes: 4096,
};

/** CPU time of a child of the product so far, microseconds. */
function cpuUs(product, program) {
  const pid = childOf(product.child.pid, `${program}/main.js`);
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickUs;
}

/** One round: latencies in milliseconds, CPU time of the engine a request in microseconds. */
async function round(product) {
  const times = [];
  // Connections that were idle meanwhile may be closed while they are used again.
  product.proxyAgent.destroy();
  const before = cpuUs(product, 'engine');
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
  const cpu = (cpuUs(product, 'engine') - before) / times.length;
  return { p50: at(0.5), p99: at(0.99), cpu };
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
  const added = median(list.map(({ cpu, base }) => cpu - base.cpu));
  print(
    name,
    `p50 ${one('p50').toFixed(2)} ms, p99 ${one('p99').toFixed(2)} ms (${over.toFixed(2)} of ` +
      `little), engine ${one('cpu').toFixed(0)} us CPU a request (${added.toFixed(1)} more)`,
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

const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'waf-cost-')));
const disk = smallDisk(folders[1]);
const stuck = await stuckTargets(3);
const products = [];
try {
  const plain = await start(folders[0], little, []);
  products.push(plain);
  const log = ['--access-log', join(folders[0], 'access.log')];
  const watched = await start(folders[1], everything, log);
  products.push(watched);
  await useTargets(watched, stuck.ports);
  for (const product of products) {
    await product.caughtUp();
    await round(product);
  }
  for (let turn = 0; turn < rounds; turn++) {
    await pair('everything', plain, watched);
  }
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
