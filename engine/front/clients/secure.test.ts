/** TLS towards clients through a front: names, versions, sessions, swaps, and what is refused. */

import net from 'node:net';
import tls from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { parseNetwork } from '../../../base/ip-address.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { Closing, httpOrigin, RawClient, siteFor } from '../fixtures/fixture.ts';
import {
  askSecure,
  getText,
  secureSite,
  startSecureFront,
  tlsFor,
} from '../fixtures/secure-fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

/** An origin that answers with the fields it got. */
const echoOrigin = (): Promise<number> =>
  httpOrigin(closing, (request, response) => {
    const { host, 'x-forwarded-proto': proto, 'x-forwarded-for': client } = request.headers;
    response.end(`host=${host} proto=${String(proto)} for=${String(client)} url=${request.url}`);
  });

function askPlain(port: number, text: string): Promise<string> {
  const client = new RawClient(port);
  client.send(text);
  return client.all();
}

test('a request over TLS reaches the origin, which learns that it was https', async () => {
  const { securePort, eventsReach } = await startSecureFront(closing, [
    secureSite(await echoOrigin(), 'shop.test'),
  ]);
  const { text } = await askSecure(securePort, getText('shop.test', '/a?b=c'), {
    servername: 'shop.test',
  });
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(text).toContain('host=shop.test proto=https for=127.0.0.1 url=/a?b=c');
  const [event] = await eventsReach(1);
  expect(event).toMatchObject({ status: 200, siteId: 'shop.test', outcome: 'served' });
  const ja4 = expect.stringMatching(/^t13d\d{4}00_[0-9a-f]{12}_[0-9a-f]{12}$/) as string;
  expect(event?.tls).toEqual({ version: 'TLSv1.3', ja4 });
});

test('the certificate follows the name: exact before wildcard, a wildcard for one label', async () => {
  const origin = await echoOrigin();
  const { securePort } = await startSecureFront(closing, [
    secureSite(origin, 'a.shop.test'),
    secureSite(origin, '*.shop.test'),
    secureSite(origin, '127.0.0.1'),
  ]);
  const shown = async (servername: string): Promise<string> => {
    const { names } = await askSecure(securePort, getText(servername || '127.0.0.1'), {
      servername,
    });
    return names;
  };
  expect(await shown('a.shop.test')).toBe('DNS:a.shop.test');
  expect(await shown('A.Shop.Test')).toBe('DNS:a.shop.test');
  expect(await shown('b.shop.test')).toBe('DNS:*.shop.test');
  // Without a name, the server's own address counts.
  expect(await shown('')).toBe('DNS:127.0.0.1');
  for (const unknown of ['shop.test', 'x.b.shop.test', 'other.test']) {
    await expect(shown(unknown)).rejects.toThrow(/unrecognized name/);
  }
});

test('a site without TLS, or without a certificate yet, gets no handshake', async () => {
  const origin = await echoOrigin();
  const waiting = tlsFor('new.test', { certificate: null });
  const { securePort } = await startSecureFront(closing, [
    siteFor(origin, { id: 'plain', hosts: ['plain.test'] }),
    siteFor(origin, { id: 'new', hosts: ['new.test'], tls: waiting }),
  ]);
  for (const servername of ['plain.test', 'new.test']) {
    const asked = askSecure(securePort, getText(servername), { servername });
    await expect(asked).rejects.toThrow(/unrecognized name/);
  }
});

test('versions: 1.2 and 1.3 by default, 1.3 alone where the site asks; never less', async () => {
  const origin = await echoOrigin();
  const { securePort } = await startSecureFront(closing, [
    secureSite(origin, 'usual.test'),
    secureSite(origin, 'modern.test', { minVersion: 'TLSv1.3' }),
  ]);
  const ask = (servername: string, version: tls.SecureVersion): Promise<string> =>
    askSecure(securePort, getText(servername), {
      servername,
      minVersion: version,
      maxVersion: version,
      ciphers: 'DEFAULT@SECLEVEL=0',
    }).then((answer) => answer.version);
  expect(await ask('usual.test', 'TLSv1.2')).toBe('TLSv1.2');
  expect(await ask('usual.test', 'TLSv1.3')).toBe('TLSv1.3');
  expect(await ask('modern.test', 'TLSv1.3')).toBe('TLSv1.3');
  await expect(ask('modern.test', 'TLSv1.2')).rejects.toThrow(/protocol version/);
  await expect(ask('usual.test', 'TLSv1.1')).rejects.toThrow(/protocol version/);
});

test('ciphers without forward secrecy or authentication of records are refused', async () => {
  const { securePort } = await startSecureFront(closing, [
    secureSite(await echoOrigin(), 'shop.test'),
  ]);
  for (const ciphers of [
    'ECDHE-ECDSA-AES128-SHA',
    'AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-SHA256',
  ]) {
    const options = { servername: 'shop.test', maxVersion: 'TLSv1.2', ciphers } as const;
    await expect(askSecure(securePort, '', options)).rejects.toThrow(/handshake failure/);
  }
});

test('a session is resumed while the keys of tickets stay, and never for another site', async () => {
  const origin = await echoOrigin();
  const { securePort, front } = await startSecureFront(closing, [
    secureSite(origin, 'one.test'),
    secureSite(origin, 'two.test'),
  ]);
  const ask = async (servername: string, maxVersion: tls.SecureVersion, session?: Buffer | null) =>
    askSecure(securePort, getText(servername), {
      servername,
      maxVersion,
      ...(session ? { session } : {}),
    });
  front.setTicketKeys(Buffer.alloc(48, 1));
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const { session } = await ask('one.test', version);
    expect((await ask('one.test', version, session)).resumed).toBe(true);
    const other = await ask('two.test', version, session).catch(() => null);
    expect(other?.resumed ?? false).toBe(false);
    front.setTicketKeys(Buffer.alloc(48, 2));
    expect((await ask('one.test', version, session)).resumed).toBe(false);
    front.setTicketKeys(Buffer.alloc(48, 1));
  }
});

test('another certificate serves new connections; open ones stay', async () => {
  const origin = await echoOrigin();
  const before = secureSite(origin, 'shop.test');
  const { securePort, front } = await startSecureFront(closing, [before]);
  const open = tls.connect({
    port: securePort,
    servername: 'shop.test',
    rejectUnauthorized: false,
  });
  closing.add(() => void open.destroy());
  let text = '';
  open.on('data', (bytes: Buffer) => (text += bytes.toString()));
  await new Promise((resolve) => open.once('secureConnect', resolve));
  const first = open.getPeerCertificate().fingerprint256;
  const changed = { ...before, tls: tlsFor('shop.test') };
  front.swap({ routes: { revision: 'r2', sites: [changed] }, inspectorOf: () => null });
  const next = await new Promise<string>((resolve, reject) => {
    const options = { port: securePort, servername: 'shop.test', rejectUnauthorized: false };
    const socket = tls.connect(options, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on('error', reject);
  });
  expect(next).not.toBe(first);
  open.write('GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n');
  await new Promise<void>((resolve) => {
    const check = (): void => void (text.includes('HTTP/1.1 ') && resolve());
    open.on('data', check);
  });
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
});

test('a host of another certificate gets 421; hosts that share one share a connection', async () => {
  const origin = await echoOrigin();
  const shared = tlsFor('*.shop.test');
  const { securePort, eventsReach } = await startSecureFront(closing, [
    siteFor(origin, { id: 'a', hosts: ['a.shop.test'], tls: shared }),
    siteFor(origin, { id: 'b', hosts: ['b.shop.test'], tls: shared }),
    siteFor(origin, { id: 'm', hosts: ['m.shop.test'], tls: { ...shared, minVersion: 'TLSv1.3' } }),
    secureSite(origin, 'other.test'),
    siteFor(origin, { id: 'plain', hosts: ['plain.test'] }),
  ]);
  const status = async (host: string, maxVersion: tls.SecureVersion = 'TLSv1.3') => {
    const options = { servername: 'a.shop.test', maxVersion };
    const { text } = await askSecure(securePort, getText(host), options);
    return text.split(' ')[1];
  };
  expect(await status('b.shop.test')).toBe('200');
  expect(await status('other.test')).toBe('421');
  expect(await status('plain.test')).toBe('421');
  expect(await status('nobody.test')).toBe('404');
  // A site that asks for TLS 1.3 is not reached over a connection of TLS 1.2.
  expect(await status('m.shop.test')).toBe('200');
  expect(await status('m.shop.test', 'TLSv1.2')).toBe('421');
  const events = await eventsReach(6);
  expect(events[1]).toMatchObject({ outcome: 'refused', refusal: 'misdirected', status: 421 });
});

test('plain HTTP on the port for TLS gets an error, and what is neither is closed', async () => {
  const { securePort } = await startSecureFront(closing, [
    secureSite(await echoOrigin(), 'shop.test'),
  ]);
  const plain = await new RawClient(securePort).send(getText('shop.test')).all();
  expect(plain).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  const alert = await new RawClient(securePort).send(Buffer.alloc(16)).all();
  expect([...Buffer.from(alert, 'latin1')]).toEqual([21, 3, 3, 0, 2, 2, 50]);
});

test('a handshake that does not end in time is closed, bytes in between or not', async () => {
  const { securePort, front } = await startSecureFront(
    closing,
    [secureSite(await echoOrigin(), 'shop.test')],
    { handshakeTimeoutMs: 50 },
  );
  const silent = new RawClient(securePort);
  const slow = new RawClient(securePort).send(Buffer.from([22, 3, 1, 0, 100, 1]));
  expect(await silent.all()).toBe('');
  expect(await slow.all()).toBe('');
  expect(front.connections).toBe(0);
});

test('handshakes count as connections', async () => {
  const { securePort, front } = await startSecureFront(
    closing,
    [secureSite(await echoOrigin(), 'shop.test')],
    { connectionsMax: 2 },
  );
  const held = [new RawClient(securePort), new RawClient(securePort)];
  for (const client of held) {
    await new Promise((resolve) => client.socket.once('connect', resolve));
    client.send(Buffer.from([22, 3]));
  }
  await eventually(() => front.connections === 2);
  expect(await new RawClient(securePort).all()).toBe('');
  for (const client of held) client.socket.destroy();
});

test('a hello in small pieces is a hello, and bytes after it are refused', async () => {
  const { securePort } = await startSecureFront(closing, [
    secureSite(await echoOrigin(), 'shop.test'),
  ]);
  // A relay that hands the client's bytes on one by one.
  const relay = net.createServer((client) => {
    const server = net.connect({ port: securePort, host: '127.0.0.1', noDelay: true });
    let sending = Promise.resolve();
    client.on('data', (bytes: Buffer) => {
      for (const byte of bytes) {
        sending = sending.then(
          () => new Promise((resolve) => server.write(Buffer.from([byte]), () => resolve())),
        );
      }
    });
    server.pipe(client);
    for (const socket of [client, server]) socket.on('error', () => undefined);
  });
  closing.add(() => void relay.close());
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const { port } = relay.address() as net.AddressInfo;
  const { text } = await askSecure(port, getText('shop.test'), { servername: 'shop.test' });
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
});

test('a record that was changed on its way ends the connection', async () => {
  const { securePort, front } = await startSecureFront(closing, [
    secureSite(await echoOrigin(), 'shop.test'),
  ]);
  const raw = net.connect({ port: securePort, host: '127.0.0.1' });
  const client = tls.connect({ socket: raw, servername: 'shop.test', rejectUnauthorized: false });
  client.on('error', () => undefined);
  await new Promise((resolve) => client.once('secureConnect', resolve));
  const closed = new Promise((resolve) => raw.once('close', resolve));
  raw.write(Buffer.from([23, 3, 3, 0, 32, ...Buffer.alloc(32, 7)]));
  await closed;
  expect(await eventually(() => front.connections === 0)).toBe(true);
});

test('HTTP behavior: redirect keeps method and target, and names the validated host', async () => {
  const { port, securePort, eventsReach } = await startSecureFront(closing, [
    secureSite(await echoOrigin(), 'shop.test', { httpBehavior: 'redirect' }),
  ]);
  const ask = (text: string): Promise<string> => new RawClient(port).send(text).all();
  const moved = await ask(getText('SHOP.test:80', '/a%20b?next=http://evil.test&x="<'));
  expect(moved).toMatch(/^HTTP\/1\.1 308 Permanent Redirect\r\n/);
  expect(moved).toContain(
    `\r\nLocation: https://shop.test:${securePort}/a%20b?next=http://evil.test&x=%22%3C\r\n`,
  );
  const absolute = `GET http://shop.test HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n`;
  expect(await ask(absolute)).toContain(`\r\nLocation: https://shop.test:${securePort}/\r\n`);
  const doubled = await ask(getText('shop.test', '//evil.test/'));
  expect(doubled).toContain(`\r\nLocation: https://shop.test:${securePort}//evil.test/\r\n`);
  const post =
    'POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab';
  expect(await ask(post)).toMatch(/^HTTP\/1\.1 308 /);
  // What is malformed is refused, not redirected.
  expect(await ask(getText('shop.test/../x'))).toMatch(/^HTTP\/1\.1 400 /);
  const [event] = await eventsReach(5);
  expect(event).toMatchObject({ outcome: 'served', status: 308, endpoint: null });
});

test('HTTP behavior: the public port stands in redirects, 443 does not', async () => {
  const site = secureSite(await echoOrigin(), 'shop.test', { httpBehavior: 'redirect' });
  for (const [publicPort, named] of [
    [443, 'https://shop.test/x'],
    [8443, 'https://shop.test:8443/x'],
  ] as const) {
    const { port } = await startSecureFront(closing, [site], {}, publicPort);
    const text = await new RawClient(port).send(getText('shop.test', '/x')).all();
    expect(text).toContain(`\r\nLocation: ${named}\r\n`);
  }
});

test('HTTP behavior: ACME only answers authorities and nobody else; both serves', async () => {
  const origin = await echoOrigin();
  const { port, front } = await startSecureFront(closing, [
    secureSite(origin, 'closed.test', { httpBehavior: 'acme_only' }),
    secureSite(origin, 'moved.test', { httpBehavior: 'redirect' }),
    secureSite(origin, 'both.test'),
  ]);
  front.setAcmeAnswer('token-1', 'token-1.key');
  const path = '/.well-known/acme-challenge/token-1';
  const ask = (host: string, target: string): Promise<string> =>
    new RawClient(port).send(getText(host, target)).all();
  expect(await ask('closed.test', '/')).toMatch(/^HTTP\/1\.1 404 /);
  expect(await ask('both.test', '/')).toMatch(/^HTTP\/1\.1 200 /);
  for (const host of ['closed.test', 'moved.test', 'both.test', 'unknown.test']) {
    const text = await ask(host, path);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text.endsWith('\r\n\r\ntoken-1.key')).toBe(true);
  }
  // Other tokens are the site's business.
  expect(await ask('both.test', `${path}2`)).toContain('url=/.well-known/acme-challenge/token-12');
  front.setAcmeAnswer('token-1', null);
  expect(await ask('closed.test', path)).toMatch(/^HTTP\/1\.1 404 /);
});

test('HSTS: over TLS alone, in place of the origin, on our own answers too', async () => {
  const origin = await httpOrigin(closing, (_request, response) => {
    response.setHeader('Strict-Transport-Security', 'max-age=1').end('x');
  });
  const strictTransportSecurity = 'max-age=600; includeSubDomains';
  const { port, securePort } = await startSecureFront(closing, [
    secureSite(origin, 'shop.test', { strictTransportSecurity }),
    secureSite(origin, 'silent.test'),
  ]);
  const said = (text: string): string[] =>
    text.match(/(?<=\r\nStrict-Transport-Security: ).*/g) ?? [];
  const over = async (servername: string, target = '/'): Promise<string[]> =>
    said((await askSecure(securePort, getText(servername, target), { servername })).text);
  expect(await over('shop.test')).toEqual([strictTransportSecurity]);
  expect(await over('shop.test', '*')).toEqual([strictTransportSecurity]);
  expect(await over('silent.test')).toEqual(['max-age=1']);
  expect(said(await new RawClient(port).send(getText('shop.test')).all())).toEqual(['max-age=1']);
});

test('HTTP behavior: what reached a trusted proxy over TLS is served, not redirected', async () => {
  const ranges = [parseNetwork('127.0.0.0/8')!];
  const trust = {
    nodes: [{ id: 'lb', ranges, xffMode: '' }],
    edges: [
      { from: 'internet', to: 'lb' },
      { from: 'lb', to: 'waf' },
    ],
    rules: [],
  };
  const tls = { httpBehavior: 'redirect', strictTransportSecurity: 'max-age=9' } as const;
  const site = { ...secureSite(await echoOrigin(), 'shop.test', tls), trust };
  const { port, securePort } = await startSecureFront(closing, [site]);
  const said = (proto: string): string =>
    getText('shop.test').replace('\r\n\r\n', `\r\nX-Forwarded-Proto: ${proto}\r\n\r\n`);
  const served = await askPlain(port, said('https'));
  expect(served).toMatch(/^HTTP\/1\.1 200 .*Strict-Transport-Security: max-age=9.*proto=https/s);
  expect(await askPlain(port, said('http'))).toMatch(/^HTTP\/1\.1 308 /);
  const options = { servername: 'shop.test' };
  const { text } = await askSecure(securePort, said('http'), options);
  expect(text).toMatch(/^HTTP\/1\.1 308 .*Location: https:\/\/shop\.test/s);
});

test('without a listener for TLS nobody is redirected to it', async () => {
  const site = secureSite(await echoOrigin(), 'shop.test', { httpBehavior: 'redirect' });
  const { startFront } = await import('../fixtures/fixture.ts');
  const { port } = await startFront(closing, [site]);
  const text = await new RawClient(port).send(getText('shop.test')).all();
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
});

test('a drained front finishes requests over TLS', async () => {
  const answers: (() => void)[] = [];
  const origin = await httpOrigin(closing, (_request, response) => {
    answers.push(() => response.end('late'));
  });
  const { securePort, front } = await startSecureFront(closing, [secureSite(origin, 'shop.test')]);
  const asked = askSecure(securePort, 'GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n', {
    servername: 'shop.test',
  });
  await eventually(() => answers.length > 0);
  const drained = front.drain();
  answers[0]!();
  expect((await asked).text).toContain('late');
  await drained;
});
