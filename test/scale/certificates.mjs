/**
 * The run of many certificates: prints how long they take to serve, what the engine weighs,
 * how long a start takes until a handshake succeeds, and how handshakes fare while the certificates
 * of `--swapped` names are replaced. A figure for people; it asserts nothing.
 *
 *   node test/scale/certificates.mjs [--names 10000] [--swapped 1000] [--clients 8]
 */

import { webcrypto } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { parseArgs } from 'node:util';
import { documentOf, freePort, megabytes, print, Product, quantiles, until } from './product.mjs';

const { values } = parseArgs({
  options: {
    names: { type: 'string', default: '10000' },
    swapped: { type: 'string', default: '1000' },
    clients: { type: 'string', default: '8' },
    workers: { type: 'string', default: '1' },
    build: { type: 'string', default: join(import.meta.dirname, '..', '..', '.build') },
  },
});
const names = Number(values.names);
const swapped = Math.min(Number(values.swapped), names);
const batch = 500;
const dayMs = 24 * 3_600_000;
const { build } = values;

const data = mkdtempSync(join(tmpdir(), 'waf-certificates-'));
const securePort = await freePort();
const product = new Product({
  ...{ build, data, workers: values.workers, quiet: true },
  // The last of a flag counts.
  flags: ['--no-demo', '--https', `127.0.0.1:${securePort}`],
});
const hostOf = (at) => `site-${at}.example`;

/** Makes certificates of their own for names; all of a run have one key. */
async function certificateMaker() {
  const { addReflectMetadata } = await import(
    join(build, 'control', 'acme', 'reflect-metadata.js')
  );
  addReflectMetadata();
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const lines = key
    .toString('base64')
    .match(/.{1,64}/g)
    .join('\n');
  const pem = `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`;
  const make = async (host) => {
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      ...{ name: `CN=${host}`, keys, signingAlgorithm: algorithm },
      notBefore: new Date(Date.now() - dayMs),
      notAfter: new Date(Date.now() + 90 * dayMs),
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
    });
    return Buffer.from(certificate.toString('pem')).toString('base64');
  };
  return { make, keyPem: Buffer.from(pem).toString('base64') };
}

async function uploadAll(round, count, { make, keyPem }) {
  let next = 0;
  const uploader = async () => {
    for (let at = next++; at < count; at = next++) {
      const certPem = await make(hostOf(at));
      await product.call('CertService/UploadCert', { name: `${round}-${at}`, certPem, keyPem });
    }
  };
  await Promise.all(Array.from({ length: 4 }, uploader));
}

const siteDocuments = (round, count) =>
  Array.from({ length: count }, (_, at) =>
    documentOf('Site', `site-${at}`, {
      primaryHost: hostOf(at),
      upstreamRef: 'pool',
      certRef: `${round}-${at}`,
      tls: { mode: 'uploaded' },
    }),
  );

/** One handshake; the serial number that was shown, null for a failure. */
function handshake(at) {
  return new Promise((resolve) => {
    const socket = tls.connect({
      ...{ host: '127.0.0.1', port: securePort, servername: hostOf(at) },
      rejectUnauthorized: false,
    });
    socket.on('error', () => resolve(null));
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
  });
}

/** Handshakes of random names until `work` is done. */
async function whileShaking(work) {
  let going = true;
  const times = [];
  let failed = 0;
  const clients = Array.from({ length: Number(values.clients) }, async () => {
    while (going) {
      const began = performance.now();
      const serial = await handshake(Math.floor(Math.random() * swapped));
      if (serial === null) failed++;
      times.push(performance.now() - began);
    }
  });
  await work();
  going = false;
  await Promise.all(clients);
  print('handshakes meanwhile', quantiles(times));
  print('handshakes that failed', String(failed));
}

const origin = createServer((_, response) => response.end('ok'));
await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
try {
  const maker = await certificateMaker();
  await product.start();
  const endpoints = [{ url: `http://127.0.0.1:${origin.address().port}` }];
  await product.apply([documentOf('Upstream', 'pool', { endpoints })], 1);
  print('engine without certificates', megabytes(product.weigh().engine));
  let began = performance.now();
  await uploadAll('a', names, maker);
  print('made and uploaded', `${((performance.now() - began) / 1000).toFixed(1)} s`);
  began = performance.now();
  await product.apply(siteDocuments('a', names), batch);
  await until(async () => (await handshake(names - 1)) !== null, 50);
  print(
    `${names} sites until the last serves`,
    `${((performance.now() - began) / 1000).toFixed(1)} s`,
  );
  await product.caughtUp();
  print('engine', megabytes(product.weigh().engine));
  await uploadAll('b', swapped, maker);
  await whileShaking(async () => {
    const before = await handshake(swapped - 1);
    began = performance.now();
    await product.apply(siteDocuments('b', swapped), batch);
    await until(async () => (await handshake(swapped - 1)) !== before, 50);
    await product.caughtUp();
    print(
      `${swapped} certificates replaced in`,
      `${((performance.now() - began) / 1000).toFixed(1)} s`,
    );
  });
  await product.stop();
  await product.start();
  await until(async () => (await handshake(names - 1)) !== null, 20);
  const startedMs = performance.now() - product.startedMs;
  print('start until a handshake succeeds', `${(startedMs / 1000).toFixed(1)} s`);
  print('engine after it', megabytes(product.weigh().engine));
} finally {
  await product.stop();
  product.close();
  origin.close();
  rmSync(data, { recursive: true, force: true });
}
