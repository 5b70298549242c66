/** Tests the RADIUS client against a real FreeRADIUS, and against servers that misbehave. */

import { createHash, createHmac } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { askRadius, type RadiusQuestion } from '../../control/auth/radius-client.ts';
import { parsePacket, radiusTypes, readReply } from '../../control/auth/radius-packet.ts';
import type { RadiusConfig } from '../../control/domain/settings/identity-settings.ts';
import { hasFreeradius, startFreeradius, type Freeradius } from './freeradius.ts';

const config = (port: number, secret: string, more: Partial<RadiusConfig> = {}): RadiusConfig => ({
  enabled: true,
  use: 'password',
  servers: [{ host: '127.0.0.1', port }],
  secret,
  timeoutMs: 2000,
  attempts: 2,
  nasIdentifier: 'waf',
  prompt: '',
  autoCreate: false,
  defaultRoleIds: [],
  roleMappings: {},
  ...more,
});
const ask = (username: string, password: string, state?: Buffer): RadiusQuestion => ({
  username,
  password,
  address: '192.0.2.7',
  ...(state === undefined ? {} : { state }),
});

if (!hasFreeradius) console.log('skipped: no freeradius');
describe.skipIf(!hasFreeradius)('FreeRADIUS', () => {
  let server: Freeradius;
  beforeAll(async () => {
    server = await startFreeradius();
  });
  afterAll(() => server.stop());
  const send = (question: RadiusQuestion, secret = server.secret) =>
    askRadius(config(server.port, secret, { timeoutMs: 20_000 }), question);

  test('accepts the right password and rejects others', async () => {
    const accepted = await send(ask('alice', 'alice-password'));
    expect(accepted).toEqual({ kind: 'accept', groups: ['ops'] });
    expect(await send(ask('alice', 'alice-passwore'))).toEqual({ kind: 'reject' });
    expect(await send(ask('alice', ''))).toEqual({ kind: 'reject' });
    expect(await send(ask('nobody', 'alice-password'))).toEqual({ kind: 'reject' });
    // Longer than one block and than the protocol takes.
    expect(await send(ask('alice', 'x'.repeat(100)))).toEqual({ kind: 'reject' });
    expect(await send(ask('alice', 'x'.repeat(129)))).toEqual({ kind: 'reject' });
  });

  test('challenges, more than once, and takes the answer with the state', async () => {
    const first = await send(ask('carol', 'carol-password'));
    expect(first).toMatchObject({ kind: 'challenge', prompt: 'Enter your code' });
    const state = first.kind === 'challenge' ? first.state : undefined;
    expect(await send(ask('carol', '999', state))).toEqual({ kind: 'reject' });
    expect(await send(ask('carol', '246810', state))).toMatchObject({ kind: 'accept' });
    const second = await send(ask('carol', 'again', state));
    expect(second).toMatchObject({ kind: 'challenge', prompt: 'Enter the second code' });
    const next = second.kind === 'challenge' ? second.state : undefined;
    expect(await send(ask('carol', '1357', next))).toMatchObject({ kind: 'accept' });
  });

  test('a wrong shared secret makes every server silent', async () => {
    const answer = await askRadius(
      config(server.port, 'another secret', { timeoutMs: 200, attempts: 1 }),
      ask('alice', 'alice-password'),
    );
    expect(answer).toEqual({ kind: 'silent' });
  });

  test('the next server is asked when one is silent', async () => {
    const deaf = createSocket('udp4').bind(0, '127.0.0.1');
    await new Promise((resolve) => deaf.once('listening', resolve));
    const servers = [
      { host: '127.0.0.1', port: deaf.address().port },
      { host: '127.0.0.1', port: server.port },
    ];
    const both = config(server.port, server.secret, { servers, timeoutMs: 5_000, attempts: 1 });
    expect(await askRadius(both, ask('alice', 'alice-password'))).toMatchObject({ kind: 'accept' });
    deaf.close();
  });
});

describe.skipIf(!hasFreeradius)('FreeRADIUS without Message-Authenticator', () => {
  test('is not believed', async () => {
    const server = await startFreeradius(false);
    try {
      const answer = await askRadius(
        config(server.port, server.secret, { timeoutMs: 300, attempts: 1 }),
        ask('alice', 'alice-password'),
      );
      expect(answer).toEqual({ kind: 'silent' });
    } finally {
      await server.stop();
    }
  });
});

test('no datagram breaks the reader, and none of noise is a reply', () => {
  const request = { id: 7, authenticator: Buffer.alloc(16, 1) };
  const bytes = fc.uint8Array({ maxLength: 300 });
  fc.assert(
    fc.property(bytes, fc.integer({ min: 0, max: 400 }), (noise, length) => {
      const datagram = Buffer.from(noise);
      if (datagram.length >= 4) {
        datagram[1] = request.id;
        datagram.writeUInt16BE(length, 2);
      }
      expect(readReply(datagram, request, 'secret')).toBeNull();
    }),
    { numRuns: 2000 },
  );
});

describe('a server that misbehaves', () => {
  const secret = 'shared';
  let socket: Socket;
  afterEach(() => socket.close());

  /** A server that answers each request with what `make` gives. */
  async function serve(make: (request: Buffer, count: number) => Buffer[]): Promise<number> {
    let count = 0;
    socket = createSocket('udp4');
    socket.on('message', (request, from) => {
      for (const one of make(request, count++)) socket.send(one, from.port, from.address);
    });
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return (socket.address() as AddressInfo).port;
  }

  interface Forgery {
    readonly code?: number;
    readonly id?: number;
    readonly secret?: string;
    readonly macSecret?: string | null;
    readonly extra?: Buffer;
  }
  function reply(request: Buffer, forgery: Forgery = {}): Buffer {
    const key = forgery.secret ?? secret;
    const macKey = forgery.macSecret === undefined ? key : forgery.macSecret;
    const mac =
      macKey === null ? Buffer.alloc(0) : Buffer.concat([Buffer.from([80, 18]), Buffer.alloc(16)]);
    const extra = forgery.extra ?? Buffer.alloc(0);
    const packet = Buffer.concat([Buffer.alloc(20), extra, mac]);
    packet[0] = forgery.code ?? 2;
    packet[1] = forgery.id ?? request[1] ?? 0;
    packet.writeUInt16BE(packet.length, 2);
    request.copy(packet, 4, 4, 20);
    if (macKey !== null) {
      createHmac('md5', macKey)
        .update(packet)
        .digest()
        .copy(packet, packet.length - 16);
    }
    createHash('md5').update(packet).update(key).digest().copy(packet, 4);
    return packet;
  }
  const once = (port: number, more: Partial<RadiusConfig> = {}) =>
    askRadius(config(port, secret, { timeoutMs: 150, attempts: 1, ...more }), ask('u', 'p'));

  const forged: [string, Forgery][] = [
    ['without Message-Authenticator', { macSecret: null }],
    ['with a wrong Message-Authenticator', { macSecret: 'other' }],
    ['with a wrong Response Authenticator', { secret: 'other', macSecret: secret }],
    ['with another id', { id: 999 }],
    ['with two Message-Authenticators', { extra: Buffer.from([80, 18, ...Buffer.alloc(16)]) }],
  ];
  test.each(forged)('a reply %s is ignored', async (_name, forgery) => {
    const port = await serve((request) => [
      reply(request, forgery.id === undefined ? forgery : { id: ((request[1] ?? 0) + 1) % 256 }),
    ]);
    expect(await once(port)).toEqual({ kind: 'silent' });
  });

  test('a genuine reply is found among forged and broken ones', async () => {
    const port = await serve((request) => [
      reply(request, { macSecret: null }),
      Buffer.from('noise'),
      Buffer.concat([reply(request).subarray(0, 20), Buffer.from([1, 0])]),
      reply(request, { code: 3 }),
    ]);
    expect(await once(port, { timeoutMs: 20_000 })).toEqual({ kind: 'reject' });
  });

  test('the request is sent again, unchanged, and is signed first', async () => {
    const seen: Buffer[] = [];
    const port = await serve((request, count) => {
      seen.push(Buffer.from(request));
      return count === 0 ? [] : [reply(request)];
    });
    expect(await once(port, { attempts: 20 })).toMatchObject({ kind: 'accept' });
    expect(seen[0]?.equals(seen[1] ?? Buffer.alloc(0))).toBe(true);
    const packet = parsePacket(seen[0] ?? Buffer.alloc(0));
    expect(packet?.attributes[0]?.type).toBe(radiusTypes.messageAuthenticator);
    const types = packet?.attributes.map(({ type }) => type);
    expect(types).toContain(radiusTypes.nasIdentifier);
    expect(types).toContain(radiusTypes.callingStationId);
  });

  test('a prompt reaches people as one bounded line', async () => {
    const text = Buffer.from('\u001b[31mEnter\r\n' + 'x'.repeat(240));
    const extra = Buffer.concat([
      Buffer.from([24, 3, 7]),
      Buffer.from([18, text.length + 2]),
      text,
    ]);
    const port = await serve((request) => [reply(request, { code: 11, extra })]);
    const answer = await once(port, { timeoutMs: 20_000 });
    expect(answer).toMatchObject({ kind: 'challenge', state: Buffer.from([7]) });
    const prompt = answer.kind === 'challenge' ? answer.prompt : '';
    expect(prompt).toMatch(/^\[31mEnter x+$/);
    expect(prompt.length).toBeLessThanOrEqual(200);
  });
});
