/** Proves what a front thread ranks: paths without query, by site, blocked ones, cut texts. */

import { expect, test } from 'vitest';
import { frontLimits } from '../../../base/delivery-limits.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { FrontRankings } from './rankings.ts';

test('paths without their query, by site, with what was blocked', () => {
  const rankings = new FrontRankings();
  rankings.add(event({ target: '/a?x=1' }));
  rankings.add(event({ target: '/a?x=2', blocked: true }));
  rankings.add(event({ target: '/b', siteId: 'other', userAgent: '' }));
  const taken = rankings.drain();
  const of = (siteId: string, dimension: string) =>
    taken.find((one) => one.siteId === siteId && one.dimension === dimension)?.entries;
  expect(of('shop', 'path')).toEqual([{ key: '/a', total: 2, blocked: 1 }]);
  expect(of('shop', 'method')).toEqual([{ key: 'GET', total: 2, blocked: 1 }]);
  expect(of('shop', 'http_version')).toEqual([{ key: 'HTTP/1.1', total: 2, blocked: 1 }]);
  expect(of('shop', 'transport_version')).toEqual([{ key: 'PLAINTEXT', total: 2, blocked: 1 }]);
  expect(of('other', 'user_agent')).toEqual([{ key: '', total: 1, blocked: 0 }]);
  expect(rankings.drain()).toEqual([]);
});

test('a flood of different paths stays within its bounds', () => {
  const rankings = new FrontRankings();
  const long = `/${'x'.repeat(5000)}`;
  for (let at = 0; at < 3000; at++) {
    rankings.add(event({ target: `/${at}`, method: `M${at}` }));
    rankings.add(event({ target: long }));
  }
  const [path, , method] = rankings.drain();
  expect(path?.entries.length).toBe(frontLimits.rankedValuesMax);
  expect(method?.entries.length).toBe(frontLimits.rankedNamesMax);
  const most = path?.entries.reduce((a, b) => (a.total > b.total ? a : b));
  expect(most).toEqual({
    key: long.slice(0, frontLimits.rankedCharactersMax),
    total: 3000,
    blocked: 0,
  });
});

function event(change: Partial<RequestEvent>): RequestEvent {
  const whole = { siteId: 'shop', method: 'GET', target: '/', httpVersion: 'HTTP/1.1' };
  return { ...whole, userAgent: 'curl', blocked: false, ...change } as RequestEvent;
}
