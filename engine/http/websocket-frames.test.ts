/** Tests of the strict reader of WebSocket frames: a row for every fault; pieces change nothing. */

import { describe, expect, test } from 'vitest';
import { Utf8Reader } from '../base/utf8-reader.ts';
import { frame, type TestFrame } from '../front/fixtures/websocket-frames-fixture.ts';
import { closingFault, FRAME, FRAME_FAULT, FrameReader } from './websocket-frames.ts';

/** What a reader finds in bytes that come in pieces of `size`. */
function read(bytes: Buffer, size = bytes.length, masked = true): string[] {
  const reader = new FrameReader(masked);
  const found: string[] = [];
  let payload = '';
  for (let from = 0; from < bytes.length; from += size) {
    const end = Math.min(bytes.length, from + size);
    let at = from;
    for (;;) {
      const what = reader.next(bytes, at, end);
      at = reader.at;
      if (what === FRAME.MORE) break;
      if (what === FRAME.FAULT) return [...found, reader.fault!.reason];
      if (what === FRAME.HEAD) payload = '';
      if (what === FRAME.PAYLOAD) {
        const part = Buffer.alloc(at - reader.payloadStart);
        reader.unmask(bytes, part, 0);
        payload += part.toString('latin1');
      }
      if (what === FRAME.END) found.push(`${reader.opcode}${reader.final ? '.' : ''}${payload}`);
    }
  }
  return found;
}

const faults: readonly (readonly [says: string, frames: readonly TestFrame[], reason: string])[] = [
  ['a first reserved bit', [{ reserved: 0x40 }], FRAME_FAULT.reserved.reason],
  ['a second reserved bit', [{ reserved: 0x20 }], FRAME_FAULT.reserved.reason],
  ['a third reserved bit', [{ reserved: 0x10 }], FRAME_FAULT.reserved.reason],
  ['an unknown data frame', [{ opcode: 3 }], FRAME_FAULT.opcode.reason],
  ['an unknown control frame', [{ opcode: 11 }], FRAME_FAULT.opcode.reason],
  ['no mask', [{ masked: false }], FRAME_FAULT.mask.reason],
  ['a length in two bytes too many', [{ payload: 'a', lengthBytes: 2 }], FRAME_FAULT.length.reason],
  [
    'a length in six bytes too many',
    [{ length: 65_535, lengthBytes: 8 }],
    FRAME_FAULT.length.reason,
  ],
  ['a length past exact numbers', [{ length: 2 ** 53, lengthBytes: 8 }], FRAME_FAULT.length.reason],
  ['a ping in parts', [{ opcode: 9, final: false }], FRAME_FAULT.control.reason],
  ['a long pong', [{ opcode: 10, payload: 'p'.repeat(126) }], FRAME_FAULT.control.reason],
  ['a continuation of nothing', [{ opcode: 0 }], FRAME_FAULT.continuation.reason],
  ['a text in a text', [{ final: false }, { opcode: 1 }], FRAME_FAULT.continuation.reason],
  ['a binary in a text', [{ final: false }, { opcode: 2 }], FRAME_FAULT.continuation.reason],
  [
    'a continuation after the end',
    [{ final: false }, { opcode: 0 }, { opcode: 0 }],
    FRAME_FAULT.continuation.reason,
  ],
  ['a text after the close', [{ opcode: 8 }, { payload: 'a' }], FRAME_FAULT.afterClose.reason],
  ['a ping after the close', [{ opcode: 8 }, { opcode: 9 }], FRAME_FAULT.afterClose.reason],
];

describe('the reader of frames', () => {
  test.each(faults)('refuses %s', (_, frames, reason) => {
    const bytes = Buffer.concat(frames.map(frame));
    for (const size of [bytes.length, 1, 3]) expect(read(bytes, size).at(-1)).toBe(reason);
  });

  test('refuses masks of an origin', () => {
    expect(read(frame(), 2, false)).toEqual([FRAME_FAULT.mask.reason]);
    expect(read(frame({ masked: false, payload: 'a' }), 2, false)).toEqual(['1.a']);
  });

  test.each([1, 2, 5, 7, 1_000, 100_000])('reads frames in pieces of %i', (size) => {
    const long = 'x'.repeat(70_000);
    const bytes = Buffer.concat([
      frame({ payload: 'one' }),
      frame({ payload: 'tw', final: false }),
      frame({ opcode: 9, payload: 'ping' }),
      frame({ opcode: 0, payload: 'o' }),
      frame({ opcode: 2, payload: 'm'.repeat(126) }),
      frame({ payload: long }),
      frame(),
      frame({ opcode: 8, payload: Buffer.from([3, 232]) }),
    ]);
    expect(read(bytes, size)).toEqual([
      ...['1.one', '1tw', '9.ping', '0.o', `2.${'m'.repeat(126)}`, `1.${long}`, '1.'],
      `8.${Buffer.from([3, 232]).toString('latin1')}`,
    ]);
  });
});

describe('a closing frame', () => {
  const closing = (code: number, text: string | Buffer = ''): Buffer =>
    Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(text as string)]);

  test.each([1000, 1001, 1002, 1003, 1007, 1011, 1012, 1014, 3000, 4999])('may say %i', (code) => {
    expect(closingFault(closing(code, 'ü'))).toBeNull();
  });

  test.each([0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535])('may not: %i', (code) => {
    expect(closingFault(closing(code))).toBe(FRAME_FAULT.closing);
  });

  test('has no code or a whole one, and a reason in UTF-8', () => {
    expect(closingFault(Buffer.alloc(0))).toBeNull();
    expect(closingFault(Buffer.alloc(1))).toBe(FRAME_FAULT.closing);
    expect(closingFault(closing(1000, Buffer.from([0xc3])))).toBe(FRAME_FAULT.text);
    expect(closingFault(closing(1000, Buffer.from([0xff])))).toBe(FRAME_FAULT.text);
  });
});

test('UTF-8 is what a decoder takes, whole or in pieces', () => {
  const decodes = (bytes: Buffer): boolean => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      return true;
    } catch {
      return false;
    }
  };
  const marks = [0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf];
  const leads = [0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff];
  const alphabet = [...marks, ...leads];
  let taken = 0;
  for (const a of alphabet) {
    for (const b of alphabet) {
      for (const c of alphabet) {
        for (const d of [0x41, 0x80, 0xbf, 0xc2]) {
          const bytes = Buffer.from([a, b, c, d]);
          const reader = new Utf8Reader();
          const split = a % 4;
          const read = reader.read(bytes, 0, split) && reader.read(bytes, split, 4) && reader.whole;
          if (read !== decodes(bytes)) throw new Error(bytes.toString('hex'));
          if (read) taken++;
        }
      }
    }
  }
  expect(taken).toBeGreaterThan(50);
});
