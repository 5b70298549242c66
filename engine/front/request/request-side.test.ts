/** How a held body goes to an origin: in order, as fast as it is taken, in shares of a turn. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { turnLimits } from '../../../base/delivery-limits.ts';
import { ByteWriter } from '../../http/byte-writer.ts';
import { RequestHeadParser } from '../../http/request-head.ts';
import type { OriginLink } from '../../upstream/origin-sink.ts';
import type { Holder } from '../wire/held-budget.ts';
import { RequestSide, TAKEN } from './request-side.ts';
import type { RequestState } from './request-state.ts';

const facts = {
  ...{
    forwardedLines: '',
    defaultHost: 'a',
    requestId: 'id',
    fields: null,
    skip: 0,
    rewrittenTarget: null,
  },
  ...{
    inspected: true,
    upgrade: false,
    withoutExtensions: false,
    traceLines: null,
    vouchedLines: '',
  },
};

/** An origin that takes `takes` bytes of a body before it asks to wait. */
class Origin {
  body = Buffer.alloc(0);
  ended = false;
  takes: number;
  /** How many bytes it takes until it asks to wait again. */
  private room: number;

  constructor(takes: number) {
    this.takes = takes;
    this.room = takes;
  }

  writeHead(): boolean {
    return true;
  }

  writeCopy(bytes: Uint8Array): boolean {
    if (this.ended || this.room <= 0) throw new Error('it asked to wait, or had the whole');
    this.body = Buffer.concat([this.body, bytes]);
    this.room -= bytes.length;
    return this.room > 0;
  }

  drain(side: RequestSide): void {
    this.room = this.takes;
    side.drained();
  }

  endRequest(): void {
    this.ended = true;
  }
}

const bodyOf = (length: number): Buffer => Buffer.from(Uint8Array.from({ length }, (_, at) => at));

/** A request that holds all of a body, which came in `pieceBytes` at a time. */
function holding(body: Buffer, pieceBytes: number): RequestSide {
  const head = Buffer.from(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`);
  const parser = new RequestHeadParser();
  parser.reset(0);
  parser.execute(head, head.length);
  const front = { writer: new ByteWriter(), settings: { requestBodyBytesMax: 100_000_000 } };
  const client = { bodyWanted: () => undefined };
  const holder = { bytes: 0, hold: () => true } as unknown as Holder;
  const request = { front, client, head: parser, bytes: head, holder: () => holder };
  const side = new RequestSide({ ...request, captured: null } as unknown as RequestState);
  side.hold(Infinity);
  for (let at = 0; at < body.length; at += pieceBytes) {
    const piece = Buffer.from(body.subarray(at, at + pieceBytes));
    side.read(piece, 0, piece.length);
    const last = at + pieceBytes >= body.length;
    expect(side.accept(piece, 0)).toBe(last ? TAKEN.ENOUGH : TAKEN.WAIT);
  }
  return side;
}

function open(side: RequestSide, origin: Origin): void {
  side.open(origin as unknown as OriginLink, facts as never);
}

test.each([10_000, 70_000, 1_000_000])('a body of %i bytes arrives as it was', async (length) => {
  const body = bodyOf(length);
  const side = holding(body, 9_000);
  const origin = new Origin(Infinity);
  open(side, origin);
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  expect(origin.body.equals(body)).toBe(true);
  expect(origin.ended).toBe(true);
});

test.each([true, false])('a turn sends no more than its share, joined: %s', async (joined) => {
  const body = bodyOf(2_000_000);
  const side = holding(body, 65_536);
  if (joined) side.takeHeld(Infinity);
  const origin = new Origin(Infinity);
  open(side, origin);
  expect(origin.body.length).toBeGreaterThanOrEqual(turnLimits.aloneReadBytesMax);
  expect(origin.body.length).toBeLessThan(2 * turnLimits.aloneReadBytesMax);
  expect(origin.ended).toBe(false);
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(origin.body.equals(body)).toBe(true);
  expect(origin.ended).toBe(true);
});

test('an origin that asks to wait gets nothing until it takes more', async () => {
  const body = bodyOf(1_000_000);
  const side = holding(body, 65_536);
  const origin = new Origin(100_000);
  open(side, origin);
  for (let waits = 0; !origin.ended; waits++) {
    expect(waits).toBeLessThan(20);
    const { length } = origin.body;
    await nextTurn();
    expect(origin.body.length).toBe(length);
    origin.drain(side);
  }
  expect(origin.body.equals(body)).toBe(true);
});

test.each(['stopSending', 'drop'] as const)('nothing is sent after %s', async (end) => {
  const side = holding(bodyOf(1_000_000), 65_536);
  const origin = new Origin(Infinity);
  open(side, origin);
  const { length } = origin.body;
  side[end]();
  origin.drain(side);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(origin.body.length).toBe(length);
  expect(origin.ended).toBe(false);
});
