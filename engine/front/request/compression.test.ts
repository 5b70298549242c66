/** Tests of compressed answers on the wire: whole, in time, bounded, ended with their request. */

import type http from 'node:http';
import zlib from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { compressionLimits } from '../../../base/delivery-limits.ts';
import type { ListenerKind } from '../../../base/listener.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { noDelivery } from '../../contract/delivery.ts';
import type { SiteConfig } from '../../contract/site.ts';
import { passVerdict } from '../../contract/verdict.ts';
import { blockWith, Closing, httpOrigin, RawClient } from '../fixtures/fixture.ts';
import { ScriptedInspector, siteFor, startFront } from '../fixtures/fixture.ts';
import { coderFree } from './answer-coder.ts';

const closing = new Closing();
afterEach(async () => {
  await closing.run();
  if (!coderFree()) throw new Error('Coders of ended requests count as running.');
});

const compression = [{ pathPrefix: '', types: ['text/*'], minBytes: 100, off: false }];
const delivery = { ...noDelivery, compression };
const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
const ask = (coding: string, more = 'Connection: close\r\n'): string =>
  `GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${coding}\r\n${more}\r\n`;
const text = { 'content-type': 'text/plain' };

/** Some of the text compresses, some does not. */
function content(bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, i) => (i % 512 < 384 ? 0x61 : (i * 7919) % 251));
}

/** Bytes of a body in chunks, as far as they came. */
function unchunked(answer: string): Buffer {
  const parts: Buffer[] = [];
  let at = answer.indexOf('\r\n\r\n') + 4;
  for (;;) {
    const lineEnd = answer.indexOf('\r\n', at);
    const length = lineEnd < 0 ? 0 : Number.parseInt(answer.slice(at, lineEnd), 16);
    if (!(length > 0)) return Buffer.concat(parts);
    parts.push(Buffer.from(answer.slice(lineEnd + 2, lineEnd + 2 + length), 'latin1'));
    at = lineEnd + 2 + length + 2;
  }
}

const decoders = { br: zlib.brotliDecompressSync, gzip: zlib.gunzipSync };

interface Row {
  readonly coding: 'br' | 'gzip';
  readonly bytes: number;
  readonly framing: 'length' | 'chunked';
  readonly inspects: boolean;
  readonly listener: ListenerKind;
}

const rows: Row[] = [];
for (const coding of ['br', 'gzip'] as const) {
  for (const bytes of [100, 40_000, 3_000_000]) {
    for (const framing of ['length', 'chunked'] as const) {
      for (const inspects of [false, true]) {
        for (const listener of ['strict', 'uws'] as const) {
          rows.push({ coding, bytes, framing, inspects, listener });
        }
      }
    }
  }
}

test.each(rows)(
  'content arrives whole: $coding, $bytes bytes by $framing, inspected $inspects, $listener',
  async ({ coding, bytes, framing, inspects, listener }) => {
    const sent = content(bytes);
    const origin = await httpOrigin(closing, (_, response) => {
      response.writeHead(200, {
        ...text,
        ...(framing === 'length' && { 'content-length': bytes }),
      });
      response.end(sent);
    });
    const seen: Buffer[] = [];
    const inspector = new ScriptedInspector({
      later: true,
      responseNeed: { inspect: true, limitBytes: 65_536, onExcess: 'prefix' },
      responseBody: (body) => {
        seen.push(Buffer.from(body?.bytes ?? []));
        return passVerdict;
      },
    });
    const site = inspects ? siteFor(origin, { delivery, waf }) : siteFor(origin, { delivery });
    const front = await startFront(closing, [site], inspects ? inspector : null, {}, listener);
    const answer = await new RawClient(front.port).send(ask(coding)).all();
    expect(answer).toContain(`Content-Encoding: ${coding}\r\n`);
    const coded = unchunked(answer);
    expect(decoders[coding](coded).equals(sent)).toBe(true);
    expect(answer.endsWith('0\r\n\r\n')).toBe(true);
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ outcome: 'served', bytesOut: coded.length });
    // What is inspected is what the origin sent.
    if (inspects) expect(seen[0]?.equals(sent.subarray(0, seen[0].length))).toBe(true);
    expect(seen.length).toBe(inspects ? 1 : 0);
  },
);

test.each(['strict', 'uws'] as const)(
  'visitors who ask at one time get their own heads and contents, by the listener %s',
  async (listener) => {
    // Each whole answer comes in one piece: nothing of it may wait for the coder among others.
    const origin = await httpOrigin(closing, ({ url = '' }, response) => {
      const own = url.repeat(100);
      response.writeHead(200, { ...text, 'content-length': own.length, 'x-target': url });
      response.end(own);
    });
    const front = await startFront(closing, [siteFor(origin, { delivery })], null, {}, listener);
    const visit = async (target: string, coding: string): Promise<void> => {
      const request = ask(coding).replace('GET / ', `GET ${target} `);
      const answer = await new RawClient(front.port).send(request).all();
      const [head = '', plain = ''] = answer.split('\r\n\r\n', 2);
      expect(head).toMatch(/^HTTP\/1\.1 200 /);
      expect(head.match(/^x-target: .*$/gim)).toEqual([`x-target: ${target}`]);
      expect(head.includes('Content-Encoding: gzip')).toBe(coding === 'gzip');
      const whole = coding === 'gzip' ? decoders.gzip(unchunked(answer)).toString() : plain;
      expect(whole).toBe(target.repeat(100));
    };
    const visits = Array.from({ length: 24 }, (_, at) =>
      visit(`/visitor-${at}`, at % 3 === 0 ? 'identity' : 'gzip'),
    );
    await Promise.all(visits);
  },
);

test('a connection serves another request after a compressed answer', async () => {
  const origin = await httpOrigin(closing, (_, response) => {
    response.writeHead(200, text).end(content(5_000));
  });
  const front = await startFront(closing, [siteFor(origin, { delivery })]);
  const client = new RawClient(front.port).send(ask('gzip', '') + ask('br', ''));
  await client.has('0\r\n\r\n', 2);
  expect(client.text.match(/Content-Encoding: (gzip|br)/g)).toEqual([
    'Content-Encoding: gzip',
    'Content-Encoding: br',
  ]);
  client.socket.destroy();
});

test.each(['br', 'gzip'] as const)(
  'an event is with the client before the next: %s',
  async (coding) => {
    let response: http.ServerResponse | null = null;
    const origin = await httpOrigin(closing, (_, answer) => {
      response = answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.write('data: first\n\n');
    });
    const front = await startFront(closing, [siteFor(origin, { delivery })]);
    const client = new RawClient(front.port).send(ask(coding));
    let seen = '';
    const options = {
      finishFlush:
        coding === 'br' ? zlib.constants.BROTLI_OPERATION_FLUSH : zlib.constants.Z_SYNC_FLUSH,
    };
    const reads = (wanted: string): Promise<string> =>
      client.until(({ text: got }) => {
        const bytes = unchunked(got);
        seen = bytes.length === 0 ? '' : decoders[coding](bytes, options).toString();
        return seen.includes(wanted);
      });
    await reads('first');
    expect(seen).not.toContain('second');
    response!.write('data: second\n\n');
    await reads('second');
    response!.end();
    await client.all();
  },
);

/** An origin that sends without an end, as fast as it may; what it sent. */
async function endless(): Promise<{
  readonly port: number;
  readonly state: { sent: number; open: boolean };
}> {
  const state = { sent: 0, open: true };
  const piece = Uint8Array.from({ length: 65_536 }, () => Math.floor(Math.random() * 256));
  const port = await httpOrigin(closing, (_, response) => {
    response.writeHead(200, text);
    response.on('close', () => (state.open = false));
    const more = (): void => {
      while (state.open && response.write(piece)) state.sent += piece.length;
      state.sent += piece.length;
      response.once('drain', more);
    };
    more();
  });
  return { port, state };
}

test('a client that takes nothing makes the origin wait, and its end ends the coder', async () => {
  const { port, state } = await endless();
  const front = await startFront(closing, [siteFor(port, { delivery })]);
  const client = new RawClient(front.port);
  client.socket.pause();
  client.send(ask('gzip'));
  await eventually(() => state.sent > 0);
  let before = -1;
  await eventually(() => {
    const still = state.sent === before;
    before = state.sent;
    return still;
  });
  client.socket.destroy();
  const [event] = await front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'client_abort' });
  await eventually(() => !state.open);
});

test('an origin that breaks off cuts the compressed answer', async () => {
  const origin = await httpOrigin(closing, (_, response) => {
    response.writeHead(200, { ...text, 'content-length': 500_000 });
    response.write(content(200_000), () => response.destroy());
  });
  const front = await startFront(closing, [siteFor(origin, { delivery })]);
  const answer = await new RawClient(front.port).send(ask('gzip')).all();
  expect(answer.endsWith('0\r\n\r\n')).toBe(false);
  const [event] = await front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'origin_error', refusal: 'origin_closed' });
});

test('an answer that is refused after inspection is replaced by the page, without coding', async () => {
  const origin = await httpOrigin(closing, (_, response) => {
    response.writeHead(200, text).end(content(5_000));
  });
  const inspector = new ScriptedInspector({
    responseNeed: { inspect: true, limitBytes: 65_536, onExcess: 'prefix' },
    responseBody: () => blockWith(403, 4),
  });
  const site: SiteConfig = siteFor(origin, { delivery, waf });
  const front = await startFront(closing, [site], inspector);
  const answer = await new RawClient(front.port).send(ask('gzip')).all();
  expect(answer).toMatch(/^HTTP\/1.1 403 /);
  expect(answer).not.toContain('Content-Encoding');
});

test('answers past the bound are sent as they are', async () => {
  const waiting: http.ServerResponse[] = [];
  const origin = await httpOrigin(closing, (_, response) => {
    waiting.push(response.writeHead(200, text));
    response.write('begin');
  });
  const front = await startFront(closing, [siteFor(origin, { delivery })]);
  const clients = Array.from({ length: compressionLimits.runningMax }, () =>
    new RawClient(front.port).send(ask('gzip')),
  );
  await Promise.all(clients.map((client) => client.has('\r\n\r\n')));
  const last = new RawClient(front.port).send(ask('gzip'));
  await last.has('begin');
  expect(last.text).toContain('Vary: Accept-Encoding\r\n');
  expect(last.text).not.toContain('Content-Encoding');
  for (const response of waiting) response.end();
  await Promise.all([...clients, last].map((client) => client.all()));
});
