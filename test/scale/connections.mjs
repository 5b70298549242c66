/**
 * The run of idle and slow connections: prints how long requests take while none, then many
 * clients are connected and say nothing, or send a head byte by byte, and what the
 * engine weighs. A figure for people; it asserts nothing.
 *
 *   node test/scale/connections.mjs [--idle 10000] [--slow 1000] [--requests 3000] [--workers 1]
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { documentOf, megabytes, print, Product, quantiles, until } from './product.mjs';

const { values } = parseArgs({
  options: {
    idle: { type: 'string', default: '10000' },
    slow: { type: 'string', default: '1000' },
    requests: { type: 'string', default: '3000' },
    workers: { type: 'string', default: '1' },
    build: { type: 'string', default: join(import.meta.dirname, '..', '..', '.build') },
  },
});
/** One loopback address has fewer ports than connections that may be asked for. */
const connectionsPerAddress = 20_000;
const slowEveryMs = 2_000;
const atOnce = 200;

const data = mkdtempSync(join(tmpdir(), 'waf-connections-'));
const product = new Product({
  ...{ build: values.build, data, workers: values.workers, quiet: true },
  flags: ['--no-demo'],
});

/** Opens `count` connections that send `first`, a few at a time; null for one that failed. */
async function open(count, first) {
  const sockets = [];
  for (let at = 0; at < count; at += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - at) }, (_, one) => {
      const address = 2 + Math.floor((at + one) / connectionsPerAddress);
      return openOne(`127.0.0.${address}`, first);
    });
    sockets.push(...(await Promise.all(some)));
  }
  return sockets;
}

function openOne(localAddress, first) {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: product.port, localAddress });
    socket.on('error', () => resolve(null));
    socket.once('connect', () => {
      if (first !== '') socket.write(first);
      resolve(socket);
    });
  });
}

async function measure(name) {
  const times = [];
  for (let at = 0; at < Number(values.requests); at++) {
    const began = performance.now();
    const { status } = await product.through('site.example', '/?q=hello');
    if (status !== 200) throw new Error(`a request got ${status}`);
    times.push(performance.now() - began);
  }
  print(name, quantiles(times));
  print('  engine', megabytes(product.weigh().engine));
}

const origin = createServer((_, response) => response.end('ok'));
await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
try {
  await product.start();
  const endpoints = [{ url: `http://127.0.0.1:${origin.address().port}` }];
  const spec = { primaryHost: 'site.example', upstreamRef: 'pool' };
  const pool = documentOf('Upstream', 'pool', { endpoints });
  await product.apply([pool, documentOf('Site', 'site', spec)], 2);
  await until(async () => (await product.through('site.example')).status === 200);
  await measure('requests alone');
  await measure('requests alone, again');
  const idle = await open(Number(values.idle), '');
  const opened = idle.filter((one) => one !== null);
  print('idle connections', `${opened.length} of ${idle.length}`);
  await measure(`requests beside them`);
  print('idle connections still open', String(opened.filter((one) => !one.destroyed).length));
  for (const one of opened) one.destroy();
  const slow = (await open(Number(values.slow), 'GET / HTTP/1.1\r\nHost: site.ex')).filter(Boolean);
  const drip = setInterval(() => {
    for (const one of slow) if (!one.destroyed) one.write('x');
  }, slowEveryMs);
  print('clients with slow heads', String(slow.length));
  await measure('requests beside them');
  clearInterval(drip);
  for (const one of slow) one.destroy();
} finally {
  await product.stop();
  product.close();
  origin.close();
  rmSync(data, { recursive: true, force: true });
}
