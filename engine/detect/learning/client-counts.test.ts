/** Proves that no network alone fills the places of values: what it makes up is bounded by hour. */
import { expect, test } from 'vitest';
import { learningSketchLimits } from '../../base/learning-limits.ts';
import { ClientCounts, type CountedRequest } from './client-counts.ts';

const { newValuesPerNetwork } = learningSketchLimits;
const hourMs = 3_600_000;
const site = { detectionLearning: {} } as Parameters<ClientCounts['count']>[1];

/** A request of a client, in an hour, that shows a sign of SQL in a parameter. */
const shows = (clientIp: string, name: string, hour: number): CountedRequest =>
  ({
    ...{ requestId: 'r', siteId: 's', receivedAtMs: hour * hourMs, clientIp, method: 'POST' },
    ...{ target: '/save', outcome: 'served', status: 200 },
    transaction: { valueSigns: [{ name: `ARGS:${name}`, family: 'sql' }] },
  }) as unknown as CountedRequest;

function namesOf(counts: ClientCounts, hour: number): string[] {
  return counts.drain(hour * hourMs).map(({ place }) => place.name);
}

test('a network is the first to show some values an hour, and counts in those of others', () => {
  const counts = new ClientCounts();
  const made = Array.from({ length: newValuesPerNetwork + 3 }, (_, at) => `made${at}`);
  for (const name of made) counts.count(shows('192.0.2.1', name, 1), site);
  expect(namesOf(counts, 1)).toHaveLength(newValuesPerNetwork);
  expect(counts.leftOut).toBe(3);
  counts.count(shows('198.51.100.1', 'people', 1), site);
  counts.count(shows('192.0.2.1', 'people', 1), site);
  const [people] = counts.drain(hourMs);
  expect([people?.place.name, people?.requests, counts.leftOut]).toEqual(['ARGS:people', 2, 3]);
});

test('the next hour begins anew; requests of the hour before that end late do not', () => {
  const counts = new ClientCounts();
  const made = (hour: number, first: number): void => {
    for (let at = 0; at < newValuesPerNetwork; at++) {
      counts.count(shows('192.0.2.1', `made${first + at}`, hour), site);
    }
  };
  made(1, 0);
  made(2, 100);
  expect(counts.leftOut).toBe(0);
  made(1, 200);
  made(2, 300);
  expect(counts.leftOut).toBe(2 * newValuesPerNetwork);
});
