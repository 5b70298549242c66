/**
 * Measures what clients with large XML bodies do to others: the time that a small request of
 * another client and site takes while nothing else happens, and while three clients send 13 MB.
 * Usage: node test/scale/large-bodies.mjs [--megabytes 13] [--clients 3] [--seconds 20]
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
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
      upstreams: [{ inline: { url: origin } }],
      waf: { enabled: true, policyRef: values.policy },
    });
  await product.apply([site('large.test'), site('small.test')], 2);
  await product.caughtUp();
  for (let warm = 0; warm < 50; warm++) await small();
  print('small requests, alone', quantiles(await smallFor(Number(values.seconds) / 2)));
  const ended = { value: false };
  const senders = Array.from({ length: Number(values.clients) }, (_, at) => send(at, ended));
  await sleep(1_000);
  print('beside large bodies', quantiles(await smallFor(Number(values.seconds))));
  print('engine', megabytes(product.weigh().engine));
  ended.value = true;
  const statuses = (await Promise.all(senders)).flat();
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

/** Sends until told; each client has an address of its own. */
async function send(at, ended) {
  const agent = new Agent({ keepAlive: true });
  const statuses = [];
  while (!ended.value) {
    const options = {
      agent,
      localAddress: `127.0.0.${at + 2}`,
      method: 'POST',
      headers: { 'content-type': 'application/xml' },
    };
    const { status } = await product
      .through('large.test', '/', options, body)
      .catch(() => ({ status: 0 }));
    statuses.push(status);
  }
  agent.destroy();
  return statuses;
}
