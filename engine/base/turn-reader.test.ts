/** Tests of turn readers: whose sockets are read in a turn, and in which order. */

import { expect, test } from 'vitest';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { turnLimits } from '../../base/delivery-limits.ts';
import { TurnReader, type ReadSocket } from './turn-reader.ts';

const { aloneReadBytesMax, bulkReadBytesMin, readersPerTurnMax, sharedReadBytesMax } = turnLimits;

class Socket implements ReadSocket {
  destroyed = false;
  reading = true;
  resumes = 0;

  pause(): void {
    this.reading = false;
  }

  resume(): void {
    this.reading = true;
    this.resumes++;
  }
}

function readers(count: number): { sockets: Socket[]; lined: TurnReader[] } {
  const sockets = Array.from({ length: count }, () => new Socket());
  return { sockets, lined: sockets.map((socket) => new TurnReader(socket)) };
}

const reading = (sockets: readonly Socket[]): number =>
  sockets.filter((socket) => socket.reading).length;

test('a socket that is alone stops at its share of a turn, and is read on in the next', async () => {
  const { sockets, lined } = readers(1);
  for (let taken = 0; taken < aloneReadBytesMax; taken += 65_536) {
    expect(sockets[0]!.reading).toBe(true);
    lined[0]!.took(65_536);
  }
  expect(sockets[0]!.reading).toBe(false);
  await turnEnd();
  expect(sockets[0]!.reading).toBe(true);
});

test('a share counts anew in each turn, and small reads never count', async () => {
  const { sockets, lined } = readers(1);
  for (let round = 0; round < 8; round++) {
    lined[0]!.took(aloneReadBytesMax - 1);
    for (let at = 0; at < 100; at++) lined[0]!.took(bulkReadBytesMin - 1);
    await turnEnd();
  }
  expect(sockets[0]!.resumes).toBe(0);
});

test('of many that stand in line each turn reads a few, in order', async () => {
  const { sockets, lined } = readers(readersPerTurnMax * 3);
  lined[0]!.took(aloneReadBytesMax);
  // Somebody waits: the others have the smaller share.
  for (const reader of lined.slice(1)) reader.took(sharedReadBytesMax);
  expect(reading(sockets)).toBe(0);
  for (let turn = 1; turn <= 3; turn++) {
    await turnEnd();
    expect(reading(sockets)).toBe(readersPerTurnMax * turn);
    expect(reading(sockets.slice(0, readersPerTurnMax * turn))).toBe(readersPerTurnMax * turn);
  }
});

test('who was paused stays paused, and stands in line again to be read', async () => {
  const { sockets, lined } = readers(readersPerTurnMax + 2);
  const [first] = lined;
  first!.took(aloneReadBytesMax);
  first!.pause();
  await turnEnd();
  expect(sockets[0]!.reading).toBe(false);
  for (const reader of lined.slice(1)) reader.took(aloneReadBytesMax);
  first!.resume();
  expect(sockets[0]!.reading).toBe(false);
  await turnEnd();
  expect(sockets[0]!.reading).toBe(false);
  await turnEnd();
  expect(sockets[0]!.reading).toBe(true);
  first!.pause();
  first!.resume();
  expect(sockets[0]!.resumes).toBe(2);
});

test('a socket that is gone is not touched', async () => {
  const { sockets, lined } = readers(1);
  lined[0]!.took(aloneReadBytesMax);
  sockets[0]!.destroyed = true;
  await turnEnd();
  expect(sockets[0]!.resumes).toBe(0);
  lined[0]!.took(aloneReadBytesMax);
  await turnEnd();
  expect(sockets[0]!.resumes).toBe(0);
});
