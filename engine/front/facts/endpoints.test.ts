/** Proof that endpoints come from good answers only, and that a busy thread looks at some. */

import { expect, test } from 'vitest';
import { endpointLimits } from '../../../base/schema-limits.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { FrontEndpoints } from './endpoints.ts';

function request(change: Partial<RequestEvent>): RequestEvent {
  const one = { siteId: 's', outcome: 'served', status: 200, method: 'GET', host: 'API.test:80' };
  return { ...one, target: '/users/7?q=canary', ...change } as RequestEvent;
}

test('good answers make an endpoint, without query and value', () => {
  const endpoints = new FrontEndpoints();
  for (let at = 0; at < endpointLimits.reportedFrom; at++) endpoints.add(request({}));
  const count = endpointLimits.reportedFrom;
  expect(endpoints.drain()).toEqual([
    {
      siteId: 's',
      endpoints: [{ method: 'GET', host: 'api.test', path: '/users/{value}', count }],
      omitted: 0,
    },
  ]);
  expect(endpoints.drain()).toEqual([]);
});

test.each([
  ['what the origin does not know', { status: 404 }],
  ['what fails', { status: 500 }],
  ['what is blocked', { outcome: 'blocked', status: 403 }],
  ['what is refused', { outcome: 'refused', status: 200 }],
] as const)('%s is no endpoint', (_, change) => {
  const endpoints = new FrontEndpoints();
  for (let at = 0; at < 50; at++) endpoints.add(request(change));
  expect(endpoints.drain()).toEqual([]);
});

test('past the requests of an interval nothing is looked at until the next', () => {
  const endpoints = new FrontEndpoints();
  for (let at = 0; at < 2 * endpointLimits.learnedPerInterval; at++) endpoints.add(request({}));
  expect(endpoints.drain()[0]!.endpoints[0]!.count).toBe(endpointLimits.learnedPerInterval);
});

test('requests of sites past the bound are counted, until sites that went make room', () => {
  const endpoints = new FrontEndpoints();
  for (let at = 0; at < endpointLimits.sitesMax; at++) {
    endpoints.add(request({ siteId: `old-${at}` }));
    endpoints.drain();
  }
  for (let at = 0; at < 7; at++) endpoints.add(request({ siteId: 'new' }));
  expect(endpoints.drain()).toEqual([{ siteId: 'new', endpoints: [], omitted: 7 }]);
  expect(endpoints.drain()).toEqual([]);

  endpoints.keep(new Set(['old-0', 'new']));
  for (let at = 0; at < 7; at++) endpoints.add(request({ siteId: 'new' }));
  const [{ siteId, omitted } = { siteId: '', omitted: -1 }] = endpoints.drain();
  expect([siteId, omitted]).toEqual(['new', 0]);
});

test('requests that find no place in a site are counted, once', () => {
  const endpoints = new FrontEndpoints();
  endpoints.add(request({ target: '/a'.repeat(endpointLimits.depthMax + 1) }));
  expect(endpoints.drain()).toEqual([{ siteId: 's', endpoints: [], omitted: 1 }]);
  expect(endpoints.drain()).toEqual([]);
});
