/** Frames for tests of WebSocket messages, and a reader of whole streams that shares no code. */

/** A frame as a test writes it; what is left out is as most have it. */
export interface TestFrame {
  readonly opcode?: number;
  readonly payload?: string | Buffer;
  readonly final?: boolean;
  readonly masked?: boolean;
  /** Added to the first byte. */
  readonly reserved?: number;
  /** Bytes of the length field: 0, 2 or 8; default the shortest. */
  readonly lengthBytes?: number;
  /** In place of the length of the payload. */
  readonly length?: number;
}

const mask = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);

/** A frame on the wire. */
export function frame({
  opcode = 1,
  payload = '',
  final = true,
  masked = true,
  reserved = 0,
  ...given
}: TestFrame = {}): Buffer {
  const data = Buffer.from(payload as string);
  const length = given.length ?? data.length;
  const lengthBytes = given.lengthBytes ?? (length < 126 ? 0 : length < 65_536 ? 2 : 8);
  const head = Buffer.alloc(2 + lengthBytes);
  head[0] = (final ? 0x80 : 0) | reserved | opcode;
  head[1] = (masked ? 0x80 : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) head.writeUInt16BE(length, 2);
  if (lengthBytes === 8) head.writeBigUInt64BE(BigInt(length), 2);
  if (!masked) return Buffer.concat([head, data]);
  return Buffer.concat([head, mask, data.map((byte, at) => byte ^ mask[at % 4]!)]);
}

/** A frame as it was read. */
export interface ReadFrame {
  readonly opcode: number;
  readonly final: boolean;
  readonly masked: boolean;
  readonly payload: Buffer;
}

/** The whole frames of a stream; an unfinished one at its end is left out. */
export function readFrames(bytes: Buffer): ReadFrame[] {
  const frames: ReadFrame[] = [];
  let rest = bytes;
  while (rest.length >= 2) {
    const masked = rest[1]! >= 128;
    const short = rest[1]! % 128;
    const wide = short === 126 ? 2 : short === 127 ? 8 : 0;
    const start = 2 + wide + (masked ? 4 : 0);
    if (rest.length < start) break;
    const length =
      wide === 0 ? short : wide === 2 ? rest.readUInt16BE(2) : Number(rest.readBigUInt64BE(2));
    if (rest.length < start + length) break;
    const key = masked ? rest.subarray(start - 4, start) : Buffer.alloc(4);
    const payload = Buffer.from(
      rest.subarray(start, start + length).map((byte, at) => byte ^ key[at % 4]!),
    );
    frames.push({ opcode: rest[0]! % 16, final: rest[0]! >= 128, masked, payload });
    rest = rest.subarray(start + length);
  }
  return frames;
}

/** Whole text messages of a stream of frames. */
export function textMessages(frames: readonly ReadFrame[]): string[] {
  const messages: string[] = [];
  let open: Buffer[] = [];
  let text = false;
  for (const { opcode, final, payload } of frames) {
    if (opcode >= 8) continue;
    if (opcode !== 0) {
      open = [];
      text = opcode === 1;
    }
    open.push(payload);
    if (final && text) messages.push(Buffer.concat(open).toString());
  }
  return messages;
}
