/**
 * The run of slow clients and floods: prints how long other clients' requests take alone and
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
import {
  childOf,
  cpuSeconds,
  documentOf,
  freePort,
  megabytes,
  print,
  Product,
  startScript,
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
const { host } = await import(join(build, 'engine', 'front', 'fixtures', 'http2-fixture.js'));

/** CPU seconds of the engine so far. */
const engineSeconds = () => cpuSeconds(childOf(product.child.pid, 'engine/main.js'));

/** CPU seconds of the senders and the origin so far. */
const busyOf = (senders) => cpuSeconds(senders.pid) + cpuSeconds(origin.child.pid);

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
  const where = { build, kind, connections, port: product.port, securePort };
  const { child: senders, message } = await startScript('hostile-senders.mjs', [
    JSON.stringify(where),
  ]);
  let counts = message;
  senders.on('message', (later) => (counts = later));
  await sleep(settleMs);
  const before = busyOf(senders);
  const beside = await measure();
  const others = busyOf(senders) - before;
  await sleep(settleMs);
  const { engine } = product.weigh();
  print(`${kind}: requests beside it`, shown(beside));
  const ratio = (beside.p99 / alone.p99).toFixed(2);
  const peak = (engine.peak / 1024 / 1024).toFixed(0);
  const sent = (counts.sentBytes / 1024 / 1024).toFixed(1);
  print(`${kind}: p99 by p99 before`, ratio);
  print(`${kind}: CPU of senders and origin meanwhile`, `${others.toFixed(2)} s`);
  print(`${kind}: connections`, `${counts.opened} opened, ${counts.closed} ended, ${sent} MB sent`);
  print(`${kind}: engine`, `${megabytes(engine)}, peak of the run so far ${peak} MB`);
  senders.kill();
  await until(async () => (await product.through(host)).status === 200);
  await sleep(settleMs);
  print(`${kind}: engine after it`, megabytes(product.weigh().engine));
}

const origin = await startScript('hostile-origin.mjs', [String(largeBytes)]);
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
  const endpoints = [{ url: `http://127.0.0.1:${origin.message}` }];
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
  origin.child.kill();
  rmSync(data, { recursive: true, force: true });
}
