/**
 * Tests of the gate that frames of a client pass: a message waits for its inspection, control
 * frames do not; over random streams in random pieces, nothing reaches the origin uninspected.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { websocketLimits } from '../../../base/delivery-limits.ts';
import type { FrameFault } from '../../http/websocket-frames.ts';
import {
  frame,
  readFrames,
  textMessages,
  type TestFrame,
} from '../fixtures/websocket-frames-fixture.ts';
import { WebsocketGate } from './websocket-gate.ts';

const { pieceBytesMax, overlapBytes, heldHeadBytesMax } = websocketLimits;
const refusal: FrameFault = { code: 1008, reason: 'attack' };

interface Passed {
  readonly gate: WebsocketGate;
  /** What was inspected, and whether it was the whole message. */
  readonly inspected: [string, boolean][];
  readonly forwarded: () => Buffer;
  readonly faults: string[];
  held: number;
  resumed: number;
  /** Messages that have their turn; more wait. */
  turns: number;
  /** The same for frames that end no message. */
  frames: number;
}

/** A gate that refuses messages with `attack` in what is inspected of them. */
function open({ later = false, room = Infinity } = {}): Passed {
  const out: Buffer[] = [];
  const inspected: [string, boolean][] = [];
  const faults: string[] = [];
  const gate = new WebsocketGate({
    takesMessage: () => passed.turns-- > 0,
    takesFrame: () => passed.frames-- > 0,
    inspect: (text, whole) => {
      inspected.push([text.toString(), whole]);
      const fault = text.includes('attack') ? refusal : null;
      return later ? new Promise((resolve) => setImmediate(() => resolve(fault))) : fault;
    },
    forward: (bytes) => out.push(bytes),
    hold: (bytes) => {
      if (bytes > room) return false;
      passed.held = bytes;
      return true;
    },
    fail: ({ reason }) => faults.push(reason),
    resumed: () => passed.resumed++,
  });
  const forwarded = (): Buffer => Buffer.concat(out);
  const counts = { held: 0, resumed: 0, turns: Infinity, frames: Infinity };
  const passed: Passed = { gate, inspected, faults, forwarded, ...counts };
  return passed;
}

function give({ gate }: Passed, bytes: Buffer, size = bytes.length): void {
  for (let at = 0; at < bytes.length; at += size) {
    // The bytes change after each call, as those of a read buffer do.
    const piece = Buffer.from(bytes.subarray(at, at + size));
    gate.take(piece, 0, piece.length);
    piece.fill(0xaa);
  }
}

const wire = (...frames: readonly TestFrame[]): Buffer => Buffer.concat(frames.map(frame));

describe('the gate', () => {
  test.each([1, 4, 1_000])('passes a message byte for byte, in pieces of %i', (size) => {
    const passed = open();
    const bytes = wire({ payload: 'hello' }, { payload: 'x'.repeat(300) }, { opcode: 2 });
    give(passed, bytes, size);
    expect(passed.forwarded()).toEqual(bytes);
    expect(passed.inspected).toEqual([
      ['hello', true],
      ['x'.repeat(300), true],
    ]);
    expect(passed.held).toBe(0);
  });

  test.each([
    ['text', Buffer.from('{"q":"attack"}')],
    ['text with bytes that are none', Buffer.from('\xff\x00 attack \xfe', 'latin1')],
  ])('has binary messages inspected: %s', (_, payload) => {
    const passed = open();
    give(passed, wire({ opcode: 2, payload: 'fine' }, { opcode: 2, payload }));
    expect(passed.inspected).toEqual([
      ['fine', true],
      [payload.toString(), true],
    ]);
    expect(passed.faults).toEqual(['attack']);
    expect(passed.forwarded()).toEqual(frame({ opcode: 2, payload: 'fine' }));
  });

  test('takes nothing while a message waits for its turn, and keeps what came with it', () => {
    const passed = open();
    const bytes = wire({ payload: 'one' }, { payload: 'two' }, { payload: 'three' });
    passed.turns = 1;
    give(passed, bytes);
    expect(passed.inspected).toEqual([['one', true]]);
    expect(passed.gate.waiting).toBe(true);
    expect(passed.held).toBeGreaterThan(0);
    passed.gate.proceed();
    expect(passed.inspected.at(-1)).toEqual(['two', true]);
    passed.gate.proceed();
    expect(passed.gate.waiting).toBe(false);
    expect(passed.forwarded()).toEqual(bytes);
    expect(passed.held).toBe(0);
  });

  test('takes nothing while frames that end no message wait for their turn', () => {
    const passed = open();
    const ping = { opcode: 9, payload: 'p' };
    const parts = [
      { payload: 'at', final: false },
      { opcode: 0, payload: 'ta', final: false },
      { opcode: 0, payload: 'ck' },
    ];
    const first = [{ payload: '' }, ping];
    passed.frames = 1;
    give(passed, wire(...first, ...parts));
    expect(passed.forwarded()).toEqual(wire(...first));
    expect(passed.gate.waiting).toBe(true);
    passed.gate.proceed();
    expect(passed.gate.waiting).toBe(true);
    expect(passed.inspected).toEqual([]);
    passed.gate.proceed();
    passed.gate.proceed();
    expect(passed.inspected).toEqual([['attack', true]]);
    expect(passed.faults).toEqual(['attack']);
  });

  test('joins fragments, and lets a ping between them pass before', () => {
    const passed = open();
    give(passed, wire({ payload: 'at', final: false }, { opcode: 9, payload: 'p' }));
    expect(passed.forwarded()).toEqual(frame({ opcode: 9, payload: 'p' }));
    expect(passed.held).toBeGreaterThan(0);
    give(passed, wire({ opcode: 0, payload: 'tack' }));
    expect(passed.inspected).toEqual([['attack', true]]);
    expect(passed.faults).toEqual(['attack']);
    expect(readFrames(passed.forwarded())).toHaveLength(1);
    expect(passed.held).toBe(0);
  });

  test.each([1, 2])(
    'inspects all of a long message, opcode %i, in pieces that overlap',
    (opcode) => {
      const passed = open();
      const late = `${'x'.repeat(pieceBytesMax - 3)}attac`;
      const end = `${'y'.repeat(pieceBytesMax)}z`;
      give(passed, wire({ opcode, payload: `${late}${end}` }, { payload: 'next' }), 10_000);
      const [first, second, third, next] = passed.inspected.map(([text]) => text);
      expect(passed.inspected.map(([, whole]) => whole)).toEqual([false, false, false, true]);
      expect(second!.startsWith(first!.slice(-overlapBytes))).toBe(true);
      expect(third!.startsWith(second!.slice(-overlapBytes))).toBe(true);
      expect(first! + second!.slice(overlapBytes) + third!.slice(overlapBytes)).toBe(late + end);
      expect(next).toBe('next');
      expect(String(readFrames(passed.forwarded())[0]!.payload)).toBe(late + end);
      expect(passed.held).toBe(0);
    },
  );

  test('refuses what comes long after the beginning of a message', () => {
    const passed = open();
    const late = `${'x'.repeat(2 * pieceBytesMax)}attack`;
    give(passed, wire({ payload: late.slice(0, 70_000), final: false }), 4_096);
    give(passed, wire({ opcode: 0, payload: late.slice(70_000) }), 4_096);
    expect(passed.faults).toEqual(['attack']);
    expect(passed.forwarded().toString()).not.toContain('attack');
  });

  test.each([
    [pieceBytesMax - 1, 1],
    [pieceBytesMax, 1],
    [pieceBytesMax + 1, 2],
  ])('%i bytes are inspected in %i pieces', (length, pieces) => {
    const passed = open();
    give(passed, wire({ payload: 'x'.repeat(length) }), 4_096);
    expect(passed.inspected).toHaveLength(pieces);
    expect(passed.inspected[0]![1]).toBe(pieces === 1);
  });

  test('takes nothing while an inspection runs, and then all that came', async () => {
    const passed = open({ later: true });
    give(passed, wire({ payload: 'one' }, { payload: 'two' }, { opcode: 2, payload: 'three' }));
    expect(passed.gate.waiting).toBe(true);
    expect(passed.forwarded()).toHaveLength(0);
    await expect.poll(() => passed.gate.waiting).toBe(false);
    expect(passed.inspected.map(([text]) => text)).toEqual(['one', 'two', 'three']);
    expect(readFrames(passed.forwarded()).map(({ payload }) => String(payload))).toEqual([
      ...['one', 'two', 'three'],
    ]);
    expect(passed.resumed).toBeGreaterThan(0);
  });

  test('a WebSocket that ended while an inspection ran takes nothing', async () => {
    const passed = open({ later: true });
    give(passed, wire({ payload: 'one' }));
    passed.gate.drop();
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(passed.forwarded()).toHaveLength(0);
    expect(passed.resumed).toBe(0);
  });

  test.each([
    [
      'text that is not UTF-8',
      wire({ payload: Buffer.from([0xc0, 0x80]) }),
      'websocket_invalid_text',
    ],
    [
      'text that ends early',
      wire({ payload: Buffer.from([0xe2, 0x82]) }),
      'websocket_invalid_text',
    ],
    [
      'such text late in a message',
      wire({ payload: Buffer.concat([Buffer.alloc(20_000, 'x'), Buffer.from([0xff])]) }),
      'websocket_invalid_text',
    ],
    [
      'a closing frame without sense',
      wire({ opcode: 8, payload: Buffer.from([1]) }),
      'websocket_close_frame',
    ],
    [
      'endless fragments',
      wire({ final: false }, ...Array<TestFrame>(12_000).fill({ opcode: 0, final: false })),
      'websocket_fragments',
    ],
  ])('ends at %s', (_, bytes, reason) => {
    expect(bytes.length < heldHeadBytesMax || reason === 'websocket_fragments').toBe(true);
    const passed = open();
    give(passed, bytes, 4_096);
    expect(passed.faults).toEqual([reason]);
    give(passed, wire({ payload: 'more' }));
    expect(textMessages(readFrames(passed.forwarded()))).toEqual([]);
  });

  test('characters may come in parts, in two fragments', () => {
    const passed = open();
    const [first, second] = [Buffer.from([0xe2, 0x82]), Buffer.from([0xac])];
    give(passed, wire({ payload: first, final: false }, { opcode: 0, payload: second }), 1);
    expect(passed.inspected).toEqual([['€', true]]);
  });

  test('has no room for more than its share', () => {
    const passed = open({ room: 100 });
    give(passed, wire({ payload: 'x'.repeat(200) }), 50);
    expect(passed.faults).toEqual(['memory']);
  });
});

const testFrame: fc.Arbitrary<TestFrame> = fc.record({
  opcode: fc.constantFrom(0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 9, 10, 10, 8, 3),
  payload: fc.oneof(
    { weight: 5, arbitrary: fc.string({ maxLength: 20 }) },
    { weight: 2, arbitrary: fc.constantFrom('attack', 'x'.repeat(130), 'y'.repeat(17_000)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)) },
  ),
  final: fc.constantFrom(true, true, false),
  masked: fc.constantFrom(true, true, true, true, true, true, true, true, true, false),
  reserved: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40),
});

test('random streams: what reaches the origin is well-formed and was inspected', async () => {
  const frames = fc.array(testFrame, { maxLength: 8 });
  const flips = fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 2 });
  let passedOn = 0;
  await fc.assert(
    fc.asyncProperty(
      frames,
      flips,
      fc.integer({ min: 1, max: 9_000 }),
      fc.boolean(),
      async (...of) => {
        const [sent, changes, size, later] = of;
        const bytes = wire(...sent);
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        const passed = open({ later });
        for (let at = 0; at < bytes.length; at += size) {
          while (passed.gate.waiting) await new Promise((resolve) => setImmediate(resolve));
          give(passed, bytes.subarray(at, at + size));
        }
        while (passed.gate.waiting) await new Promise((resolve) => setImmediate(resolve));
        const read = readFrames(passed.forwarded());
        expect(
          read.every(({ masked, opcode }) => masked && [0, 1, 2, 8, 9, 10].includes(opcode)),
        ).toBe(true);
        const texts = textMessages(read).filter((text) => text !== '');
        passedOn += texts.length;
        const seen = passed.inspected.filter(([text]) => !text.includes('attack'));
        const rest = seen.map(([text]) => text);
        expect(texts.every((text) => rest.splice(0, rest.indexOf(text) + 1).includes(text))).toBe(
          true,
        );
        expect(texts.some((text) => text.includes('attack'))).toBe(false);
      },
    ),
    { numRuns: 1_500, verbose: 1 },
  );
  expect(passedOn).toBeGreaterThan(100);
});
