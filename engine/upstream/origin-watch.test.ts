/** Tests of what is made of failing origins: one line at once, one a minute with counts, an end. */

import { afterEach, expect, test, vi } from 'vitest';
import { upstreamLimits } from '../../base/delivery-limits.ts';
import { silentLogger } from '../../base/log.ts';
import type { OriginNote } from '../contract/health.ts';
import { joinHealth, OriginWatch } from './origin-watch.ts';

afterEach(() => {
  vi.useRealTimers();
});

const failed = (failedCount: number, name = 'a:1'): OriginNote => ({
  upstreamId: 'u',
  scheme: 'http',
  name,
  failed: failedCount,
  answered: false,
  failure: 'origin_connect',
});

function watch() {
  vi.useFakeTimers({ now: 1_000_000 });
  const lines: string[] = [];
  const note =
    (level: string) =>
    (message: string, facts: object = {}): void => {
      lines.push(`${level} ${message} ${JSON.stringify(facts)}`);
    };
  let changes = 0;
  const logger = { ...silentLogger, warn: note('warn'), info: note('info') };
  const made = new OriginWatch({ logger, onChange: () => changes++ });
  return { made, lines, changes: () => changes };
}

test('a dead origin is logged at once, then once a minute with what failed since', () => {
  const { made, lines, changes } = watch();
  made.receive([failed(1)]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^warn an origin does not answer .*"failures":1/);
  expect(lines[0]).toContain('"upstream":"u","origin":"a:1","code":"origin_connect"');
  for (let i = 0; i < 100; i++) made.receive([failed(3)]);
  expect(lines).toHaveLength(1);
  vi.advanceTimersByTime(upstreamLimits.originLogEveryMs);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/"failures":300/);
  vi.advanceTimersByTime(3 * upstreamLimits.originLogEveryMs);
  expect(lines).toHaveLength(2);
  expect(changes()).toBe(1);
  expect(made.health()).toMatchObject([
    { upstreamId: 'u', url: 'http://a:1', name: 'a:1', status: 'unhealthy' },
  ]);
  expect(made.health()[0]?.error).toMatch(/refuses connections \(301 failures\)$/);
  made.receive([{ ...failed(2), answered: true }]);
  expect(lines.at(-1)).toMatch(/^info an origin answers again .*"failures":303/);
  expect(made.health()).toEqual([]);
  expect(changes()).toBe(2);
  made.close();
});

test('many dead origins are some lines and a sum', () => {
  const { made, lines } = watch();
  const all = Array.from({ length: 100 }, (_, at) => failed(2, `a:${at + 1}`));
  made.receive(all);
  expect(lines).toHaveLength(upstreamLimits.originsLoggedMax);
  made.receive(all);
  vi.advanceTimersByTime(upstreamLimits.originLogEveryMs);
  expect(lines).toHaveLength(2 * upstreamLimits.originsLoggedMax + 1);
  expect(lines.at(-1)).toMatch(/^warn more origins do not answer {"origins":80,/);
  expect(made.health()).toHaveLength(100);
  made.close();
});

test('what is configured no more, or was asked long ago, is forgotten', () => {
  const { made } = watch();
  made.receive([failed(1, 'a:1'), failed(1, 'b:1')]);
  made.keepOnly((_id, name) => name === 'b:1');
  expect(made.health().map(({ name }) => name)).toEqual(['b:1']);
  vi.advanceTimersByTime(upstreamLimits.originForgottenMs + 1);
  expect(made.health()).toEqual([]);
  made.close();
});

test('an address is unhealthy when its probe or its requests fail', () => {
  const { made } = watch();
  made.receive([failed(1, 'a:1'), failed(1, 'b:1')]);
  const probed = (name: string, status: 'healthy' | 'unhealthy') => {
    const facts = {
      probedAtMs: 5,
      changedAtMs: 5,
      error: status === 'healthy' ? '' : 'status 500',
    };
    return { upstreamId: 'u', url: `http://${name}`, name, status, ...facts };
  };
  const joined = joinHealth(
    [probed('a:1', 'healthy'), probed('c:1', 'healthy'), probed('b:1', 'unhealthy')],
    made.health(),
  );
  expect(joined.map(({ name, status }) => `${name} ${status}`)).toEqual([
    'a:1 unhealthy',
    'c:1 healthy',
    'b:1 unhealthy',
  ]);
  expect(joined[0]?.error).toContain('refuses connections');
  expect(joined[2]?.error).toBe('status 500');
  made.close();
});
