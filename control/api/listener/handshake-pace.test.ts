/** Tests that handshakes begin a few a turn, nodes last but never left out. */

import { expect, test } from 'vitest';
import { HandshakePace } from './handshake-pace.ts';

/** A pace whose turns the test makes. */
function open(perTurn: number) {
  const turns: (() => void)[] = [];
  const began: string[] = [];
  const pace = new HandshakePace(perTurn, (run) => turns.push(run));
  const add = (name: string, isNode = false): void => pace.add(() => began.push(name), isNode);
  const turn = (): string[] => {
    const before = began.length;
    turns.shift()?.();
    return began.slice(before);
  };
  return { pace, add, turn, turns };
}

test('nothing begins at once, and no more than a few in one turn', () => {
  const { pace, add, turn, turns } = open(4);
  for (let at = 0; at < 10; at++) add(`n${at}`, true);
  expect(pace.waiting).toBe(10);
  expect(turns).toHaveLength(1);
  expect([turn(), turn(), turn()].map((begun) => begun.length)).toEqual([4, 4, 2]);
  expect(turns).toHaveLength(0);
  expect(pace.waiting).toBe(0);
});

test('others overtake nodes, one node begins in every turn still', () => {
  const { add, turn } = open(3);
  for (const name of ['n0', 'n1', 'n2', 'n3']) add(name, true);
  for (const name of ['a', 'b', 'c', 'd']) add(name);
  expect(turn()).toEqual(['a', 'b', 'n0']);
  expect(turn()).toEqual(['c', 'd', 'n1']);
  add('e');
  expect(turn()).toEqual(['e', 'n2', 'n3']);
  expect(turn()).toEqual([]);
});

test('with one a turn neither side waits for ever', () => {
  const { add, turn } = open(1);
  add('n0', true);
  add('a');
  expect([turn(), turn()]).toEqual([['n0'], ['a']]);
});

test('what begins a handshake may add another', () => {
  const { pace, add, turn } = open(2);
  pace.add(() => add('later'), false);
  expect(turn()).toEqual([]);
  expect(turn()).toEqual(['later']);
});

test('requests are answered between the handshakes of many', async () => {
  const pace = new HandshakePace(4);
  const order: string[] = [];
  for (let at = 0; at < 40; at++) pace.add(() => order.push('handshake'), true);
  const request = (): void => {
    order.push('request');
    if (order.length < 45) setImmediate(request);
  };
  setImmediate(request);
  while (pace.waiting > 0) await new Promise((resolve) => setImmediate(resolve));
  const longest = order
    .join(' ')
    .split('request')
    .map((run) => run.trim().split(' ').length);
  expect(Math.max(...longest)).toBeLessThanOrEqual(4);
});
