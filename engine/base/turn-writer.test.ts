/** Tests of turn writers: what waits, in which order it leaves, and what a full turn does. */

import { expect, test } from 'vitest';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { turnLimits } from '../../base/delivery-limits.ts';
import { firstOfTurn, TurnWriter, type TurnSocket } from './turn-writer.ts';

class Recorder implements TurnSocket {
  destroyed = false;
  writableLength = 0;
  readonly writes: string[] = [];

  write(bytes: Uint8Array): boolean {
    this.writes.push(Buffer.from(bytes).toString('latin1'));
    return this.writableLength === 0;
  }
}

function writers(count: number): { sockets: Recorder[]; out: TurnWriter[] } {
  const sockets = Array.from({ length: count }, () => new Recorder());
  return { sockets, out: sockets.map((socket) => new TurnWriter(socket)) };
}

test('the first piece of a turn leaves at once, the others when it ends', async () => {
  const { sockets, out } = writers(3);
  for (const [i, writer] of out.entries())
    expect(writer.write(Buffer.from(`piece ${i}`))).toBe(true);
  expect(sockets.map(({ writes }) => writes.length)).toEqual([1, 0, 0]);
  await turnEnd();
  expect(sockets.map(({ writes }) => writes)).toEqual([['piece 0'], ['piece 1'], ['piece 2']]);
  out[1]!.write(Buffer.from('next turn'));
  expect(sockets[1]!.writes[1]).toBe('next turn');
  await turnEnd();
});

test('pieces of one socket stay in order and leave in one', async () => {
  const { sockets, out } = writers(2);
  out[0]!.write(Buffer.from('other'));
  for (const text of ['a', 'b', 'c']) out[1]!.write(Buffer.from(text));
  expect(sockets[1]!.writes).toEqual([]);
  await turnEnd();
  expect(sockets[1]!.writes).toEqual(['abc']);
});

test('a large piece is sent at once, after what waits', async () => {
  const { sockets, out } = writers(2);
  const large = 'x'.repeat(turnLimits.waitingBytesMax + 1);
  out[0]!.write(Buffer.from('other'));
  out[1]!.write(Buffer.from('small'));
  out[1]!.write(Buffer.from(large));
  expect(sockets[1]!.writes).toEqual(['small', large]);
  await turnEnd();
  expect(sockets[1]!.writes).toHaveLength(2);
});

test('with more to follow even the first piece waits, until it is released', async () => {
  const { sockets, out } = writers(1);
  out[0]!.write(Buffer.from('head'), true);
  expect(sockets[0]!.writes).toEqual([]);
  out[0]!.write(Buffer.from('body'), true);
  out[0]!.release();
  expect(sockets[0]!.writes).toEqual(['headbody']);
  await turnEnd();
  out[0]!.write(Buffer.from('alone'), true);
  await turnEnd();
  expect(sockets[0]!.writes).toEqual(['headbody', 'alone']);
});

test('a socket with unsent bytes is written at once and reports that it is full', async () => {
  const { sockets, out } = writers(2);
  sockets[1]!.writableLength = 5;
  out[0]!.write(Buffer.from('other'));
  expect(out[1]!.write(Buffer.from('after'))).toBe(false);
  expect(sockets[1]!.writes).toEqual(['after']);
  await turnEnd();
});

test('a turn that has many waiting does not let them wait longer', async () => {
  const { sockets, out } = writers(turnLimits.waitingPiecesMax + 2);
  for (const writer of out) writer.write(Buffer.from('x'));
  expect(sockets.filter(({ writes }) => writes.length > 0).length).toBeGreaterThan(30);
  await turnEnd();
  expect(sockets.every(({ writes }) => writes.length === 1)).toBe(true);
});

test('what waits for a socket that is gone is dropped; what is taken is not written', async () => {
  const { sockets, out } = writers(3);
  for (const writer of out) writer.write(Buffer.from('x'));
  sockets[1]!.destroyed = true;
  expect(Buffer.from(out[2]!.take()!).toString()).toBe('x');
  await turnEnd();
  expect(sockets.map(({ writes }) => writes.length)).toEqual([1, 0, 0]);
});

test('what gathers its bytes itself goes first, or is called when the turn ends', async () => {
  const called: string[] = [];
  const member = (name: string) => ({ endTurn: () => void called.push(name) });
  const { sockets, out } = writers(1);
  expect([firstOfTurn(member('a')), firstOfTurn(member('b'))]).toEqual([true, false]);
  out[0]!.write(Buffer.from('piece'));
  expect([called, sockets[0]!.writes]).toEqual([[], []]);
  await turnEnd();
  expect([called, sockets[0]!.writes]).toEqual([['b'], ['piece']]);
  expect(firstOfTurn(member('c'))).toBe(true);
  await turnEnd();
});

test('members that fill a turn are called at once', async () => {
  const called: number[] = [];
  firstOfTurn({ endTurn: () => void called.push(-1) });
  for (let at = 0; at < turnLimits.waitingPiecesMax; at++) {
    firstOfTurn({ endTurn: () => void called.push(at) });
  }
  expect(called).toHaveLength(turnLimits.waitingPiecesMax);
  await turnEnd();
});
