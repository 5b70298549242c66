/** Tests of the settings that choose something for each site. */

import { expect, test } from 'vitest';
import { checkSettings } from '../settings/settings.ts';
import { mapSitesNamed, sitesNamed, travelingOptions, withoutSite } from './site-options.ts';

const key = 'websocket.messages';
const values = { [key]: { '*': 'observe', s1: 'block' }, 'rate_limit.fields': { s2: 'on' } };
const withMore = { ...values, 'grpc.fields': { s2: 'off' }, 'api.array_names': { s2: 'php' } };

test('are objects of choices', () => {
  expect(() => checkSettings(values)).not.toThrow();
  expect(() => checkSettings({ [key]: {} })).not.toThrow();
  expect(() => checkSettings({ [key]: { s1: 'deny' } })).toThrow(/one of off, observe, block/);
  expect(() => checkSettings({ [key]: { s1: true } })).toThrow(/one of off, observe, block/);
  expect(() => checkSettings({ [key]: ['s1'] })).toThrow(/must be a JSON object/);
  expect(() => checkSettings({ 'rate_limit.fields': { s1: 'yes' } })).toThrow(/one of off, on/);
  expect(() => checkSettings({ 'grpc.fields': { s1: 'block' } })).toThrow(/one of off, on/);
  expect(() => checkSettings({ 'api.array_names': { s1: 'rack' } })).toThrow(
    /one of none, php, qs/,
  );
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

const nothing = {
  ...{ websocketMessages: '', rateLimitFields: '', grpcFields: '', arrayNames: '' },
  ...{ detectionLearning: '', detectionApplications: '' },
};

test('travel to nodes by site', () => {
  expect(travelingOptions({})).toEqual([]);
  expect(travelingOptions(withMore)).toEqual([
    { ...nothing, siteId: '', websocketMessages: 'observe' },
    { ...nothing, siteId: 's1', websocketMessages: 'block' },
    { ...nothing, siteId: 's2', rateLimitFields: 'on', grpcFields: 'off', arrayNames: 'php' },
  ]);
});
