/** The proof that a slow policy holds up nothing but itself. */

import { expect, test } from 'vitest';
import type { InspectionConfig } from '../contract/policy.ts';
import { noRoutes, type RoutesConfig, type SiteConfig } from '../contract/site.ts';
import { interimRoutes, waitingSites } from './interim-routes.ts';

const site = (id: string, policyId: string): SiteConfig => ({
  id,
  name: id,
  hosts: [`${id}.example`],
  upstream: { id: 'u', scheme: 'http', endpoints: [] },
  waf: { enabled: policyId !== '', policyId, mode: 'blocking', failPolicy: 'closed' },
});

/** Sites with the policies that they name, each as `id@version`. */
const routes = (revision: string, sites: Record<string, string>): RoutesConfig => {
  const keys = Object.values(sites).filter((key) => key !== '');
  const inspection: InspectionConfig = {
    policies: [...new Set(keys)].map((key) => ({
      key,
      source: { id: idOf(key), name: key, revision: '1', seclangEntry: '', files: new Map() },
    })),
    keyOfSite: new Map(Object.entries(sites).filter(([, key]) => key !== '')),
    lazy: false,
    shared: new Map(),
  };
  const all = Object.entries(sites).map(([id, key]) => site(id, idOf(key)));
  return { revision, sites: all, inspection };
};

const idOf = (key: string): string => key.split('@')[0] ?? '';
const shown = ({ inspection }: RoutesConfig): Record<string, string> =>
  Object.fromEntries(inspection.keyOfSite);

test('what is ready is new, what is not stays as it was, what never was has nothing', () => {
  const before = routes('1', { a: 'p@1', b: 'q@1', c: 'q@1' });
  const next = routes('2', { a: 'p@2', b: 'q@2', c: 'r@1', d: 's@1', e: '' });
  const served = interimRoutes(next, before, new Map([['p@2', new Map()]]));
  expect(served.revision).toBe('2');
  expect(served.sites).toBe(next.sites);
  // Site c had policy q; its new one is not ready, so it keeps its previous one.
  expect(shown(served)).toEqual({ a: 'p@2', b: 'q@1', c: 'q@1' });
  const { policies } = served.inspection;
  expect(policies.map(({ key }) => key).sort()).toEqual(['p@2', 'q@1']);
});

test('before anything served, nothing but what is ready does', () => {
  const next = routes('1', { a: 'p@1', b: 'q@1' });
  expect(shown(interimRoutes(next, noRoutes, new Map()))).toEqual({});
  expect(shown(interimRoutes(next, noRoutes, new Map([['q@1', new Map()]])))).toEqual({ b: 'q@1' });
});

test('a policy that serves already is used by further sites at once', () => {
  const before = routes('1', { a: 'p@1' });
  const next = routes('2', { a: 'q@1', b: 'p@1' });
  expect(shown(interimRoutes(next, before, new Map()))).toEqual({ a: 'p@1', b: 'p@1' });
});

test('a site that was not inspected stays so until its policy is ready; a new one waits', () => {
  const before = routes('1', { a: '', b: 'p@1' });
  const next = routes('2', { a: 'q@1', b: 'p@1', c: 'q@1' });
  const interim = interimRoutes(next, before, new Map());
  expect(shown(interim)).toEqual({ b: 'p@1' });
  expect(interim.sites.map(({ id, waf }) => [id, waf.enabled])).toEqual([
    ['a', false],
    ['b', true],
    ['c', true],
  ]);
  expect([...(interim.inspection.compiling ?? [])]).toEqual(['a', 'c']);
  const ready = interimRoutes(next, before, new Map([['q@1', new Map()]]));
  expect([...(ready.inspection.compiling ?? [])]).toEqual([]);
  expect(ready.sites).toBe(next.sites);
  expect(shown(ready)).toEqual({ a: 'q@1', b: 'p@1', c: 'q@1' });
});

const withHosts = (routed: RoutesConfig, hosts: Record<string, string[]>): RoutesConfig => ({
  ...routed,
  sites: routed.sites.map((one) => ({ ...one, hosts: hosts[one.id] ?? one.hosts })),
});
const inspected = ({ sites }: RoutesConfig): string[] =>
  sites.filter(({ waf }) => waf.enabled).map(({ id }) => id);

test('a host that was inspected is not served uninspected by the site that takes it', () => {
  const before = routes('1', { a: '', b: 'p@1' });
  const next = withHosts(routes('2', { a: 'q@1' }), { a: ['a.example', 'b.example'] });
  expect(inspected(interimRoutes(next, before, new Map()))).toEqual(['a']);
});

test.each(['*', '*.example'])('nor by a site of %s that it falls to', (host) => {
  const before = withHosts(routes('1', { a: '', b: 'p@1' }), { a: [host] });
  const gone = withHosts(routes('2', { a: 'q@1' }), { a: [host] });
  expect(inspected(interimRoutes(gone, before, new Map()))).toEqual(['a']);
  const stays = withHosts(routes('2', { a: 'q@1', b: 'p@1' }), { a: [host] });
  expect(inspected(interimRoutes(stays, before, new Map()))).toEqual(['b']);
});

test('a site that changes otherwise, too, is not served uninspected as it never was', () => {
  const before = routes('1', { a: '' });
  const next = routes('2', { a: 'q@1' });
  const sites = next.sites.map((one) => {
    return { ...one, upstream: { ...one.upstream, id: 'another' } };
  });
  expect(inspected(interimRoutes({ ...next, sites }, before, new Map()))).toEqual(['a']);
});

test('requests wait for what compiles, not for a policy that control holds back', () => {
  const next = routes('1', { a: 'p@1', b: 'q@1' });
  const { inspection } = next;
  const held = { ...inspection, keyOfSite: new Map([['a', 'p@1']]) };
  const interim = interimRoutes({ ...next, inspection: held }, noRoutes, new Map());
  expect([...(interim.inspection.compiling ?? [])]).toEqual(['a']);
  expect(waitingSites({ ...next, inspection: held }, interim)).toEqual(['a']);
});
