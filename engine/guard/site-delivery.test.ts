/** What a site answers by itself: paths that origins may read in several ways, and targets. */

import { expect, test } from 'vitest';
import { noDelivery, type DeliveryConfig } from '../contract/delivery.ts';
import { viewOf } from '../../test/support/request-view.ts';
import { SiteDelivery } from './site-delivery.ts';

const cors = { allowedMethods: [], allowedHeaders: [], exposedHeaders: [], maxAgeSeconds: 0 };
const of = (config: Partial<DeliveryConfig>): SiteDelivery =>
  new SiteDelivery({ ...noDelivery, ...config });

test('a path that may lie under another rule has no rule of CORS', () => {
  const delivery = of({
    cors: [
      { ...cors, pathPrefix: '/public', allowedOrigins: ['*'], allowCredentials: false },
      {
        ...cors,
        pathPrefix: '/api',
        allowedOrigins: ['https://a.example'],
        allowCredentials: true,
      },
    ],
  });
  const fields = ['Origin: https://a.example'];
  const lines = (target: string): string | undefined =>
    delivery.responseFields(viewOf({ target, fields }))?.lines;
  expect(lines('/public/x')).toBe('Access-Control-Allow-Origin: *\r\n');
  expect(lines('/api/x')).toContain('Access-Control-Allow-Origin: https://a.example\r\n');
  expect(lines('/api/../public')).toBeUndefined();
  expect(lines('/public/..%2fapi')).toBeUndefined();
});

test('the least of all bounds that a path may have counts', () => {
  const delivery = of({
    bodyLimits: [
      { pathPrefix: '/upload', maxBytes: 500 },
      { pathPrefix: '', maxBytes: 100 },
    ],
  });
  const most = (target: string): number => delivery.bodyBytesMax(viewOf({ target }), 1000);
  expect(most('/')).toBe(100);
  expect(most('/upload/x')).toBe(500);
  expect(most('/upload/../x')).toBe(100);
  expect(of({}).bodyBytesMax(viewOf({}), 1000)).toBe(1000);
  expect(delivery.bodyBytesMax(viewOf({ target: '/upload' }), 50)).toBe(50);
});

test('a time that a longer prefix leaves out is that of a shorter one', () => {
  const times = {
    ...{ bodyPauseMs: 0, sendPauseMs: 0, originConnectMs: 0, originAnswerMs: 0 },
    ...{ originPauseMs: 0, totalMs: 0, keepAliveMs: 0, websocketPauseMs: 0 },
  };
  const delivery = of({
    timeouts: [
      { ...times, pathPrefix: '/app/x', originAnswerMs: 30 },
      { ...times, pathPrefix: '/other', totalMs: 5 },
      { ...times, pathPrefix: '/app', originAnswerMs: 20, bodyPauseMs: 2 },
      { ...times, pathPrefix: '', totalMs: 9 },
    ],
  });
  const timesOf = (target: string): readonly (number | undefined)[] => {
    const found = delivery.timeouts(viewOf({ target }));
    return [found?.originAnswerMs, found?.bodyPauseMs, found?.totalMs, found?.keepAliveMs];
  };
  expect(timesOf('/app/x/y')).toEqual([30, 2, 9, 0]);
  expect(timesOf('/app/y')).toEqual([20, 2, 9, 0]);
  expect(timesOf('/other')).toEqual([0, 0, 5, 0]);
  expect(timesOf('/')).toEqual([0, 0, 9, 0]);
  // An origin may read it as either: the shorter of each time counts.
  expect(timesOf('/app/x/../y')).toEqual([20, 2, 9, 0]);
  expect(of({}).timeouts(viewOf({ target: '/' }))).toBeNull();
});

test.each([
  ['/a//evil.example', '/evil.example'],
  ['/a/\\evil.example', '/evil.example'],
  ['/a/x"y<z>', '/x%22y%3Cz%3E'],
  ['/a/$&', '/$&'],
  ['/a/x?q=1', '/x?q=1'],
])('a redirect of %s leads to %s', (target, location) => {
  const rule = { host: '', path: '/a', under: true, target: '/*', status: 308 };
  expect(of({ redirects: [rule] }).answer(viewOf({ target }))?.location).toBe(location);
});

test.each([
  ['/app/x?q', '/v2/x?q'],
  ['/app/a..b', '/v2/a..b'],
  ['/app/../admin', null],
  ['/app/%2e%2E/admin', null],
  ['/app/..%2fadmin', null],
  ['/app/x/..\\..\\..\\admin', null],
  ['/app/..;/admin', null],
  ['/apple', null],
])('the origin gets %s as %s', (target, expected) => {
  const rule = { path: '/app', pathPrefix: '/app', under: true, target: '/v2/*' };
  expect(of({ rewrites: [rule] }).rewritten(viewOf({ target }))).toBe(expected);
});

test('a closed site knows networks of both families', () => {
  const maintenance = {
    ...{ retryAfterSeconds: 0, title: '', message: '', allowedPaths: [] },
    allowedNetworks: ['2001:db8::/32', '192.0.2.7'],
  };
  const open = (ip: string): boolean => of({ maintenance }).answer(viewOf({ ip })) === null;
  expect(['2001:db8:1::1', '192.0.2.7'].map(open)).toEqual([true, true]);
  expect(['2001:db9::1', '192.0.2.8', '198.51.100.1'].map(open)).toEqual([false, false, false]);
});
