/** The ring of notes between threads, and what a table writes into it. */

import { expect, test } from 'vitest';
import { rateExchangeLimits } from '../../base/guard-limits.ts';
import { RateJournal, shareJournal } from './rate-journal.ts';
import { RateTable, shareRates } from './rate-table.ts';

const nowMs = 1_900_000_000_123;

test('notes of several threads come out once, in their order', () => {
  const memory = shareJournal();
  const [one, two, reader] = [0, 1, 2].map(() => new RateJournal(memory));
  one!.counted(1, -1, 60, nowMs - 5_000);
  two!.held(2, 7, nowMs + 1_000);
  one!.counted(3, 0, 3_600, nowMs);
  expect(reader!.take(2, nowMs)).toEqual({
    notes: [
      { kind: 'count', key: { low: 1, high: -1 }, windowSeconds: 60, atMs: nowMs - 5_000 },
      { kind: 'hold', key: { low: 2, high: 7 }, untilS: Math.ceil((nowMs + 1_000) / 1000) },
    ],
    lost: 0,
  });
  expect(reader!.take(9, nowMs).notes).toHaveLength(1);
  expect(reader!.take(9, nowMs)).toEqual({ notes: [], lost: 0 });
});

test('a full journal loses notes, counts them, and takes notes again', () => {
  const journal = new RateJournal(shareJournal());
  const { journalNotes } = rateExchangeLimits;
  for (let round = 0; round < 3; round++) {
    for (let at = 0; at < journalNotes + 5; at++) journal.counted(at, round, 1, nowMs);
    const { notes, lost } = journal.take(2 * journalNotes, nowMs);
    expect([notes.length, lost]).toEqual([journalNotes, 5]);
    expect(notes.at(-1)).toMatchObject({ key: { low: journalNotes - 1, high: round } });
  }
});

test('a table notes what it counts and holds, and nothing that it refuses or tries', () => {
  const table = new RateTable(shareRates([1, 2], 16, true));
  const budget = { requests: 2, windowSeconds: 60 };
  const key = { low: 5, high: 6 };
  const ask = (dry = false): string => table.ask(key, budget, 30_000, nowMs, dry);
  expect([ask(true), ask(), ask(), ask(), ask()]).toEqual([
    'pass',
    'pass',
    'pass',
    'over',
    'mitigated',
  ]);
  const kinds = table.takeNotes(9, nowMs).notes.map(({ kind }) => kind);
  expect(kinds).toEqual(['count', 'count', 'hold']);
});

test('requests of other nodes count in the span in which they came', () => {
  const table = new RateTable(shareRates([1, 2], 16));
  const budget = { requests: 10, windowSeconds: 90 };
  const key = { low: 5, high: 6 };
  const spanNow = Math.floor(nowMs / 10_000);
  table.addOthers(key, 90, spanNow, 4, nowMs);
  table.addOthers(key, 90, spanNow - 5, 5, nowMs);
  table.addOthers(key, 90, spanNow - 30, 100, nowMs);
  const ask = (afterMs: number): string => table.ask(key, budget, 0, nowMs + afterMs, false);
  expect([ask(0), ask(0)]).toEqual(['pass', 'over']);
  // The five of fifty seconds ago leave the window first.
  const oldLeaves = (spanNow - 4) * 10_000 + 90_000 - nowMs;
  expect([ask(oldLeaves - 1), ask(oldLeaves)]).toEqual(['over', 'pass']);
});

test('a hold of another node is never shorter than one of this node', () => {
  const table = new RateTable(shareRates([1, 2], 16));
  const key = { low: 5, high: 6 };
  table.ban(key, 60_000, nowMs);
  table.holdAsOthers(key, Math.ceil(nowMs / 1000) + 5, nowMs);
  expect(table.isBanned(key, nowMs + 50_000)).toBe(true);
  table.holdAsOthers(key, Math.ceil(nowMs / 1000) + 500, nowMs);
  expect(table.isBanned(key, nowMs + 400_000)).toBe(true);
  expect(table.isBanned(key, nowMs + 600_000)).toBe(false);
});
