/**
 * Sends mutated requests in random pieces to a front whose inspector blocks, fails and dawdles at
 * random, while generations are swapped. Whatever comes: every session is closed once, every
 * generation is released, no connection is left, and the origin never sees malformed HTTP.
 */

import http from 'node:http';
import type net from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { passVerdict } from '../../engine/contract/verdict.ts';
import {
  blockWith,
  Closing,
  listen,
  RawClient,
  ScriptedInspector,
  siteFor,
  startFront,
} from '../../engine/front/fixtures/fixture.ts';

const connections = 300;
const closing = new Closing();
afterEach(() => closing.run());

const wires = [
  'GET /a HTTP/1.1\r\nHost: a\r\n\r\n',
  'POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789',
  'POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;x=y\r\n!\r\n0\r\n\r\n',
  'POST /d HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc',
  'GET http://a/e?f HTTP/1.1\r\nHost: a\r\nConnection: close, x\r\nX: 1\r\n\r\n',
  'HEAD /g HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
];
const inserts = ['\r\n', '\n', ' ', '\0', '0\r\n\r\n', '\r', 'Content-Length: 1\r\n', ':'];

type Random = (below: number) => number;

function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
}

function mutate(wire: string, random: Random): string {
  let text = wire;
  for (let i = random(4) === 0 ? random(3) + 1 : 0; i > 0; i--) {
    const at = random(text.length);
    const [before, after] = [text.slice(0, at), text.slice(at + random(4))];
    text = before + (random(2) === 0 ? inserts[random(inserts.length)]! : '') + after;
  }
  return text;
}

async function oneConnection(port: number, random: Random): Promise<void> {
  const client = new RawClient(port);
  const count = random(4) + 1;
  const parts = Array.from({ length: count }, () => mutate(wires[random(wires.length)]!, random));
  const all = parts.join('');
  for (let at = 0; at < all.length;) {
    const length = random(2) === 0 ? all.length : random(50) + 1;
    client.send(all.slice(at, at + length));
    at += length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (random(4) === 0) client.socket.destroy();
  else client.socket.end();
  await client.all();
}

/** Answers in several ways, closes at times, and counts what is not HTTP. */
async function restlessOrigin(random: Random): Promise<{ port: number; malformed: string[] }> {
  const malformed: string[] = [];
  const server = http.createServer((request, response) => {
    request.on('error', () => undefined);
    request.resume();
    request.on('end', () => {
      const kind = random(6);
      if (kind === 0) return void response.destroy();
      if (kind === 1) response.statusCode = 204;
      if (kind === 2) response.write('x'.repeat(3000));
      setImmediate(() => response.end(kind === 1 ? '' : 'y'.repeat(100 * kind)));
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: net.Socket) => {
    // Breaking off is the fuzz's right, before an answer or in its midst, and so are methods that
    // this origin does not know.
    const allowed = ['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE', 'HPE_INVALID_METHOD'];
    if (!allowed.includes(error.code ?? '')) malformed.push(`${error.code}: ${error.message}`);
    socket.destroy();
  });
  closing.add(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: await listen(server), malformed };
}

test('whatever comes, everything ends once', async () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
  console.log(`front fuzz: seed ${seed}, ${connections} connections`);
  const random = seeded(seed);
  const origin = await restlessOrigin(random);
  const verdict = (): typeof passVerdict => {
    if (random(20) === 0) throw new Error('inspection failed');
    return random(15) === 0 ? blockWith(403, 1) : passVerdict;
  };
  const need = { inspect: true, limitBytes: 64, onExcess: 'prefix' } as const;
  const script = { head: verdict, body: verdict, responseHead: verdict, responseBody: verdict };
  const inspectors = [false, true].map(
    (later) => new ScriptedInspector({ ...script, later, bodyNeed: need, responseNeed: need }),
  );
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
  const site = siteFor(origin.port, { waf });
  const front = await startFront(closing, [site], inspectors[0], {
    headTimeoutMs: 200,
    bodyProgressTimeoutMs: 100,
    halfCloseGraceMs: 100,
    lingerTimeoutMs: 50,
    keepAliveTimeoutMs: 100,
  });
  let [swaps, released, begun] = [0, 0, 0];
  const worker = async (): Promise<void> => {
    while (begun++ < connections) {
      await oneConnection(front.port, random);
      if (random(20) !== 0) continue;
      swaps++;
      front.front.swap({
        routes: { revision: `r${swaps}`, sites: [site] },
        inspectorOf: () => inspectors[swaps % 2]!,
        onReleased: () => released++,
      });
    }
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  await front.front.drain();
  expect(front.front.connections).toBe(0);
  expect(origin.malformed).toEqual([]);
  for (const inspector of inspectors) expect(inspector.finished).toBe(inspector.opened);
  const sessions = inspectors.reduce((sum, inspector) => sum + inspector.opened, 0);
  expect(sessions).toBeGreaterThan(connections / 2);
  expect(front.events.length).toBeGreaterThanOrEqual(sessions);
  // The first generation has no listener of its own and the last is still current.
  expect(released).toBe(Math.max(0, swaps - 1));
});
