/**
 * Sends random wires through a front with an inspector that writes down what it is shown, and
 * compares that with what a careful origin reads: the same method, path, fields and content, but
 * for the fields that end at this hop and those that we set.
 */

import net from 'node:net';
import { afterAll, expect, test } from 'vitest';
import type { InspectionSession, Inspector } from '../../engine/contract/inspection.ts';
import { SPAN, type BodySnapshot, type RequestSnapshot } from '../../engine/contract/message.ts';
import { passVerdict, type BodyNeed } from '../../engine/contract/verdict.ts';
import { Closing, rawOrigin, siteFor, startFront } from '../../engine/front/fixtures/fixture.ts';
import { ChunkedDecoder } from '../../engine/http/chunked-decoder.ts';
import { BODY, SCAN } from '../../engine/http/head-scanner.ts';
import { RequestHeadParser } from '../../engine/http/request-head.ts';
import { randomWire, seeded } from './wire-grammar.ts';
import { draws } from '../support/soak.ts';

const wires = draws(1_000, 50_000, 'FUZZ_RUNS');
const closing = new Closing();
afterAll(() => closing.run());

/** One request, as byte strings. */
interface Seen {
  readonly method: string;
  readonly target: string;
  /** `name: value` each, in order. */
  readonly fields: readonly string[];
  body: string;
}

function headOf(bytes: Uint8Array, spans: Int32Array, fieldCount: number): Seen {
  const text = (at: number): string =>
    Buffer.from(bytes).toString('latin1', spans[at], spans[at + 1]);
  const fields = Array.from({ length: fieldCount }, (_, i) => {
    const at = SPAN.fields + 4 * i;
    return `${text(at)}: ${text(at + 2)}`;
  });
  return { method: text(SPAN.firstStart), target: text(SPAN.secondStart), fields, body: '' };
}

class WritingInspector implements Inspector {
  readonly seen: Seen[] = [];

  open(request: RequestSnapshot): InspectionSession {
    const { bytes, spans } = request.head;
    const seen = headOf(bytes, spans, spans[SPAN.fieldCount]!);
    this.seen.push(seen);
    const whole: BodyNeed = { inspect: true, limitBytes: 1_000_000, onExcess: 'reject' };
    return {
      bodyNeed: whole,
      responseNeed: { inspect: false, limitBytes: 0, onExcess: 'prefix' },
      requestHead: () => passVerdict,
      requestBody: (body: BodySnapshot | null) => {
        if (body !== null) seen.body = Buffer.from(body.bytes).toString('latin1');
        return passVerdict;
      },
      responseHead: () => passVerdict,
      responseBody: () => passVerdict,
      finish: () => ({
        verdict: passVerdict,
        matchedRules: [],
        inboundScore: 0,
        outboundScore: 0,
        detectionOnly: false,
        inspectionUs: 0,
      }),
    };
  }
}

/** Reads one message off the front of `bytes`; null while it is not whole. */
function readOne(bytes: Buffer): { seen: Seen; end: number } | null {
  const parser = new RequestHeadParser();
  parser.reset(0);
  const result = parser.execute(bytes, bytes.length);
  if (result === SCAN.MORE) return null;
  if (parser.refusal !== null) throw new Error(`the origin refuses: ${parser.refusal.reason}`);
  const seen = headOf(bytes, parser.spans, parser.fieldCount);
  let end = parser.headEnd + Math.max(0, parser.contentLength);
  if (parser.framing === BODY.CHUNKED) {
    const decoder = new ChunkedDecoder();
    const copy = Buffer.from(bytes);
    if (decoder.decode(copy, parser.headEnd, copy.length) !== SCAN.DONE) return null;
    seen.body = copy.toString('latin1', parser.headEnd, decoder.dataEnd);
    end = decoder.consumed;
  } else seen.body = bytes.toString('latin1', parser.headEnd, end);
  return end > bytes.length ? null : { seen, end };
}

const framing = 'host|content.length|transfer.encoding|connection|keep-alive|te|trailer|upgrade';
const own = 'expect|x-request-id|x-forwarded-(for|proto|host)';
const ends = new RegExp(`^(${framing}|${own}):`, 'i');

/** What is meant for the origin, Host and our own fields left out. */
function endToEnd({ method, target, fields, body }: Seen): string {
  const path = target.replace(/^https?:\/\/[^/?]*(?=(.?))/i, (_, next) =>
    next === '/' ? '' : '/',
  );
  const dropped = fields
    .filter((field) => /^connection:/i.test(field))
    .flatMap((field) => field.slice(11).toLowerCase().split(','))
    .map((name) => name.trim());
  const kept = fields.filter((field) => {
    return !ends.test(field) && !dropped.includes(field.slice(0, field.indexOf(':')).toLowerCase());
  });
  return JSON.stringify([method, path, kept, body]);
}

function send(port: number, wire: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('connect', () => socket.end(Buffer.from(wire, 'latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume();
  });
}

test('an origin is asked what the rules were shown', async () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
  const random = seeded(seed);
  const asked: Seen[] = [];
  const faults: string[] = [];
  const origin = await rawOrigin(closing, (socket) => {
    let pending: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      try {
        for (let one = readOne(pending); one !== null; one = readOne(pending)) {
          pending = pending.subarray(one.end);
          asked.push(one.seen);
          socket.write('HTTP/1.1 204 No Content\r\n\r\n');
        }
      } catch (thrown) {
        faults.push(`${String(thrown)}: ${pending.toString('latin1')}`);
        socket.destroy();
      }
    });
  });
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
  const inspector = new WritingInspector();
  const front = await startFront(closing, [siteFor(origin, { waf })], inspector);
  const differences: string[] = [];
  let compared = 0;
  for (let i = 0; i < wires; i++) {
    const wire = randomWire(random);
    await send(front.port, wire);
    const shown = inspector.seen.splice(0).map(endToEnd);
    for (const [at, one] of asked.splice(0).entries()) {
      compared++;
      if (endToEnd(one) === shown[at]) continue;
      differences.push(`${JSON.stringify(wire)}\n  shown ${shown[at]}\n  asked ${endToEnd(one)}`);
    }
  }
  console.log(`shown and asked: seed ${seed}, ${wires} wires, ${compared} requests compared`);
  expect(faults).toEqual([]);
  expect(differences).toEqual([]);
  expect(compared).toBeGreaterThan(wires / 10);
});
