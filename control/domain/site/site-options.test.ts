/** Tests of the settings that choose something for each site. */

import { expect, test } from 'vitest';
import { checkSettings } from '../settings/settings.ts';
import { mapSitesNamed, sitesNamed, travelingOptions, withoutSite } from './site-options.ts';

const key = 'websocket.messages';
const values = { [key]: { '*': 'observe', s1: 'block' }, 'rate_limit.fields': { s2: 'on' } };
const withGrpc = { ...values, 'grpc.fields': { s2: 'off' } };

test('are objects of choices', () => {
  expect(() => checkSettings(values)).not.toThrow();
  expect(() => checkSettings({ [key]: {} })).not.toThrow();
  expect(() => checkSettings({ [key]: { s1: 'deny' } })).toThrow(/one of off, observe, block/);
  expect(() => checkSettings({ [key]: { s1: true } })).toThrow(/one of off, observe, block/);
  expect(() => checkSettings({ [key]: ['s1'] })).toThrow(/must be a JSON object/);
  expect(() => checkSettings({ 'rate_limit.fields': { s1: 'yes' } })).toThrow(/one of off, on/);
  expect(() => checkSettings({ 'grpc.fields': { s1: 'block' } })).toThrow(/one of off, on/);
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`s${at}`, 'off']));
  expect(() => checkSettings({ [key]: many })).toThrow(/at most 1000 sites/);
});

test('name sites, which may be called otherwise, or be gone', () => {
  expect([...sitesNamed(values)]).toEqual([
    [key, 's1'],
    ['rate_limit.fields', 's2'],
  ]);
  const named = mapSitesNamed(values, (id) => `name of ${id}`);
  expect(named[key]).toEqual({ '*': 'observe', 'name of s1': 'block' });
  expect(mapSitesNamed({ [key]: 'odd' }, (id) => id)).toEqual({ [key]: 'odd' });
  expect(withoutSite(values, 's3')).toBeNull();
  expect(withoutSite(values, 's1')).toEqual({ ...values, [key]: { '*': 'observe' } });
});

test('travel to nodes by site', () => {
  expect(travelingOptions({})).toEqual([]);
  expect(travelingOptions(withGrpc)).toEqual([
    { siteId: '', websocketMessages: 'observe', rateLimitFields: '', grpcFields: '' },
    { siteId: 's1', websocketMessages: 'block', rateLimitFields: '', grpcFields: '' },
    { siteId: 's2', websocketMessages: '', rateLimitFields: 'on', grpcFields: 'off' },
  ]);
});
