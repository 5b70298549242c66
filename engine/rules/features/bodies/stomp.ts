/**
 * Reads messages of STOMP as their frames: what the head of each says, and its body by its content.
 * The line ends of a head and the NUL after a body are the frame's own, not the client's text. What
 * is no frame from beginning to end is none.
 * Source: STOMP Protocol Specification 1.2, Augmented BNF.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { hasArgumentRoom } from './arguments.ts';
import { quietly, readContent } from './unparsed.ts';

const LF = 0x0a;
const CR = 0x0d;

/** Commands of clients, then a head in which no byte controls anything, and an empty line. */
const headPattern = new RegExp(
  '^(?:CONNECT|STOMP|SEND|SUBSCRIBE|UNSUBSCRIBE|ACK|NACK|BEGIN|COMMIT|ABORT|DISCONNECT)\\r?\\n' +
    '(?:[^\\x00-\\x1f\\x7f:]+:[^\\x00-\\x1f\\x7f]*\\r?\\n)*\\r?\\n',
);

/** One frame; offsets are into the slab, that of the NUL is the last. */
interface Frame {
  readonly from: number;
  readonly body: number;
  readonly to: number;
}

/**
 * Reads [start, end) of the slab as frames; false where that is something else. Each becomes an
 * argument in one line, so that nothing hides between a head and a body, the first one in place of
 * `row` where that is given; its body is read once more. Cost: one pass for each.
 */
export function readStomp(tx: Transaction, start: number, end: number, row = -1): boolean {
  if (!mayBeStomp(tx.values.slab, start, end)) return false;
  const frames = framesOf(tx.values.slab, start, end);
  if (frames === null) return false;
  let place = row;
  for (const { from, body, to } of frames) {
    if (!hasArgumentRoom(tx)) return true;
    addLine(tx, { from, body, to: Math.min(to, body + valueLimits.rawOverlapBytes) }, place);
    if (body < to) quietly(tx, () => readContent(tx, '', body, to, false));
    place = -1;
  }
  return true;
}

/** Cheaper than the pattern, for values that are none. */
function mayBeStomp(slab: Buffer, start: number, end: number): boolean {
  const last = slab[end - 1]!;
  const first = slab[start]!;
  return (last === 0 || last === LF) && first >= 0x41 && first <= 0x55;
}

/** Adds a frame with a blank for each line end, or has it take the place of a row. */
function addLine({ values }: Transaction, { from, body, to }: Frame, place: number): void {
  const at = values.appendText(headText(values.slab.latin1Slice(from, body)));
  const bodyStart = values.append(values.slab, body, to);
  const { slab } = values;
  for (let i = bodyStart; i < values.used; i++) {
    if (slab[i] === LF || slab[i] === CR) slab[i] = 0x20;
  }
  if (place >= 0) {
    values.start[place] = at;
    values.end[place] = values.used;
  } else values.add(SOURCE.argPost, at, at, at, values.used);
}

/** Without line ends, and with what its escapes stand for. */
function headText(head: ByteString): ByteString {
  return head
    .replaceAll(/[\r\n]/g, ' ')
    .replaceAll(/\\([cnr\\])/g, (_, letter: string) => headEscapes[letter]!);
}

const headEscapes: Readonly<Record<string, string>> = { c: ':', n: ' ', r: ' ', '\\': '\\' };

function framesOf(slab: Buffer, start: number, end: number): Frame[] | null {
  const { stompFramesMax, stompHeadBytesMax } = valueLimits;
  const frames: Frame[] = [];
  for (let at = start; at < end;) {
    if (frames.length === stompFramesMax) return null;
    const head = headPattern.exec(slab.latin1Slice(at, Math.min(end, at + stompHeadBytesMax)));
    if (head === null) return null;
    const body = at + head[0].length;
    const to = slab.indexOf(0, body);
    if (to < 0 || to >= end) return null;
    frames.push({ from: at, body, to });
    // Line ends between two frames keep a connection alive.
    for (at = to + 1; at < end && (slab[at] === LF || slab[at] === CR); at++);
  }
  return frames;
}
