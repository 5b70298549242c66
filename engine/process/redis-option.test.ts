/** The address of Redis: what is read, and what is refused. */

import { expect, test } from 'vitest';
import { readRedisOption, sharedSeed } from './redis-option.ts';

test('an address is read whole, and nothing means nothing', () => {
  expect(readRedisOption('')).toBeNull();
  expect(readRedisOption('rediss://node:a%20b@redis.example:7000/3')).toEqual({
    host: 'redis.example',
    port: 7000,
    tls: true,
    user: 'node',
    password: 'a b',
    database: 3,
  });
  const usual = { port: 6379, tls: false, user: '', password: 'secret', database: 0 };
  expect(readRedisOption('redis://:secret@[::1]')).toEqual({ host: '::1', ...usual });
});

test('what cannot be used is refused without its password', () => {
  const wrong = [
    'redis.example:6379',
    'http://:secret@redis.example',
    'redis://:secret@redis.example/name',
    'redis://:secret@redis.example/0?x=1',
    'redis://:sec%ret@redis.example',
    'redis://redis.example',
    `redis://:${'s'.repeat(2_000)}@redis.example`,
  ];
  for (const text of wrong) {
    expect(() => readRedisOption(text)).toThrow('WAF_RATE_LIMIT_REDIS');
    expect(() => readRedisOption(text)).not.toThrow(/sec/);
  }
});

test('nodes with one password have one seed', () => {
  const seedOf = (url: string) => sharedSeed(readRedisOption(url)!);
  expect(seedOf('redis://:one@a')).toEqual(seedOf('redis://:one@b:7000/1'));
  expect(seedOf('redis://:one@a')).not.toEqual(seedOf('redis://:two@a'));
});
