/**
 * Sends the requests of the HTTP parsing corpus over a socket to a listening front: what the parser
 * takes must reach the origin, one message for one message and with one framing; what it refuses
 * must be answered so and must not reach the origin.
 */

import { existsSync, readFileSync } from 'node:fs';
import type net from 'node:net';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SPAN } from '../../engine/contract/message.ts';
import {
  Closing,
  RawClient,
  rawOrigin,
  siteFor,
  startFront,
} from '../../engine/front/fixtures/fixture.ts';
import { ChunkedDecoder } from '../../engine/http/chunked-decoder.ts';
import { BODY, KIND_MASK, SCAN } from '../../engine/http/head-scanner.ts';
import { RequestHeadParser } from '../../engine/http/request-head.ts';
import { FIELD } from '../../engine/http/tables.ts';
import { corpusRoot } from '../seclang/corpus.ts';
import type { ParsingCase } from './judge.ts';

const closing = new Closing();
afterAll(() => closing.run());

/** One message at the front of some bytes. */
interface Message {
  readonly parser: RequestHeadParser;
  /** `whole`, `part` (more bytes are needed), `refused` with `status`, or `nothing`. */
  readonly state: 'whole' | 'part' | 'refused' | 'nothing';
  readonly status: number;
  readonly end: number;
}

function readMessage(bytes: Buffer, at: number): Message {
  const parser = new RequestHeadParser();
  parser.mayUpgrade = true;
  parser.reset(at);
  const found = (state: Message['state'], status = 0, end = at): Message => {
    return { parser, state, status, end };
  };
  const result = parser.execute(bytes, bytes.length);
  if (result === SCAN.MORE) {
    return found(/^[\r\n]*$/.test(bytes.toString('latin1', at)) ? 'nothing' : 'part');
  }
  if (parser.refusal !== null) return found('refused', parser.refusal.status);
  if (parser.framing === BODY.CHUNKED) {
    const decoder = new ChunkedDecoder();
    decoder.reset();
    const decoded = decoder.decode(Buffer.from(bytes), parser.headEnd, bytes.length);
    if (decoded === SCAN.REFUSED) return found('refused', decoder.refusal?.status ?? 400);
    return decoded === SCAN.MORE ? found('part') : found('whole', 0, decoder.consumed);
  }
  const end = parser.headEnd + Math.max(0, parser.contentLength);
  return end > bytes.length ? found('part') : found('whole', 0, end);
}

/**
 * The bytes, and where they lack nothing but Host the bytes with one: parser suites leave it out,
 * and a refusal for that would hide how the rest is read.
 */
function variantsOf(wire: Buffer): Buffer[] {
  const { parser } = readMessage(wire, 0);
  if (parser.refusal?.reason !== 'host_missing') return [wire];
  const at = parser.spans[SPAN.lineEnd]! + 2;
  const host = Buffer.from('Host: corpus.example\r\n');
  return [wire, Buffer.concat([wire.subarray(0, at), host, wire.subarray(at)])];
}

/** What the front must make of some bytes. */
interface Expected {
  readonly forwarded: number;
  /** Status of the refusal that ends it; null when none does, 0 for a close without an answer. */
  readonly refused: number | null;
  readonly ends: 'open' | 'closed' | 'part';
}

function expectedOf(wire: Buffer): Expected {
  let forwarded = 0;
  for (let at = 0; at < wire.length; forwarded++) {
    const { parser, state, status, end } = readMessage(wire, at);
    if (state === 'nothing') break;
    if (state === 'refused') return { forwarded, refused: status, ends: 'closed' };
    if (state === 'part') return { forwarded, refused: null, ends: 'part' };
    if (!parser.keepAlive) return { forwarded: forwarded + 1, refused: null, ends: 'closed' };
    at = end;
  }
  return { forwarded, refused: null, ends: 'open' };
}

/** What the origin got: whole messages, and those whose framing two parties could read apart. */
interface Received {
  whole: number;
  readonly odd: string[];
}

function serveOrigin(socket: net.Socket, received: Received): void {
  let pending: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const { parser, state, end } = readMessage(pending, 0);
      if (state === 'refused') received.odd.push(pending.toString('latin1'));
      if (state !== 'whole') return;
      const framings = parser.kinds.subarray(0, parser.fieldCount).filter((marked) => {
        const kind = marked & KIND_MASK;
        return kind === FIELD.CONTENT_LENGTH || kind === FIELD.TRANSFER_ENCODING;
      });
      if (framings.length > 1) received.odd.push(pending.toString('latin1', 0, end));
      received.whole++;
      pending = pending.subarray(end);
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    }
  });
}

function finalStatuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)]
    .map((found) => Number(found[1]))
    .filter((s) => s >= 200);
}

async function sendWire(port: number, wire: Buffer, expected: Expected): Promise<number[]> {
  const client = new RawClient(port);
  client.send(wire);
  if (expected.ends !== 'closed') {
    await client.until(({ text, ended }) => {
      return ended || finalStatuses(text).length >= expected.forwarded;
    });
    client.socket.end();
  }
  return finalStatuses(await client.all());
}

const file = path.join(corpusRoot, 'corpus', 'http-parsing.jsonl');
const missing = !existsSync(file);
if (missing) console.log('skipped: no corpus (http-parsing.jsonl), 1 suite');

test.skipIf(missing)('requests of the parsing corpus through a listening front', async () => {
  const lines = readFileSync(file, 'utf8').split('\n');
  const all = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ParsingCase);
  const cases = all.filter(({ direction }) => direction === 'request');
  const received: Received = { whole: 0, odd: [] };
  const origin = await rawOrigin(closing, (socket) => serveOrigin(socket, received));
  const { port } = await startFront(closing, [siteFor(origin)]);
  const failures: string[] = [];
  const tally = { forwarded: 0, refused: 0, part: 0 };
  const wires = cases.flatMap(({ title, wire_b64 }) =>
    variantsOf(Buffer.from(wire_b64, 'base64')).map((wire) => ({ title, wire })),
  );
  for (const { title, wire } of wires) {
    const expected = expectedOf(wire);
    const { forwarded, refused, ends } = expected;
    received.whole = 0;
    const statuses = await sendWire(port, wire, expected);
    const wanted = Array.from({ length: forwarded }, () => 200);
    if (refused !== null && refused !== 0) wanted.push(refused);
    if (statuses.join() !== wanted.join()) {
      failures.push(`${title}: ${statuses.join()}, not ${wanted.join()}`);
    }
    if (received.whole !== forwarded) {
      failures.push(`${title}: the origin got ${received.whole} messages, not ${forwarded}`);
    }
    tally.forwarded += forwarded;
    if (refused !== null) tally.refused++;
    if (ends === 'part') tally.part++;
  }
  console.log(
    `http-parsing over a socket: ${cases.length} cases in ${wires.length} forms, ` +
      JSON.stringify(tally),
  );
  expect(cases.length).toBeGreaterThan(0);
  expect(failures).toEqual([]);
  expect(received.odd).toEqual([]);
});
