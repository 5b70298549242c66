/**
 * Tests that the memory all sockets of a thread are read into, and the one that bodies are sent
 * from, never carries bytes of one client to another: many clients at once, in random pieces.
 */

import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { passVerdict } from '../../contract/verdict.ts';
import { Closing, httpOrigin, RawClient } from '../fixtures/fixture.ts';
import { ScriptedInspector, siteFor, startFront } from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

/** Small, repeatable randomness (a linear congruence); the seed stands in the test's name. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const clients = 24;
const requestsPerClient = 12;
const sizes = [0, 1, 40, 900, 5_000, 16_000, 70_000, 200_000];

/** A body that only this client's request has. */
function bodyOf(client: number, request: number, size: number): string {
  return `<${client}.${request}>`.repeat(Math.ceil(size / 5)).slice(0, size);
}

function digestOf(unit: string, length: number): string {
  const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
  return createHash('sha256').update(text, 'latin1').digest('hex');
}

function requestOf(client: number, request: number, body: string, chunked: boolean): string {
  const head = `POST /${client}/${request} HTTP/1.1\r\nHost: a\r\nX-Who: ${client}.${request}\r\n`;
  if (!chunked) return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  const half = body.length >> 1;
  const chunks = [body.slice(0, half), body.slice(half)].filter((text) => text.length > 0);
  const framed = chunks.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`);
  return `${head}Transfer-Encoding: chunked\r\n\r\n${framed.join('')}0\r\n\r\n`;
}

/** Sends one request in pieces, each in a turn of its own. */
async function sendInPieces(
  client: RawClient,
  text: string,
  random: (below: number) => number,
): Promise<void> {
  for (let at = 0; at < text.length;) {
    const size = 1 + random(random(3) === 0 ? 60 : 90_000);
    client.send(text.slice(at, at + size));
    at += size;
    if (random(2) === 0) await new Promise(setImmediate);
  }
}

/** Resolves with how many answers were right. */
async function mix(seed: number, inspector: ScriptedInspector | null): Promise<number> {
  const random = randomOf(seed);
  const origin = await httpOrigin(closing, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      response.setHeader('X-Echo', `${request.url} ${String(request.headers['x-who'])}`);
      response.setHeader('Content-Length', body.length);
      response.end(body);
    });
  });
  const waf = { enabled: inspector !== null, mode: 'blocking', failPolicy: 'closed' } as const;
  const front = await startFront(closing, [siteFor(origin, { waf })], inspector);
  let right = 0;
  const one = async (client: number): Promise<void> => {
    const raw = new RawClient(front.port);
    closing.add(() => void raw.socket.destroy());
    for (let request = 0; request < requestsPerClient; request++) {
      const body = bodyOf(client, request, sizes[random(sizes.length)]!);
      raw.text = '';
      await sendInPieces(raw, requestOf(client, request, body, random(2) === 0), random);
      const text = await raw.until(({ text: got, ended }) => {
        const head = got.indexOf('\r\n\r\n');
        return ended || (head > 0 && got.length >= head + 4 + body.length);
      });
      const [head, content] = [text.slice(0, text.indexOf('\r\n\r\n')), text.slice(-body.length)];
      expect(head).toContain(`X-Echo: /${client}/${request} ${client}.${request}`);
      expect(text.length).toBe(head.length + 4 + body.length);
      expect(body.length === 0 || content === body).toBe(true);
      right++;
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => one(client)));
  return right;
}

describe('clients at the same time get and send their own bytes', () => {
  test('without inspection, seed 7', async () => {
    expect(await mix(7, null)).toBe(clients * requestsPerClient);
  });

  test('when an origin takes what it is sent slowly', async () => {
    const length = 12_000_000;
    const origin = await httpOrigin(closing, (request, response) => {
      const unit = `<${String(request.headers['x-who'])}>`;
      const hash = createHash('sha256');
      request.on('data', (part: Buffer) => hash.update(part));
      request.on('end', () => response.end(`${hash.digest('hex') === digestOf(unit, length)}`));
      request.pause();
      setTimeout(() => request.resume(), 30);
    });
    const front = await startFront(closing, [siteFor(origin)]);
    const answers = Array.from({ length: 4 }, (_, client) => {
      const raw = new RawClient(front.port);
      const text = bodyOf(client, 0, length);
      raw.send(
        requestOf(client, 0, text, false).replace('Host: a', 'Host: a\r\nConnection: close'),
      );
      return raw.all();
    });
    for (const text of await Promise.all(answers)) expect(text.slice(-4)).toBe('true');
  });

  test.each([
    ['later', 11],
    ['at once', 13],
  ])('with bodies held for inspection that answers %s, seed %i', async (when, seed) => {
    const seen: string[] = [];
    let changed = 0;
    const inspector = new ScriptedInspector({
      later: when === 'later',
      bodyNeed: { inspect: true, limitBytes: 100_000, onExcess: 'prefix' },
      body: (body) => {
        if (body !== null) seen.push(Buffer.from(body.bytes).toString('latin1'));
        return passVerdict;
      },
      // What rules of the last phase read is what those before it read.
      end: (body) => {
        if (body === null) return;
        if (!isOneClients(Buffer.from(body.bytes).toString('latin1'))) changed++;
      },
    });
    expect(await mix(seed, inspector)).toBe(clients * requestsPerClient);
    expect(seen.length).toBeGreaterThan(clients);
    expect(seen.filter((text) => !isOneClients(text))).toEqual([]);
    expect(changed).toBe(0);
  });
});

/** True when a body is the work of one client's one request. */
function isOneClients(text: string): boolean {
  const unit = /^<\d+\.\d+>/.exec(text)?.[0] ?? text;
  return text === unit.repeat(Math.ceil(text.length / unit.length)).slice(0, text.length);
}
