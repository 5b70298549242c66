/** Where questions are answered: here while they are short, or no thread is there for them. */

import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { AppError } from '../../../base/errors.ts';
import { ErrorFactBatchSchema } from '../../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { errorKind } from '../error-event.ts';
import { askBriefly } from './ask-briefly.ts';
import type { EventPlaces, PageQuestion } from './event-questions.ts';
import { entriesOf, type TailRow } from './tail.ts';

const facts = Array.from({ length: 4000 }, (_, at) => ({
  atMs: BigInt(1_700_000_000_000 + at),
  level: 'error',
  message: `message ${at}`,
}));
const payload = toBinary(ErrorFactBatchSchema, create(ErrorFactBatchSchema, { facts }));
const head = { agentId: 'a', tenantId: 't', number: 0 };
const entries = entriesOf(head, payload, errorKind.timeField)!;
const row: TailRow = { key: 'row', entries, bytes: payload.length, terms: [] };

/** Reads each round of the tail anew, so that a question may be as long as a test needs. */
function placesOf(rounds: number): EventPlaces {
  const rows = Array.from({ length: rounds }, () => row);
  return { reader: openMemoryKv(), tail: (lane) => (lane === 'error' ? rows : []) };
}

function page(text: string): PageQuestion<'error'> {
  const everything = { tenantId: 't', startMs: 0, endMs: 8e13, anyOf: [], networks: [] };
  const contains = [{ property: 'message', text }];
  const filter = { ...everything, pathPrefix: '', contains };
  return { ask: 'page', kind: 'error', filter, beforeId: '', offset: 0, limit: 5 };
}

/** A thread that answers nothing; says how often it was wanted, and asked. */
function threadThat(ready: () => Promise<void>) {
  const calls = { ready: 0, asked: 0 };
  const thread = {
    ready: () => {
      calls.ready++;
      return ready();
    },
    ask: () => {
      calls.asked++;
      return Promise.resolve({ items: [], hasMore: true }) as never;
    },
  };
  return { calls, thread };
}

test('a short question is answered here, and no thread is started', async () => {
  const { calls, thread } = threadThat(() => Promise.resolve());
  const { items } = await askBriefly(placesOf(1), thread, page(''), undefined);
  expect(items).toHaveLength(5);
  expect(calls).toEqual({ ready: 0, asked: 0 });
});

test('a long question goes to the thread as soon as that is ready', async () => {
  const { calls, thread } = threadThat(() => Promise.resolve());
  const answer = await askBriefly(placesOf(100), thread, page('nowhere'), undefined);
  expect(answer).toEqual({ items: [], hasMore: true });
  expect(calls).toEqual({ ready: 1, asked: 1 });
});

test.each([
  ['has not started yet', () => new Promise<void>(() => undefined)],
  [
    'does not start',
    () => Promise.reject(new AppError('events_unreadable', 'it ended', { source: 'internal' })),
  ],
])('a long question is answered here while the thread %s', async (_, ready) => {
  const { calls, thread } = threadThat(ready);
  const answer = await askBriefly(placesOf(20), thread, page('nowhere'), undefined);
  expect(answer).toEqual({ items: [], hasMore: false });
  expect(calls).toEqual({ ready: 1, asked: 0 });
});

test('whoever is gone gets no answer, and the thread is not asked', async () => {
  const { calls, thread } = threadThat(() => Promise.resolve());
  const gone = new AbortController();
  const asked = askBriefly(placesOf(100), thread, page('nowhere'), gone.signal);
  gone.abort(new Error('gone'));
  await expect(asked).rejects.toThrow('gone');
  expect(calls.asked).toBe(0);
});
