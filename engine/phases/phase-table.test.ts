/** Proof of the phase table: what may follow what, and that nothing else may. */

import { expect, test } from 'vitest';
import { EVENT, nextState, STATE, transitions, type PhaseEvent } from './phase-table.ts';

const states = Object.entries(STATE);
const events = Object.entries(EVENT);

test('every state but the last two is left, and every state is reached', () => {
  const left = new Set(transitions.map(([from]) => from));
  const reached = new Set(transitions.map(([, , to]) => to));
  expect(states.filter(([, state]) => !left.has(state)).map(([name]) => name)).toEqual([
    'RELEASE',
    'ENDED',
  ]);
  expect(states.filter(([, state]) => !reached.has(state)).map(([name]) => name)).toEqual([
    'HEAD',
    'ENDED',
  ]);
});

test('the table has one transition for each state and event', () => {
  const pairs = transitions.map(([from, event]) => `${from} ${event}`);
  expect(new Set(pairs).size).toBe(pairs.length);
});

test.each(states)(
  'from %s a stop ends the request, and only listed events are possible',
  (_, state) => {
    expect(nextState(state, EVENT.STOP)).toBe(STATE.ENDED);
    for (const [, event] of events) {
      if (event === EVENT.STOP) continue;
      const row = transitions.find(([from, on]) => from === state && on === event);
      if (row === undefined) expect(() => nextState(state, event)).toThrow(/not possible/);
      else expect(nextState(state, event)).toBe(row[2]);
    }
  },
);

const { PASS, UNINSPECTED, HOLD, READY } = EVENT;

/** Ways through the table, by what happens on them. */
const courses: readonly (readonly [string, readonly PhaseEvent[], readonly string[]])[] = [
  [
    'a request with bodies that the rules inspect',
    [PASS, PASS, PASS, HOLD, READY, PASS, PASS, PASS, PASS, READY, PASS, HOLD, READY, PASS],
    [
      'GUARDS',
      'REQUEST_HEAD',
      'BODY_NEED',
      'BODY',
      'REQUEST_BODY',
      'CHECK_NEED',
      'HEAD_REFUSAL',
      'ROUTE',
      'ORIGIN',
      'RESPONSE_HEAD',
      'ANSWER_NEED',
      'ANSWER',
      'RESPONSE_BODY',
      'RELEASE',
    ],
  ],
  [
    'a request without inspection, or with a bypass of it',
    [PASS, UNINSPECTED, PASS, PASS, PASS],
    ['GUARDS', 'CHECK_NEED', 'HEAD_REFUSAL', 'ROUTE', 'ORIGIN'],
  ],
  [
    'a body that is held for the checks of an API document alone',
    [PASS, UNINSPECTED, HOLD, READY, PASS, PASS, PASS],
    ['GUARDS', 'CHECK_NEED', 'CHECKED_BODY', 'CHECK', 'HEAD_REFUSAL', 'ROUTE', 'ORIGIN'],
  ],
  [
    'a body that the rules inspect and an API document describes',
    [PASS, PASS, PASS, HOLD, READY, PASS, READY, PASS, PASS],
    [
      ...['GUARDS', 'REQUEST_HEAD', 'BODY_NEED', 'BODY', 'REQUEST_BODY', 'CHECK_NEED'],
      ...['CHECK', 'HEAD_REFUSAL', 'ROUTE'],
    ],
  ],
  [
    'a verdict of phase 1 that is only recorded: the head is still refused where it must be',
    [PASS, PASS, UNINSPECTED, PASS, PASS, PASS],
    ['GUARDS', 'REQUEST_HEAD', 'CHECK_NEED', 'HEAD_REFUSAL', 'ROUTE', 'ORIGIN'],
  ],
];

test.each(courses)('%s', (_, on, expected) => {
  let state: (typeof STATE)[keyof typeof STATE] = STATE.HEAD;
  const names = on.map((event) => {
    state = nextState(state, event);
    return states.find(([, one]) => one === state)![0];
  });
  expect(names).toEqual(expected);
});
