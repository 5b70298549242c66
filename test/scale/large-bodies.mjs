/**
 * Measures what clients with large XML bodies do to others: the time that a small request of
 * another client and site takes while nothing else happens, and while three clients send 13 MB.
 * Origin and senders are processes of their own, and what each spends is printed: they compete
 * with the engine for the same CPUs.
 * Usage: node test/scale/large-bodies.mjs [--megabytes 13] [--clients 3] [--seconds 20]
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  childOf,
  cpuSeconds,
  documentOf,
  megabytes,
  print,
  Product,
  quantile,
  quantiles,
  startScript,
} from './product.mjs';

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '13' },
    clients: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
    policy: { type: 'string', default: 'Standard' },
  },
});
const victimEveryMs = 10;
const build = join(import.meta.dirname, '..', '..', '.build');
const data = mkdtempSync(join(tmpdir(), 'waf-large-'));
const product = new Product({ build, data, workers: '2', quiet: true });

const children = [];

/** A script of this folder, which ends with this one. */
async function start(script, words = []) {
  const started = await startScript(script, words);
  children.push(started.child);
  return started;
}

try {
  await product.start();
  const { child: originProcess, message: origin } = await start('large-body-origin.mjs');
  const site = (host) =>
    documentOf('Site', host, {
      primaryHost: host,
      upstreams: [{ url: origin }],
      policyRef: values.policy,
      waf: { enabled: true },
    });
  await product.apply([site('large.test'), site('small.test')], 2);
  await product.caughtUp();
  for (let warm = 0; warm < 500; warm++) await small();
  const seconds = Number(values.seconds);
  const alone = await smallFor(seconds / 2);
  print('small requests, alone', quantiles(alone));
  const { port } = product;
  const { child: senders } = await start('large-body-senders.mjs', [
    ...[String(port), values.clients, values.megabytes],
  ]);
  await sleep(1_000);
  const watched = {
    engine: childOf(product.child.pid, 'engine/main.js'),
    senders: senders.pid,
    origin: originProcess.pid,
    'this process': process.pid,
  };
  const before = Object.values(watched).map(cpuSeconds);
  const beside = await smallFor(seconds);
  const spent = Object.values(watched).map((pid, at) => cpuSeconds(pid) - before[at]);
  print('beside large bodies', quantiles(beside));
  print('p99 by p99 alone', (quantile(beside, 0.99) / quantile(alone, 0.99)).toFixed(2));
  Object.keys(watched).forEach((name, at) => {
    print(`CPU meanwhile: ${name}`, `${((100 * spent[at]) / seconds).toFixed(0)} % of one`);
  });
  print('engine', megabytes(product.weigh().engine));
  senders.send('end');
  const statuses = await new Promise((resolve) => senders.once('message', resolve));
  const counts = [...new Set(statuses)].map(
    (status) => `${status}: ${statuses.filter((one) => one === status).length}`,
  );
  print('large bodies, by status', counts.join(', '));
} finally {
  product.close();
  for (const child of children) child.kill();
  await product.stop();
  rmSync(data, { recursive: true, force: true });
}
process.exit(0);

async function small() {
  const began = performance.now();
  const { status } = await product.through('small.test', '/?q=1');
  if (status !== 200) throw new Error(`a small request got ${status}`);
  return performance.now() - began;
}

async function smallFor(seconds) {
  const times = [];
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until) {
    times.push(await small());
    await sleep(victimEveryMs);
  }
  return times;
}
