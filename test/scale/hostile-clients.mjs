/**
 * Owns the run of slow clients and floods: prints how long other clients' requests take alone and
 * beside each of them, and what the engine spends and weighs meanwhile. A figure for people; it
 * asserts nothing.
 *
 *   node test/scale/hostile-clients.mjs [--idle 10000] [--slow 1000] [--floods 4]
 *     [--requests 3000] [--workers 1] [--settle 1000] [--only idle,rapid-reset]
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import {
  childOf,
  cpuSeconds,
  documentOf,
  freePort,
  megabytes,
  print,
  Product,
  until,
} from './product.mjs';

const { values } = parseArgs({
  options: {
    idle: { type: 'string', default: '10000' },
    slow: { type: 'string', default: '1000' },
    floods: { type: 'string', default: '4' },
    requests: { type: 'string', default: '3000' },
    workers: { type: 'string', default: '1' },
    settle: { type: 'string', default: '1000' },
    only: { type: 'string', default: '' },
    build: { type: 'string', default: join(import.meta.dirname, '..', '..', '.build') },
  },
});
const { build } = values;
const slowKinds = ['slow-head', 'slow-body', 'slow-read', 'slow-handshake'];
const floodKinds = [
  ...['rapid-reset', 'made-you-reset', 'continuation', 'empty-continuation', 'hpack-bomb'],
  ...['window-stall', 'empty-data', 'settings', 'ping'],
];
const kinds = ['idle', ...slowKinds, ...floodKinds];
const chosen = values.only === '' ? kinds : values.only.split(',');
for (const kind of chosen) {
  if (!kinds.includes(kind)) throw new Error(`--only knows ${kinds.join(', ')}; not ${kind}`);
}
const connectionsOf = (kind) =>
  Number(kind === 'idle' ? values.idle : slowKinds.includes(kind) ? values.slow : values.floods);
const largeBytes = 4 * 1024 * 1024;
/** The time that connections and memory have to settle, before and after a case, ms. */
const settleMs = Number(values.settle);

const data = mkdtempSync(join(tmpdir(), 'waf-hostile-'));
const securePort = await freePort();
const product = new Product({
  ...{ build, data, workers: values.workers, quiet: true },
  flags: ['--no-demo', '--https', `127.0.0.1:${securePort}`],
});
const { host } = await import(join(build, 'engine', 'front', 'http2-fixture.js'));

/** CPU seconds of the engine so far. */
const engineSeconds = () => cpuSeconds(childOf(product.child.pid, 'engine/main.js'));

/** Requests of an ordinary client, one after another. */
async function measure() {
  const times = [];
  let failed = 0;
  const began = performance.now();
  const cpu = engineSeconds();
  for (let at = 0; at < Number(values.requests); at++) {
    const sent = performance.now();
    const status = await product.through(host, '/?q=hello').then(
      (answer) => answer.status,
      () => 0,
    );
    if (status !== 200) failed++;
    times.push(performance.now() - sent);
  }
  const seconds = (performance.now() - began) / 1000;
  times.sort((left, right) => left - right);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  return { p50: at(0.5), p99: at(0.99), failed, busy: (engineSeconds() - cpu) / seconds };
}

const shown = ({ p50, p99, failed, busy }) =>
  `p50 ${p50.toFixed(2)} p99 ${p99.toFixed(2)} ms, ${failed} failed, ` +
  `engine ${(100 * busy).toFixed(0)} % of a CPU`;

async function runCase(kind) {
  const connections = connectionsOf(kind);
  const alone = await measure();
  print(`${kind}: requests before it`, shown(alone));
  const workerData = { build, kind, connections, port: product.port, securePort };
  const worker = new Worker(new URL('hostile-senders.mjs', import.meta.url), { workerData });
  let counts = { opened: 0, closed: 0, failed: 0, sentBytes: 0 };
  const failure = new Promise((_, reject) => worker.once('error', reject));
  await Promise.race([
    failure,
    new Promise((resolve) => {
      worker.on('message', (message) => {
        counts = message;
        if (message.ready) resolve();
      });
    }),
  ]);
  await sleep(settleMs);
  const beside = await Promise.race([measure(), failure]);
  await sleep(settleMs);
  const { engine } = product.weigh();
  print(`${kind}: requests beside it`, shown(beside));
  const ratio = (beside.p99 / alone.p99).toFixed(2);
  const peak = (engine.peak / 1024 / 1024).toFixed(0);
  const sent = (counts.sentBytes / 1024 / 1024).toFixed(1);
  print(`${kind}: p99 by p99 before`, ratio);
  print(`${kind}: connections`, `${counts.opened} opened, ${counts.closed} ended, ${sent} MB sent`);
  print(`${kind}: engine`, `${megabytes(engine)}, peak of the run so far ${peak} MB`);
  await worker.terminate();
  await until(async () => (await product.through(host)).status === 200);
  await sleep(settleMs);
  print(`${kind}: engine after it`, megabytes(product.weigh().engine));
}

const origin = new Worker(new URL('hostile-origin.mjs', import.meta.url), {
  workerData: { largeBytes },
});
const originPort = await new Promise((resolve) => origin.once('message', resolve));
try {
  const { makeCertificate } = await import(
    join(build, 'engine', 'upstream', 'test-certificate.js')
  );
  const { certificatePem, privateKeyPem } = makeCertificate(host);
  await product.start();
  await product.call('CertService/UploadCert', {
    name: 'own',
    certPem: Buffer.from(certificatePem).toString('base64'),
    keyPem: Buffer.from(privateKeyPem).toString('base64'),
  });
  const endpoints = [{ url: `http://127.0.0.1:${originPort}` }];
  const tls = { mode: 'uploaded', httpBehavior: 'serve-both' };
  const spec = { primaryHost: host, upstreamRef: 'pool', certRef: 'own', tls };
  await product.apply(
    [documentOf('Upstream', 'pool', { endpoints }), documentOf('Site', 'site', spec)],
    2,
  );
  await until(async () => (await product.through(host)).status === 200);
  // Code gets compiled, and the policy is planned.
  await product.caughtUp();
  await measure();
  for (const kind of chosen) await runCase(kind);
} finally {
  await product.stop();
  product.close();
  await origin.terminate();
  rmSync(data, { recursive: true, force: true });
}
