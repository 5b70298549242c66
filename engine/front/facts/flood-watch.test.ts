/** Tests of who may connect again after a connection was ended for what happened on it. */

import { expect, test } from 'vitest';
import { floodLimits } from '../../../base/delivery-limits.ts';
import { FloodWatch } from './flood-watch.ts';

const attacker = '198.51.100.7';

function watching() {
  const time = { nowMs: 1_000 };
  const watch = new FloodWatch(time);
  const admitted = (ip: string, tries: number): number =>
    Array.from({ length: tries }, () => watch.admits(ip)).filter(Boolean).length;
  return { time, watch, admitted };
}

test('who did nothing connects as often as it likes', () => {
  const { watch, admitted } = watching();
  expect(admitted(attacker, 1_000)).toBe(1_000);
  watch.note(attacker);
  expect(admitted('198.51.100.8', 1_000)).toBe(1_000);
  expect(watch.remembers('198.51.100.8')).toBe(false);
});

test('an offender connects a few times at once, then at a steady rate', () => {
  const { time, watch, admitted } = watching();
  watch.note(attacker);
  expect(watch.remembers(attacker)).toBe(true);
  expect(admitted(attacker, 100)).toBe(floodLimits.connectionsMax);
  // A further offence gives it no new start.
  watch.note(attacker);
  expect(admitted(attacker, 100)).toBe(0);
  time.nowMs += 1_000;
  expect(admitted(attacker, 100)).toBe(floodLimits.connectionsPerSecond);
});

test('an offence is forgotten after a while; a further one counts from its own time', () => {
  const { time, watch } = watching();
  watch.note(attacker);
  time.nowMs += floodLimits.rememberedMs - 1;
  watch.note(attacker);
  time.nowMs += floodLimits.rememberedMs - 1;
  expect(watch.remembers(attacker)).toBe(true);
  time.nowMs += 1;
  expect(watch.remembers(attacker)).toBe(false);
});

test('an IPv6 network is one client', () => {
  const { watch } = watching();
  watch.note('2001:db8:1:2::1');
  expect(watch.remembers('2001:db8:1:2:ffff::9')).toBe(true);
  expect(watch.remembers('2001:db8:1:3::1')).toBe(false);
});

test('as many offenders are remembered as there is room for, the latest of them', () => {
  const { watch } = watching();
  const address = (at: number): string => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;
  for (let at = 0; at <= floodLimits.clientsMax; at++) watch.note(address(at));
  expect(watch.remembers(address(0))).toBe(false);
  expect(watch.remembers(address(1))).toBe(true);
  expect(watch.remembers(address(floodLimits.clientsMax))).toBe(true);
});
