/** A target over TLS is spoken to only with a certificate that fits; else the error says why. */

import { once } from 'node:events';
import { createServer, type Server } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { makeTestCertificate, type CertificateWish } from '../../test/support/test-certificates.ts';
import type { SiemTarget } from '../domain/settings/siem-settings.ts';
import { openWire } from './wire.ts';

let server: Server | undefined;
afterEach(() => server?.close());

const authority = makeTestCertificate({ subject: 'CN=own authority', authority: true });

/** Opens the way to a server with that certificate; the message of what went wrong. */
async function faultOf(wish: CertificateWish, more: Partial<SiemTarget> = {}): Promise<string> {
  const { cert, key } = await makeTestCertificate({ issuer: await authority, ...wish });
  server = createServer({ cert, key }, (socket) => socket.resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target = {
    ...{ id: 'a', transport: 'tls', host: '127.0.0.1', serverName: 'siem.example' },
    ...{ port: (server.address() as AddressInfo).port, clientCertPem: '', clientKeyPem: '' },
    caPem: (await authority).cert,
    ...more,
  } as SiemTarget;
  const { signal } = new AbortController();
  return openWire(target, ['127.0.0.0/8'], signal).then(
    (wire) => {
      wire.close();
      return '';
    },
    (error: Error) => error.message,
  );
}

test.each<[what: string, CertificateWish, Partial<SiemTarget>, reason: string]>([
  ['the certificate of its own authority', { names: ['siem.example'] }, {}, ''],
  ['its address where no name is stated', { names: ['127.0.0.1'] }, { serverName: '' }, ''],
  ['another name', { names: ['other.example'] }, {}, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['another address', { names: ['192.0.2.1'] }, { serverName: '' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  [
    'a certificate that ended',
    { names: ['siem.example'], toDays: -1, fromDays: -9 },
    {},
    'CERT_HAS_EXPIRED',
  ],
  ['one that has not begun', { names: ['siem.example'], fromDays: 2 }, {}, 'CERT_NOT_YET_VALID'],
  [
    'an authority that is not stated',
    { names: ['siem.example'] },
    { caPem: '' },
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ],
])('%s', async (_what, wish, more, reason) => {
  const fault = await faultOf(wish, more);
  expect(fault).toBe(reason === '' ? '' : `could not connect: ${reason}`);
});
