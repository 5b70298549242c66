/** Starts pebble, the test authority of ACME, with its DNS server, on free ports. */

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { makeTestCertificate, type TestCertificate } from './test-certificates.ts';

/** Null when pebble can run, else why not. */
export const missingPebble: string | null = ['pebble', 'pebble-challtestsrv'].every((name) =>
  existsSync(`/usr/bin/${name}`),
)
  ? null
  : 'skipped: pebble is not installed; npm test installs it';

/** A running authority. */
export interface Pebble {
  readonly directoryUrl: string;
  /** The authority that signed its own certificate. */
  readonly authority: TestCertificate;
  /** Sets or clears a TXT record in its DNS; `value` null clears. */
  setTxt(name: string, value: string | null): Promise<void>;
  /** Where a name leads; every other leads to 127.0.0.1. */
  setAddress(name: string, address: string): Promise<void>;
  stop(): void;
}

/** What differs from the usual. */
export interface PebbleWish {
  /** Where it asks for HTTP-01 proofs. */
  readonly httpPort: number;
  /** Per cent of nonces that it refuses although they are good. */
  readonly badNonces?: number;
  /** External accounts: base64url keys by id; none means that none is needed. */
  readonly externalAccounts?: Readonly<Record<string, string>>;
}

/** Starts it; resolves when it answers. */
export async function startPebble(wish: PebbleWish): Promise<Pebble> {
  const { httpPort, badNonces = 20, externalAccounts = {} } = wish;
  const folder = mkdtempSync(join(tmpdir(), 'waf-pebble-'));
  const authority = await makeTestCertificate({ subject: 'CN=Pebble CA', authority: true });
  const leaf = await makeTestCertificate({ names: ['127.0.0.1'], issuer: authority });
  const [port, management, dnsApi, dns] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  writeFileSync(join(folder, 'cert.pem'), leaf.cert);
  writeFileSync(join(folder, 'key.pem'), leaf.key);
  const config = {
    pebble: {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: join(folder, 'cert.pem'),
      privateKey: join(folder, 'key.pem'),
      httpPort,
      tlsPort: await freePort(),
      externalAccountBindingRequired: Object.keys(externalAccounts).length > 0,
      externalAccountMACKeys: externalAccounts,
    },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const flags = ['-http01', '', '-https01', '', '-tlsalpn01', ''];
  const where = ['-dns01', `127.0.0.1:${dns}`, '-management', `127.0.0.1:${dnsApi}`];
  const children: ChildProcess[] = [
    spawn('pebble-challtestsrv', [...flags, ...where, '-defaultIPv6', ''], { stdio: 'ignore' }),
    spawn(
      'pebble',
      ['-config', join(folder, 'config.json'), '-strict', '-dnsserver', `127.0.0.1:${dns}`],
      {
        stdio: 'ignore',
        env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: String(badNonces) },
      },
    ),
  ];
  const directoryUrl = `https://127.0.0.1:${port}/dir`;
  await answers(directoryUrl, authority.cert);
  const tellDns = async (path: string, body: object): Promise<void> => {
    const url = `http://127.0.0.1:${dnsApi}/${path}`;
    await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  };
  const setAddress = (host: string, address: string): Promise<void> =>
    tellDns('add-a', { host, addresses: [address] });
  const setTxt = (name: string, value: string | null): Promise<void> => {
    const host = `${name.replace(/\.$/, '')}.`;
    return value === null ? tellDns('clear-txt', { host }) : tellDns('set-txt', { host, value });
  };
  const stop = (): void => {
    for (const child of children) child.kill();
  };
  return { directoryUrl, authority, setTxt, setAddress, stop };
}

async function answers(url: string, ca: string): Promise<void> {
  await eventually(() => {
    return new Promise<boolean>((resolve) => {
      const asked = https.get(url, { ca, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      asked.on('error', () => resolve(false));
    });
  });
}
