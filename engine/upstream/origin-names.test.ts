/** Names of origins: how long an answer holds, who waits, and what a failing server changes. */

import { expect, test } from 'vitest';
import { originNameLimits } from '../../base/delivery-limits.ts';
import { OriginNames, type FoundAddress } from './origin-names.ts';

const at = (address: string): FoundAddress => ({ address, family: address.includes(':') ? 6 : 4 });

/** Names that answer `answers`, one an asking, the last for ever; an error where it is null. */
function scripted(answers: readonly (readonly FoundAddress[] | null)[], ttl: number | null = 5) {
  const clock = { nowMs: 1_000, asked: 0 };
  const names = new OriginNames({
    lookup: async () => {
      const answer = answers[Math.min(clock.asked++, answers.length - 1)];
      if (answer === null || answer === undefined) throw new Error('the server does not answer');
      return answer;
    },
    ttlSeconds: async () => ttl,
    nowMs: () => clock.nowMs,
  });
  return { names, clock };
}

const ask = (names: OriginNames, name = 'origin.test', family = 0): Promise<string[]> =>
  new Promise((resolve, reject) => {
    names.lookup(name, { all: true, family }, (error, found) => {
      if (error) reject(error);
      else resolve((found as FoundAddress[]).map(({ address }) => address));
    });
  });

/** Lets what was asked in the background be answered. */
const settled = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

test('an answer holds as long as DNS says, and is asked again afterwards', async () => {
  const { names, clock } = scripted([[at('192.0.2.1')], [at('192.0.2.2')]]);
  expect(await ask(names)).toEqual(['192.0.2.1']);
  await settled();
  clock.nowMs += 4_999;
  expect(await ask(names)).toEqual(['192.0.2.1']);
  expect(clock.asked).toBe(1);
  clock.nowMs += 1;
  // The old answer serves while the new one is on its way.
  expect(await ask(names)).toEqual(['192.0.2.1']);
  await settled();
  expect(await ask(names)).toEqual(['192.0.2.2']);
  expect(clock.asked).toBe(2);
});

test('a kept connection is left when its address is no longer that of the name', async () => {
  const { names, clock } = scripted([[at('192.0.2.1')], [at('192.0.2.2')]]);
  expect(names.holds('origin.test', '192.0.2.1')).toBe(true);
  await ask(names);
  await settled();
  expect(names.holds('origin.test', '192.0.2.1')).toBe(true);
  clock.nowMs += 5_000;
  expect(names.holds('origin.test', '192.0.2.1')).toBe(true);
  await settled();
  expect(names.holds('origin.test', '192.0.2.1')).toBe(false);
  expect(names.holds('origin.test', '192.0.2.2')).toBe(true);
});

test.each([
  ['shorter than the bound', 0, originNameLimits.ttlSecondsMin],
  ['longer than the bound', 86_400, originNameLimits.ttlSecondsMax],
  ['unknown', null, originNameLimits.ttlSecondsDefault],
])('a time to live that is %s', async (_, ttl, seconds) => {
  const { names, clock } = scripted([[at('192.0.2.1')]], ttl);
  await ask(names);
  await settled();
  clock.nowMs += seconds * 1000 - 1;
  await ask(names);
  expect(clock.asked).toBe(1);
  clock.nowMs += 1;
  await ask(names);
  expect(clock.asked).toBe(2);
});

test('one asking serves all who wait, and failures are not asked again at once', async () => {
  const { names, clock } = scripted([null]);
  const asked = await Promise.allSettled(Array.from({ length: 50 }, () => ask(names)));
  expect(asked.every(({ status }) => status === 'rejected')).toBe(true);
  await expect(ask(names)).rejects.toThrow('does not answer');
  expect(clock.asked).toBe(1);
  clock.nowMs += originNameLimits.failureSeconds * 1000;
  await expect(ask(names)).rejects.toThrow();
  expect(clock.asked).toBe(2);
});

test('an answer from before serves while the server fails, for a bounded time', async () => {
  const { names, clock } = scripted([[at('192.0.2.1')], null]);
  await ask(names);
  await settled();
  clock.nowMs += 60_000;
  expect(await ask(names)).toEqual(['192.0.2.1']);
  await settled();
  clock.nowMs += originNameLimits.staleMs;
  await expect(ask(names)).rejects.toThrow('does not answer');
});

test('addresses of the family that is asked for', async () => {
  const { names } = scripted([[at('192.0.2.1'), at('2001:db8::1')]]);
  expect(await ask(names, 'origin.test', 6)).toEqual(['2001:db8::1']);
  await expect(ask(scripted([[at('192.0.2.1')]]).names, 'a.test', 6)).rejects.toThrow('no address');
});

test('names are bounded', async () => {
  const { names, clock } = scripted([[at('192.0.2.1')]]);
  for (let i = 0; i <= originNameLimits.namesMax; i++) await ask(names, `n${i}.test`);
  const before = clock.asked;
  await ask(names, 'n0.test');
  expect(clock.asked).toBe(before + 1);
});
