/**
 * Sends requests of a known mix, kills control and engine in between, and compares what the product
 * counted, and the security events that it keeps, with what this sender counted. Exits with 1 where
 * they differ: at rest by anything, after a kill under load by anything that the gap notices do not
 * say; and where more is missing than was answered within half a second, or `--loss-ms`: on a
 * machine that is busy with other work, counts wait longer for their thread.
 *
 *   node test/scale/exact-counters.mjs [--requests 1000000] [--at-rest] [--loss-ms 500]
 *     [--databases FOLDER]
 *
 * `--databases`: compiled databases that are there already, as engines keep them.
 */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { GuardMix } from './guard-mix.mjs';
import { ask, childOf, Product, until } from './product.mjs';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    'at-rest': { type: 'boolean', default: false },
    'loss-ms': { type: 'string', default: '500' },
    databases: { type: 'string' },
  },
});
const total = Number(values.requests);
const senders = 32;
const workers = 2;
const lossMs = Number(values['loss-ms']);
const build = join(import.meta.dirname, '..', '..', '.build');
const attack = '/?id=1%27%20OR%20%271%27=%271';

/** What the sender saw. */
const seen = { requests: 0, attacks: 0, malformed: 0, cut: 0, status: {} };
/** When answers came, for what a kill under load may lose. */
const answeredMs = [];

function note(status, kind = '') {
  seen.requests++;
  seen.status[status] = (seen.status[status] ?? 0) + 1;
  if (kind === 'attack') seen.attacks++;
  if (kind === 'malformed') seen.malformed++;
  answeredMs.push(performance.now());
}

/** Two hosts: refused by the parser, counted without a site. Resolves to the status. */
function askMalformed(port) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'),
    );
    let text = '';
    socket.on('data', (chunk) => (text += chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
      if (status === 0) reject(new Error('cut'));
      else resolve(status);
    });
  });
}

async function sendOne(product, at) {
  const kind = at % 16;
  try {
    if (kind === 15) return note(await askMalformed(product.port), 'malformed');
    if (kind === 14) return note(await mix.sendOne((at - kind) / 16));
    const attacks = kind % 4 === 3;
    const path = attacks ? attack : `/item/${at % 100}`;
    const { port, proxyAgent: agent } = product;
    const { status } = await ask({ port, path, agent });
    note(status, attacks && status === 403 ? 'attack' : '');
  } catch {
    // Nobody knows whether a request without an answer was counted.
    seen.cut++;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Sends `count` requests, some at a time. */
async function load(product, count) {
  let next = 0;
  const send = async () => {
    while (next < count) await sendOne(product, next++);
  };
  await Promise.all(Array.from({ length: senders }, send));
}

/** What the product counted. */
async function counted(product) {
  const { text } = await product.askAdmin('/metrics');
  const sum = (name, labels = '') =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) && line.includes(labels))
      .reduce((all, line) => all + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  const statuses = Object.keys(seen.status);
  return {
    requests: sum('waf_requests_total'),
    blocked: sum('waf_request_outcomes_total', 'outcome="blocked"'),
    malformed: sum('waf_request_outcomes_total', 'outcome="refused"'),
    gap: {
      requests: sum('waf_observation_lane_value', 'lane="metric",field="dropped"'),
      facts: sum('waf_observation_lane_value', 'lane="security_fact",field="dropped"'),
    },
    facts: Number(/^waf_security_events (\d+)$/m.exec(text)?.[1] ?? -1),
    rule942100: sum('waf_rule_hits_total', 'rule_id="942100"'),
    rule949110: sum('waf_rule_hits_total', 'rule_id="949110"'),
    guards: Object.fromEntries(
      Object.keys(mix.met).map((verdict) => [
        verdict,
        sum('waf_guard_verdicts_total', `verdict="${verdict}"`),
      ]),
    ),
    status: Object.fromEntries(
      statuses.map((status) => [status, sum('waf_responses_total', `status="${status}"`)]),
    ),
  };
}

const wanted = () => ({
  requests: seen.requests,
  blocked: seen.attacks + mix.totals().blocked,
  malformed: seen.malformed,
  gap: { requests: 0, facts: 0 },
  facts: seen.attacks + seen.malformed + mix.totals().all,
  rule942100: seen.attacks,
  rule949110: seen.attacks,
  guards: mix.met,
  status: seen.status,
});

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Waits until the counts are what they have to be; throws with both where they never are. */
async function settle(product, name) {
  if (mix.wrong !== null) throw new Error(mix.wrong);
  let last = null;
  const patience = performance.now() + 60_000;
  await until(async () => {
    last = await counted(product);
    return same(last, wanted()) || performance.now() > patience;
  }, 250);
  if (!same(last, wanted())) {
    throw new Error(`${name}: counted ${JSON.stringify(last)}, sent ${JSON.stringify(wanted())}`);
  }
  process.stdout.write(`${name}: exact at ${seen.requests} requests\n`);
}

async function serves(product) {
  await until(async () => {
    const { status } = await ask({ port: product.port, path: '/ready' });
    if (status === 200) note(status);
    return status === 200;
  }, 100);
}

async function kill(product, program) {
  process.kill(childOf(product.child.pid, `${program}/main.js`), 'SIGKILL');
  await until(async () => (await product.askAdmin('/readyz')).status === 200, 100);
}

/**
 * Sends until `count` more requests are answered, and kills a program when half of them are.
 * Returns when that was.
 */
async function loadAndKill(product, count, program) {
  const [half, goal] = [seen.requests + count / 2, seen.requests + count];
  let next = 0;
  let diedMs = 0;
  const send = async () => {
    while (seen.requests < goal) {
      await sendOne(product, next++);
      if (diedMs > 0 || seen.requests < half) continue;
      diedMs = performance.now();
      process.kill(childOf(product.child.pid, `${program}/main.js`), 'SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: senders }, send));
  await until(async () => (await product.askAdmin('/readyz')).status === 200, 100);
  return diedMs;
}

/** What neither counts nor gap notices tell of requests and of security events. */
const unsaidOf = ({ requests, facts, gap }) => [
  seen.requests - requests - gap.requests,
  wanted().facts - facts - gap.facts,
];
/** A thread may die between an answer and its count; a request without an answer may be counted. */
const mayBeUnsaid = (count) => count <= workers && count >= -seen.cut;

/** What the product counted once that does not grow any more, and all is said or never will be. */
async function countedAtRest(product) {
  const patience = performance.now() + 60_000;
  let last = null;
  let now = await counted(product);
  const whole = () => unsaidOf(now).every(mayBeUnsaid) || performance.now() > patience;
  while (!same(last, now) || !whole()) {
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 3000));
    now = await counted(product);
  }
  return now;
}

/** The rest of a run whose engine dies under load: gap notices say exactly what is missing. */
async function killEngineUnderLoad(product, count) {
  const diedMs = await loadAndKill(product, count, 'engine');
  const atRisk = answeredMs.filter((atMs) => atMs > diedMs - lossMs && atMs <= diedMs + 50).length;
  const now = await countedAtRest(product);
  const missing = seen.requests - now.requests;
  const missingFacts = wanted().facts - now.facts;
  const verdicts = Object.values(now.guards).reduce((all, one) => all + one, 0);
  const missingVerdicts = mix.totals().all - verdicts;
  process.stdout.write(
    `engine killed under load: ${missing} of ${seen.requests} requests, ${missingFacts} security events ` +
      `and ${missingVerdicts} verdicts of guards missing, ${atRisk} at risk, ${seen.cut} requests without an answer; ` +
      `gap notices: ${now.gap.requests} requests, ${now.gap.facts} security events\n`,
  );
  if (!unsaidOf(now).every(mayBeUnsaid)) throw new Error('gap notices do not say all');
  for (const lost of [missing, missingFacts, missingVerdicts]) {
    if (lost > atRisk || lost < -seen.cut) throw new Error('more is missing than may be');
  }
}

const data = mkdtempSync(join(tmpdir(), 'waf-exact-'));
if (values.databases !== undefined) {
  mkdirSync(join(data, 'engine'), { mode: 0o700 });
  symlinkSync(values.databases, join(data, 'engine', 'databases'));
}
const product = new Product({ build, data, workers: String(workers), quiet: true });
const mix = new GuardMix(product);
try {
  await product.start();
  await until(async () => (await product.askAdmin('/readyz')).status === 200, 100);
  await serves(product);
  await mix.start();
  const part = Math.floor(total / 4);
  await load(product, part);
  await settle(product, 'without a kill');
  await kill(product, 'control');
  await load(product, part);
  await settle(product, 'control killed');
  await kill(product, 'engine');
  await serves(product);
  await load(product, part);
  await settle(product, 'engine killed at rest');
  process.kill(product.child.pid, 'SIGUSR2');
  await until(async () => (await product.askAdmin('/readyz')).status === 200, 100);
  await load(product, part);
  await settle(product, 'both restarted');
  if (!values['at-rest']) {
    await loadAndKill(product, part, 'control');
    await settle(product, 'control killed under load');
    await killEngineUnderLoad(product, part);
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  await product.stop();
  product.close();
  mix.close();
  rmSync(data, { recursive: true, force: true });
}
