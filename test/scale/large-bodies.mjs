/**
 * Measures what clients with large XML bodies do to others: the time that a small request of
 * another client and site takes while nothing else happens, and while three clients send 13 MB.
 * Usage: node test/scale/large-bodies.mjs [--megabytes 13] [--clients 3] [--seconds 20]
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { documentOf, megabytes, print, Product, quantiles } from './product.mjs';

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

/** One element a line, so that there are many values and none is long. */
const line = '<item id="42"><name>blue lamp</name><price>12.50</price></item>\n';
const body = `<list>${line.repeat(Math.floor((Number(values.megabytes) * 1e6) / line.length))}</list>`;

try {
  await product.start();
  const origin = await startOrigin();
  const site = (host) =>
    documentOf('Site', host, {
      primaryHost: host,
      upstreams: [{ url: origin }],
      policyRef: values.policy,
      waf: { enabled: true },
    });
  await product.apply([site('large.test'), site('small.test')], 2);
  await product.caughtUp();
  for (let warm = 0; warm < 50; warm++) await small();
  print('small requests, alone', quantiles(await smallFor(Number(values.seconds) / 2)));
  const endSenders = startSenders();
  await sleep(1_000);
  print('beside large bodies', quantiles(await smallFor(Number(values.seconds))));
  print('engine', megabytes(product.weigh().engine));
  const statuses = await endSenders();
  const counts = [...new Set(statuses)].map(
    (status) => `${status}: ${statuses.filter((one) => one === status).length}`,
  );
  print('large bodies, by status', counts.join(', '));
} finally {
  product.close();
  await product.stop();
  rmSync(data, { recursive: true, force: true });
}
process.exit(0);

/** Address of an origin that reads and answers. */
function startOrigin() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('ok'));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`));
  });
}

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

/**
 * Begins sending in a thread of its own, so that it does not delay those who measure; ends it and
 * gives the statuses of the answers.
 */
function startSenders() {
  const { port } = product;
  const thread = new Worker(new URL('large-body-senders.mjs', import.meta.url), {
    workerData: { port, body, clients: Number(values.clients) },
  });
  return () =>
    new Promise((resolve) => {
      thread.once('message', resolve);
      thread.postMessage('end');
    });
}
