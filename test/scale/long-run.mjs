/**
 * The long run: mixed load on the compiled product while policies change each second, sites
 * come and go and IP lists are replaced; prints what each process weighs, how many files it holds
 * open and what lies on disk, so that growth is seen. A figure for people; it asserts nothing.
 *
 *   node test/scale/long-run.mjs [--minutes 10] [--sites 50] [--rate 100] [--every 30]
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { createServer as createTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    sites: { type: 'string', default: '50' },
    rate: { type: 'string', default: '100' },
    every: { type: 'string', default: '30' },
    build: { type: 'string', default: join(import.meta.dirname, '..', '..', '.build') },
  },
});
const siteCount = Number(values.sites);
const data = mkdtempSync(join(tmpdir(), 'waf-long-'));
const socketPath = join(data, 'admin.sock');
const agent = new Agent({ keepAlive: true, maxSockets: 16 });
const megabyte = 1024 * 1024;
const listEntries = 2_000;
const attack = '/?id=1%27%20UNION%20SELECT%20password%20FROM%20users--%20-';

function ask(options, body) {
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, timeout: 60_000, agent }, (response) => {
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
  const headers = { 'content-type': 'application/json' };
  const options = { socketPath, path: `/waf.v1.${rpc}`, method: 'POST', headers };
  const answer = await ask(options, JSON.stringify(body));
  if (answer.status !== 200) throw new Error(`${rpc}: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text);
}

const documentOf = (kind, name, spec) =>
  JSON.stringify({ apiVersion: 'waf.io/v1', kind, metadata: { name, id: name }, spec });

const apply = (documents) =>
  call('SystemService/Apply', {
    manifestYaml: Buffer.from(documents.join('\n---\n')).toString('base64'),
  });

const siteDocument = (at) =>
  documentOf('Site', `site-${at}`, {
    primaryHost: `site-${at}.example`,
    upstreamRef: 'pool',
    policyRef: 'policy',
  });

const policyDocument = (turn) =>
  documentOf('Policy', 'policy', {
    crsRulesetRef: 'default',
    crsCore: { blockingParanoiaLevel: 1, inboundAnomalyScoreThreshold: 5 + (turn % 5) },
    argLimits: { maxNumArgs: 100 + turn },
  });

const listDocument = (turn) =>
  documentOf('IpList', 'list', {
    entries: Array.from({ length: listEntries }, (_, at) => {
      return `10.${turn % 256}.${Math.floor(at / 256)}.${at % 256}`;
    }),
  });

function freePort() {
  return new Promise((resolve) => {
    const server = createTcp();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The supervisor and its children, by name. */
function processes(parent) {
  const found = { supervisor: parent };
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) !== parent) continue;
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      if (line.includes('control/main.js')) found.control = Number(name);
      if (line.includes('engine/main.js')) found.engine = Number(name);
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}

function weigh(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [all, own, files, shared] = ['VmRSS', 'RssAnon', 'RssFile', 'RssShmem'].map((field) =>
    Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024),
  );
  const open = readdirSync(`/proc/${pid}/fd`).length;
  return `${all} (anon ${own}, files ${files}, shared ${shared}; ${open} open)`;
}

function sizeOf(path) {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) return { bytes: 0, files: 0 };
  if (!info.isDirectory()) return { bytes: info.blocks * 512, files: 1 };
  const inside = readdirSync(path).map((name) => sizeOf(join(path, name)));
  return inside.reduce(
    (sum, { bytes, files }) => ({ bytes: sum.bytes + bytes, files: sum.files + files }),
    { bytes: 0, files: 0 },
  );
}

const folders = ['control', 'events', 'engine/databases', 'engine/parts', 'engine/spool'];

function report(label, pid, counts) {
  const shown = Object.entries(processes(pid)).map(([name, one]) => `${name} ${weigh(one)}`);
  const disk = folders.map((name) => {
    const { bytes, files } = sizeOf(join(data, name));
    return `${name} ${(bytes / megabyte).toFixed(1)} MB in ${files}`;
  });
  process.stdout.write(`${label}\n  ${shown.join('\n  ')}\n  ${disk.join(', ')}\n`);
  process.stdout.write(`  ${JSON.stringify(counts)}\n`);
}

const counts = { requests: 0, blocked: 0, failed: 0, changes: 0, refused: 0 };
let ended = false;

/** Every fifth request is an attack, every tenth posts a form. */
async function load(port) {
  for (let at = 0; !ended; at++) {
    const headers = { host: `site-${at % siteCount}.example` };
    const form = at % 10 === 0;
    if (form) headers['content-type'] = 'application/x-www-form-urlencoded';
    const path = at % 5 === 1 ? `${attack}&n=${at}` : `/shop?q=red+shoes&page=${at}`;
    const method = form ? 'POST' : 'GET';
    void ask(
      { host: '127.0.0.1', port, path, method, headers },
      form ? 'a=1&text=hello' : undefined,
    )
      .then(({ status }) => {
        counts.requests++;
        if (status === 403) counts.blocked++;
      })
      .catch(() => counts.failed++);
    await new Promise((resolve) => setTimeout(resolve, 1000 / Number(values.rate)));
  }
}

async function change(turn) {
  const at = turn % siteCount;
  await apply([policyDocument(turn)]);
  if (turn % 3 === 0) await apply([listDocument(turn)]);
  if (turn % 2 === 0) {
    await call('SiteService/DeleteSite', { id: `site-${at}` });
    await apply([siteDocument(at)]);
  }
}

async function changes() {
  for (let turn = 1; !ended; turn++) {
    const began = performance.now();
    await change(turn).then(
      () => counts.changes++,
      (error) => {
        if (counts.refused++ === 0)
          process.stdout.write(`a change was refused: ${error.message}\n`);
      },
    );
    const left = 1000 - (performance.now() - began);
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  }
}

const origin = createServer((_, response) => response.end('hello'));
await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
const [port, management] = [await freePort(), await freePort()];
const product = spawn(
  process.execPath,
  [
    ...[join(values.build, 'control', 'cli', 'main.js'), 'run', '--data', data, '--workers', '2'],
    ...[
      '--https',
      'off',
      '--proxy',
      `127.0.0.1:${port}`,
      '--management',
      `127.0.0.1:${management}`,
    ],
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
);
const ready = async () => (await ask({ socketPath, path: '/readyz' })).status === 200;
while (!(await ready().catch(() => false))) {
  await new Promise((resolve) => setTimeout(resolve, 200));
}
const pool = documentOf('Upstream', 'pool', {
  endpoints: [{ url: `http://127.0.0.1:${origin.address().port}` }],
});
await apply([pool, policyDocument(0), listDocument(0)]);
const binding = { ipListId: 'list', policyId: 'policy', kind: 'deny' };
const choice = { addressSource: 'client_ip', matchMode: 'in_list' };
await call('IpListService/UpsertIpListBinding', { binding: { ...binding, ...choice } });
await apply(Array.from({ length: siteCount }, (_, at) => siteDocument(at)));

report('at the start', product.pid, counts);
const work = [load(port), changes()];
const startedMs = performance.now();
const wantedMs = Number(values.minutes) * 60_000;
while (performance.now() - startedMs < wantedMs) {
  await new Promise((resolve) => setTimeout(resolve, Number(values.every) * 1000));
  report(`after ${Math.round((performance.now() - startedMs) / 1000)} s`, product.pid, counts);
}
ended = true;
await Promise.all(work);
await new Promise((resolve) => setTimeout(resolve, 45_000));
report('45 s after it', product.pid, counts);
product.kill('SIGTERM');
await new Promise((resolve) => product.once('exit', resolve));
origin.close();
agent.destroy();
rmSync(data, { recursive: true, force: true });
