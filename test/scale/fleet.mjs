/**
 * The run of a fleet: many nodes at two controllers that share a store in PostgreSQL. Prints what
 * enrolment, a change to all nodes, and the death of a controller in the middle of one cost; ends
 * with 1 when a node was lost, or served something older. PostgreSQL is Debian's, started here. The
 * nodes are streams of this process (simulated-node.mjs), which needs CPU time, too: on few cores
 * times are those of all together, and CPU times say what each needs.
 *
 *   node test/scale/fleet.mjs [--nodes 200]
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build as bundle } from 'esbuild';
import {
  ask,
  cpuSeconds,
  documentOf,
  freePort,
  print,
  quantile,
  quantiles,
  readWhile,
  until,
} from './product.mjs';
import { loadNodeParts, SimulatedNode } from './simulated-node.mjs';

const root = join(import.meta.dirname, '..', '..');
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '200' },
    build: { type: 'string', default: join(root, '.build') },
  },
});
const count = Number(values.nodes);
const { build } = values;
/** Nodes of one token at most, and calls of enrolment at once. */
const nodesPerToken = 1_000;
const callsAtOnce = 8;
/** The share of nodes that have a change when a controller is killed. */
const killedAtShare = 0.1;

const folder = mkdtempSync(join(tmpdir(), 'waf-fleet-'));
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
const megabytes = (bytes) => `${(bytes / 1024 / 1024).toFixed(0)} MB`;

/** A module of the tests in TypeScript, bundled beside the packages that it needs. */
async function loadTest(...path) {
  const outfile = join(root, '.cache', 'fleet', `${path.at(-1)}.mjs`);
  const entryPoints = [join(root, 'test', ...path)];
  const options = { bundle: true, platform: 'node', format: 'esm', packages: 'external' };
  await bundle({ ...options, entryPoints, outfile });
  return import(pathToFileURL(outfile).href);
}

/** One controller without an engine of its own. */
class Controller {
  constructor(name, port, store) {
    this.port = port;
    this.store = store;
    this.folder = join(folder, name);
    this.socketPath = join(this.folder, 'admin.sock');
    this.agent = new Agent({ keepAlive: true, maxSockets: callsAtOnce });
    this.lost = null;
    mkdirSync(join(this.folder, 'crs', 'rules'), { recursive: true });
    const rule = `SecRule ARGS "@contains x" "id:942999,phase:2,deny,ver:'OWASP_CRS/4.9.1'"\n`;
    writeFileSync(join(this.folder, 'crs', 'rules', 'REQUEST-942.conf'), rule);
  }

  async start() {
    const management = { host: '127.0.0.1', port: this.port };
    const options = { store: this.store, storeKeyFile: join(folder, 'store-key'), management };
    const words = [this.folder, pathToFileURL(`${build}/`).href];
    this.child = fork(
      join(root, 'test', 'fault', 'control-alone.mjs'),
      [...words, JSON.stringify({ ...options, managementTls: 'own' })],
      { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
    );
    await once(this.child.stdout, 'data');
  }

  async kill() {
    const ended = once(this.child, 'exit');
    this.lost = this.use();
    this.child.kill('SIGKILL');
    await ended;
  }

  async call(rpc, body) {
    const headers = { 'content-type': 'application/json' };
    const where = { socketPath: this.socketPath, agent: this.agent };
    const asked = { ...where, path: `/waf.v1.${rpc}`, method: 'POST', headers };
    const { status, text } = await ask(asked, JSON.stringify(body));
    if (status !== 200) throw new Error(`${rpc}: ${status} ${text}`);
    return JSON.parse(text);
  }

  /** CPU seconds so far, and resident bytes now and at most. */
  use() {
    if (this.lost !== null) return this.lost;
    const { pid } = this.child;
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const bytes = (field) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024;
    return { cpu: cpuSeconds(pid), bytes: bytes('VmRSS'), peak: bytes('VmHWM') };
  }
}

/** What PostgreSQL counts of our database, and the CPU seconds of all its processes. */
async function postgresUse(postgres, url) {
  const [row] = await postgres.rows(
    url,
    `SELECT xact_commit + xact_rollback AS transactions, pg_database_size(datname) AS bytes,
       pg_current_wal_lsn() - '0/0'::pg_lsn AS wal, (SELECT seq FROM waf.head) AS entries,
       split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid
     FROM pg_stat_database WHERE datname = current_database()`,
  );
  const numbers = Object.fromEntries(Object.entries(row).map(([key, one]) => [key, Number(one)]));
  return { ...numbers, cpu: readTree(numbers.pid).cpuUs / 1e6 };
}

const { readTree } = await import(join(build, 'bench', 'e2e', 'process-tree.js'));
const { TestPostgres } = await loadTest('support', 'postgres.ts');
const { readStoreAddress } = await import(
  join(build, 'control', 'store', 'shared', 'store-option.js')
);

const postgres = await TestPostgres.start();
const url = await postgres.freshUrl();
const store = readStoreAddress(url, 'the run');
const controllers = [];
for (const name of ['first', 'second']) {
  controllers.push(new Controller(name, await freePort(), store));
}
const [first, second] = controllers;
/** Every second node begins at each; a node that fails goes to the other one. */
const portOf = (at) => (attempt) => controllers[(at + attempt) % 2].port;
const parts = await loadNodeParts(build);
const nodes = Array.from({ length: count }, (_, at) => new SimulatedNode(parts, at, portOf(at)));

/** Runs one step, and prints what it cost everybody. */
async function step(name, work) {
  const before = [first.use(), second.use(), await postgresUse(postgres, url), process.cpuUsage()];
  const started = performance.now();
  const note = await work(started);
  const ms = performance.now() - started;
  // What nodes answered is written in the next seconds.
  await until(async () => (await settled()) === true, 500);
  const after = [first.use(), second.use(), await postgresUse(postgres, url), process.cpuUsage()];
  const cpu = [0, 1, 2].map((at) => (after[at].cpu - before[at].cpu).toFixed(2));
  const [was, is] = [before[2], after[2]];
  const own = (after[3].user + after[3].system - before[3].user - before[3].system) / 1e6;
  print(name, `${seconds(ms)}${note === undefined ? '' : `: ${note}`}`);
  print('  CPU seconds: controllers, PostgreSQL', `${cpu.join(', ')} (nodes ${own.toFixed(2)})`);
  print(
    '  PostgreSQL',
    `${is.transactions - was.transactions} transactions, ${is.entries - was.entries} entries, ` +
      `${megabytes(is.wal - was.wal)} of WAL, ${megabytes(is.bytes)} on disk`,
  );
  const rss = controllers.map((one) => `${megabytes(one.use().bytes)}`);
  print('  resident', rss.join(', '));
}

/** Whether the log has not become longer for a second. */
let entriesSeen = -1;
async function settled() {
  const { entries } = await postgresUse(postgres, url);
  const same = entries === entriesSeen;
  entriesSeen = entries;
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  return same;
}

/** Half of the nodes at each, with tokens of that one. */
async function enrollAll() {
  const started = performance.now();
  await Promise.all(controllers.map((one, at) => enrollHalf(one, at)));
  return `${((count / (performance.now() - started)) * 1000).toFixed(0)} a second`;
}

async function enrollHalf(controller, half) {
  const waiting = nodes.filter(({ at }) => at % 2 === half);
  while (waiting.length > 0) {
    const some = waiting.splice(0, nodesPerToken);
    const asked = { maxNodes: some.length };
    const { token } = await controller.call('AgentService/IssueEnrollmentToken', asked);
    const call = (rpc, body) => controller.call(rpc, body);
    const worker = async () => {
      for (let node = some.shift(); node !== undefined; node = some.shift()) {
        await node.enroll(call, token);
      }
    };
    await Promise.all(Array.from({ length: callsAtOnce }, worker));
  }
}

const haveRevision = (wanted) => nodes.filter(({ revision }) => revision >= wanted).length;
const allHave = (wanted) => until(async () => haveRevision(wanted) === count, 5);
const spread = (times) =>
  `p50 ${seconds(quantile(times, 0.5))}, p99 ${seconds(quantile(times, 0.99))}, ` +
  `last ${seconds(quantile(times, 1))}`;

async function connectAll() {
  for (const node of nodes) node.connect();
  await allHave(1n);
}

let sites = 0;
/** One more site, made at a controller. */
const change = (at) => {
  const name = `site-${sites++}`;
  const site = { primaryHost: `${name}.example`, upstreams: [{ url: 'http://127.0.0.1:1' }] };
  const manifestYaml = Buffer.from(documentOf('Site', name, site)).toString('base64');
  return at.call('SystemService/Apply', { manifestYaml });
};

async function changeAll(startedMs) {
  const before = nodes[0].revision;
  await change(first);
  await allHave(before + 1n);
  return spread(nodes.map(({ confirmedMs }) => confirmedMs - startedMs));
}

/** Kills the first controller while it hands a change out. */
async function killOne() {
  const before = nodes[0].revision;
  await change(first);
  await until(async () => haveRevision(before + 1n) >= count * killedAtShare, 1);
  const had = haveRevision(before + 1n);
  const killedMs = performance.now();
  await first.kill();
  const moved = nodes.filter(({ at }) => at % 2 === 0);
  const have = allHave(before + 1n).then(() => performance.now() - killedMs);
  const back = () => moved.every((one) => one.welcomed && one.welcomedMs > killedMs);
  const reads = await readWhile(
    second.socketPath,
    until(async () => back(), 20),
  );
  print('reads at the other one meanwhile', quantiles(reads));
  print('reconnects by second', perSecond(moved.map(({ welcomedMs }) => welcomedMs - killedMs)));
  print('attempts of nodes that moved', spreadOf(moved.map(({ attempts }) => attempts - 1)));
  return `${had} had the change, ${moved.length} moved, all had it after ${seconds(await have)}`;
}

function perSecond(times) {
  const counts = [];
  for (const ms of times) {
    const at = Math.floor(ms / 1000);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return Array.from(counts, (one) => one ?? 0).join(' ');
}

const spreadOf = (numbers) =>
  `p50 ${quantile(numbers, 0.5)}, p99 ${quantile(numbers, 0.99)}, most ${quantile(numbers, 1)}`;

try {
  await first.start();
  await second.start();
  print('nodes', String(count));
  print('controllers before', controllers.map((one) => megabytes(one.use().bytes)).join(', '));
  await step('all enrolled', enrollAll);
  await step('all connected, with the configuration', connectAll);
  await step('a change reached all', changeAll);
  await step('another change reached all', changeAll);
  await step('a change, a controller killed meanwhile', killOne);
  await step('a change reached all at the one left', async (startedMs) => {
    const before = nodes[0].revision;
    await change(second);
    await allHave(before + 1n);
    return spread(nodes.map(({ confirmedMs }) => confirmedMs - startedMs));
  });
  print('controllers at most', controllers.map((one) => megabytes(one.use().peak)).join(', '));
  const older = nodes.filter(({ olderCount }) => olderCount > 0).length;
  const lost = nodes.filter(({ welcomed }) => !welcomed).length;
  print('nodes given something older, lost', `${older}, ${lost}`);
  if (older + lost > 0) process.exitCode = 1;
} catch (error) {
  const failures = new Map();
  for (const { failure } of nodes) failures.set(failure, (failures.get(failure) ?? 0) + 1);
  print('failed', `${error.stack} ${JSON.stringify([...failures])}`);
  process.exitCode = 1;
} finally {
  for (const node of nodes) node.disconnect();
  for (const { child } of controllers) child?.kill('SIGKILL');
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
