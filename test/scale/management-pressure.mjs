/**
 * Measures what silent connections and a large manifest do to other callers of control: latency of
 * calls over the network, from another address and over the socket, and control's memory.
 * Usage: node test/scale/management-pressure.mjs [folder of a checkout that is built]
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const silentConnections = 1_100;
const keys = 500_000;
const patienceMs = 60_000;
const callTimeoutMs = 4_000;

const root = process.argv[2] ?? join(import.meta.dirname, '..', '..');
const data = mkdtempSync(join(tmpdir(), 'waf-pressure-'));
const port = await freePort();
const entry = join(root, '.build', 'control', 'main.js');
const flags = ['--data', data, '--management', `127.0.0.1:${port}`, '--no-demo'];
const control = spawn(process.execPath, [entry, ...flags], { stdio: 'ignore' });
const socket = {
  socketPath: join(data, 'admin.sock'),
  path: '/waf.v1.SiteService/ListSites',
  body: '{}',
};
const network = { host: '127.0.0.1', port, path: '/healthz', method: 'GET', body: '' };

function print(line) {
  process.stdout.write(`${line}\n`);
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port: found } = server.address();
      server.close(() => resolve(found));
    });
  });
}

/** Status (0 for none) and milliseconds of one call. */
function call({ body, ...options }) {
  const began = performance.now();
  return new Promise((resolve) => {
    const end = (status) => resolve({ status, ms: performance.now() - began });
    const make = options.socketPath === undefined ? tlsRequest : plainRequest;
    const headers = { 'content-type': 'application/json' };
    const common = { method: 'POST', headers, rejectUnauthorized: false, agent: false };
    const request = make({ ...common, timeout: callTimeoutMs, ...options }, (response) => {
      response.resume().on('end', () => end(response.statusCode));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => end(0));
    request.end(body);
  });
}

async function probe(count, options) {
  const took = [];
  for (let at = 0; at < count; at++) {
    const { status, ms } = await call(options);
    if (status === 200) took.push(ms);
  }
  took.sort((left, right) => left - right);
  const p99 = took[Math.floor(took.length * 0.99)] ?? Number.NaN;
  return `${took.length}/${count} ok, p99 ${p99.toFixed(0)} ms`;
}

function memoryMb() {
  const status = readFileSync(`/proc/${control.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024);
}

async function tell(name) {
  const near = await probe(12, network);
  const far = await probe(12, { ...network, localAddress: '127.0.0.9' });
  const local = await probe(12, socket);
  print(`${name}: same address ${near}; other address ${far}; socket ${local}`);
  print(`${name}: control holds ${memoryMb()} MB`);
}

try {
  while ((await call(socket)).status !== 200) await sleep(200);
  await tell('idle');
  const silent = Array.from({ length: silentConnections }, () => {
    const one = connect({ host: '127.0.0.1', port });
    return one.on('error', () => undefined).on('connect', () => one.write(Buffer.from([0x16])));
  });
  await sleep(3_000);
  await tell(`${silentConnections} silent connections`);
  for (const one of silent) one.destroy();
  await sleep(500);
  const lines = Array.from({ length: keys }, (_one, at) => `k${at}: 1`).join('\n');
  const manifestYaml = Buffer.from(lines).toString('base64');
  const large = { ...socket, path: '/waf.v1.SystemService/PreviewApply', timeout: patienceMs };
  let answer = null;
  const asked = call({ ...large, body: JSON.stringify({ manifestYaml }) });
  void asked.then((found) => (answer = found));
  await sleep(300);
  let [calls, failed, slowestMs] = [0, 0, 0];
  for (const began = performance.now(); !answer && performance.now() - began < patienceMs;) {
    const { status, ms } = await call(socket);
    calls++;
    if (status !== 200) failed++;
    slowestMs = Math.max(slowestMs, ms);
    await sleep(20);
  }
  const said = answer ? `${answer.status} after ${answer.ms.toFixed(0)} ms` : 'no answer';
  print(
    `a manifest of ${keys} keys: ${said}; meanwhile ${calls} calls, ${failed} failed, ` +
      `slowest ${slowestMs.toFixed(0)} ms; control holds ${memoryMb()} MB`,
  );
} finally {
  control.kill('SIGKILL');
  rmSync(data, { recursive: true, force: true });
}
process.exit(0);
