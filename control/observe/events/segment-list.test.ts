/** The list of segments in memory is that of the store, whatever was changed, and by whom. */

import { expect, test } from 'vitest';
import { openMemoryKv } from '../../store/memory-kv.ts';
import type { KvReader } from '../../store/kv.ts';
import { makeEventId } from './event-id.ts';
import { addInfo, forgetLists, oldestSegment, removeInfo, segmentsFrom } from './segment-list.ts';

const infoAt = (atMs: number, count = 1) => {
  const id = makeEventId(atMs, 1);
  return { maxId: id, minId: id, count, bytes: 10, agents: ['a'], tenants: ['t'] };
};

test('what is added, late or not, replaced or removed is seen by every reader', async () => {
  const kv = openMemoryKv();
  let ranges = 0;
  const other: KvReader = {
    get: (key) => kv.get(key),
    peek: (key) => kv.peek(key),
    range: (range) => {
      ranges++;
      return kv.range(range);
    },
  };
  const countsOf = (reader: KvReader, startMs = 0): number[] =>
    [...segmentsFrom(reader, 'security', makeEventId(startMs, 0))].map(({ count }) => count);
  const both = (): number[] => {
    const list = countsOf(kv);
    expect(countsOf(other)).toEqual(list);
    return list;
  };
  const write = kv.write.bind(kv);
  expect(both()).toEqual([]);
  for (const at of [1, 2, 5]) {
    await write((writer) => addInfo(writer, 'security', infoAt(at, at)));
    await write((writer) => addInfo(writer, 'access', infoAt(at, 99)));
  }
  expect(both()).toEqual([5, 2, 1]);
  // Events of a node that was away come late.
  await write((writer) => {
    addInfo(writer, 'security', infoAt(4, 4));
    addInfo(writer, 'security', infoAt(7, 7));
  });
  expect(both()).toEqual([7, 5, 4, 2, 1]);
  expect(countsOf(other, 5)).toEqual([7, 5]);
  const before = ranges;
  expect(both()).toEqual([7, 5, 4, 2, 1]);
  expect(ranges).toBe(before);
  // A segment of the same name, with less in it.
  await write((writer) => {
    removeInfo(writer, 'security', infoAt(5).maxId);
    addInfo(writer, 'security', infoAt(5, 50));
  });
  expect(both()).toEqual([7, 50, 4, 2, 1]);
  await write((writer) => removeInfo(writer, 'security', infoAt(1).maxId));
  expect(both()).toEqual([7, 50, 4, 2]);
  expect(oldestSegment(kv, 'security')?.count).toBe(2);
});

test('a list that was read from a change that failed is read anew', async () => {
  const kv = openMemoryKv();
  const list = (): number[] => [...segmentsFrom(kv, 'error', '')].map(({ count }) => count);
  await kv.write((writer) => addInfo(writer, 'error', infoAt(1, 1)));
  expect(list()).toEqual([1]);
  // As after a commit that failed: the counts are the same, the segments are not.
  const state = kv.get('m\u0000segments\u0000error')!;
  await kv.write((writer) => {
    removeInfo(writer, 'error', infoAt(1).maxId);
    addInfo(writer, 'error', infoAt(2, 2));
    writer.put('m\u0000segments\u0000error', state);
  });
  expect(list()).toEqual([1]);
  forgetLists(kv);
  expect(list()).toEqual([2]);
});
