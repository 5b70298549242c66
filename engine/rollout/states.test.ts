/** The whole table of a rollout's states, pair by pair. */

import { expect, test } from 'vitest';
import { nextState, rolloutTable, type RolloutEvent, type RolloutState } from './states.ts';

const states = Object.keys(rolloutTable) as RolloutState[];
const events: readonly RolloutEvent[] = ['plan', 'late', 'served', 'built', 'newer', 'fault'];

/** Columns in the order of `events`; `-` for a move that must not happen. */
const expected: Record<RolloutState, string> = {
  wanted: 'planning - serving - superseded failed',
  planning: '- interim serving - superseded failed',
  interim: '- interim serving - superseded failed',
  serving: 'serving - - settled superseded failed',
  settled: '- - - - superseded -',
  superseded: '- - - - superseded superseded',
  failed: '- - - - failed failed',
};

const rows = states.flatMap((state) =>
  events.map((event, at) => [state, event, expected[state].split(' ')[at] ?? ''] as const),
);

test.each(rows)('%s takes %s: %s', (state, event, next) => {
  if (next === '-') expect(() => nextState(state, event)).toThrow(`cannot take "${event}"`);
  else expect(nextState(state, event)).toBe(next);
});

test('the table has every state and every pair once', () => {
  expect(rows).toHaveLength(7 * 6);
  expect(Object.keys(expected)).toEqual(states);
});
