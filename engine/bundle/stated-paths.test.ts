/**
 * Proves that a path stated with escapes is met in every spelling: in delivery, in challenges, for
 * IP lists and for rate limits, as they leave the bundle.
 */

import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import {
  RuntimeIpBindingSchema,
  RuntimeIpListSchema,
} from '../../proto/gen/waf/runtime/v1/access_pb.ts';
import { RuntimeSiteSchema } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { liesUnderStated, readStatedPath } from '../../base/stated-path.ts';
import { viewOf } from '../../test/support/request-view.ts';
import { pathPatternOf } from '../guard/rate-limit.ts';
import { rulesOfPath } from '../guard/path-rules.ts';
import { SiteDelivery } from '../guard/site-delivery.ts';
import type { RequestView } from '../guard/request-view.ts';
import { IpSets } from './ip-set.ts';
import { accessOf } from './runtime-access.ts';
import { botProtectionOf } from './runtime-bot.ts';
import { deliveryOf } from './runtime-delivery.ts';

type Meets = (view: RequestView) => boolean;

const under = (prefix: string | undefined): Meets => {
  return (view) => view.isUnder(prefix!, true);
};

/** Whether a request meets a path that is stated there. */
const features: Readonly<Record<string, (stated: string) => Meets>> = {
  'a password': (pathPrefix) =>
    under(deliveryWith({ basicAuth: [{ pathPrefix }] }).basicAuth[0]?.pathPrefix),
  'a service that is asked': (pathPrefix) =>
    under(deliveryWith({ forwardAuth: [{ pathPrefix }] }).forwardAuth[0]?.pathPrefix),
  'a body limit': (pathPrefix) =>
    under(deliveryWith({ bodyLimits: [{ pathPrefix }] }).bodyLimits[0]?.pathPrefix),
  'a time': (pathPrefix) =>
    under(deliveryWith({ timeouts: [{ pathPrefix }] }).timeouts[0]?.pathPrefix),
  'a challenge': (path) => {
    const bot = { mode: 'browser_check', challengePaths: [path] };
    const site = create(RuntimeSiteSchema, { id: 's', bot });
    return under(
      botProtectionOf({ ipLists: [], verifiers: [] }, new IpSets())(site)?.challengePaths?.[0],
    );
  },
  'an IP list': (pathPrefix) => {
    const place = { scope: 'site', siteId: 's' };
    const choice = { kind: 'deny', addressSource: 'client_ip', matchMode: 'in_list' };
    const binding = { id: 'b', tenantId: 't', ipListId: 'l', pathPrefix, place, ...choice };
    const source = {
      ipLists: [create(RuntimeIpListSchema, { id: 'l' })],
      ipBindings: [create(RuntimeIpBindingSchema, binding)],
      countryRules: [],
    };
    const site = create(RuntimeSiteSchema, { id: 's', tenantId: 't' });
    return under(accessOf(source, new IpSets())(site)?.ip[0]?.pathPrefix);
  },
  'a rate limit': (pattern) => {
    const path = pathPatternOf(`${pattern}/*`);
    return (view) => view.matchesPath(path);
  },
};

function deliveryWith(stated: object) {
  return deliveryOf({ name: 's', deliveryJson: Buffer.from(JSON.stringify(stated)) })!;
}

/** What is stated, requests for it, and requests for something else. */
const rows: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['/my%20files', ['/my%20files/x', '/m%79%20files', '/MY%20FILES'], ['/my', '/myfiles']],
  [
    '/caf%C3%A9',
    ['/caf%C3%A9', '/caf%c3%a9/x', '/c%61f%C3%A9', '/caf\xc3\xa9', '/CAF%C3%89'],
    ['/cafe', '/caf'],
  ],
  ['/café', ['/caf%C3%A9', '/c%61f%C3%A9', '/caf\xc3\xa9'], ['/cafe']],
  ['/%61dmin', ['/admin', '/%61dmin', '/%2561dmin'], ['/61dmin']],
  ['/a%2Fb', ['/a%2Fb', '/a/b', '/%61%2fb'], ['/a', '/ab']],
  ['/50%25', ['/50%25', '/%350%25/x'], ['/50', '/5025']],
  ['/a%2Ab', ['/a*b', '/a%2ab'], ['/axb']],
  ['/école', ['/%C3%89COLE/%FF', '/%c3%89cole/%EF%BF%BD', '/\xc3\x89COLE/\xff'], ['/ecole']],
  ['/école', ['/e%CC%81cole', '/E\xcc\x81cole', '/%E9cole', '/\xe9cole'], ['/%E8cole']],
  ['/e\u0301cole', ['/%C3%A9cole', '/e%CC%81cole'], ['/ecole']],
  ['/admin', ['/%EF%BD%81dmin', '/\xef\xbd\x81dmin'], ['/%EF%BD%82dmin']],
];

/** What is stated, requests that all servers read so, and requests that some read otherwise. */
const allowed: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['/caf%C3%A9', ['/caf%C3%A9', '/caf%c3%a9/x', '/caf\xc3\xa9', '/CAF%C3%89'], ['/c%61f%C3%A9']],
  ['/café', ['/caf%C3%A9', '/caf%c3%a9/x', '/caf\xc3\xa9/%FF'], ['/caf%E9', '/cafe%CC%81']],
  ['/cafe\u0301', ['/cafe%CC%81/x', '/cafe\xcc\x81'], ['/caf%C3%A9']],
  ['/my%20files', ['/my%20files/x', '/MY%20files'], ['/m%79%20files', '/my+files']],
  ['/a%2Fb', ['/a%2Fb/x', '/a%2fb'], ['/a/b', '/a%5Cb']],
  ['/50%25', ['/50%25/x'], ['/50', '/%350%25']],
  ['/C%2B%2B', ['/C%2B%2B', '/c%2b%2B/x'], ['/C++', '/C']],
  ['/x%EF%BF%BD', ['/x%EF%BF%BD'], ['/x%FF', '/x']],
  ['/admin', ['/admin/%EF%BF%BD', '/Admin/%C3%A9'], ['/%EF%BD%81dmin', '/%61dmin', '//x/admin']],
];

/** Whether what is stated there lets a request pass. */
const openings: Readonly<Record<string, (stated: string) => Meets>> = {
  'an exempt path': (path) => {
    const bot = { mode: 'browser_check', exemptPaths: [path] };
    const site = create(RuntimeSiteSchema, { id: 's', bot });
    const lists = { ipLists: [], verifiers: [] };
    const exempt = botProtectionOf(lists, new IpSets())(site)!.exemptPaths[0]!;
    return (view) => view.isUnder(exempt, false);
  },
  maintenance: (path) => {
    const { maintenance } = deliveryWith({ maintenance: { allowedPaths: [path] } });
    return (view) => view.isUnder(maintenance!.allowedPaths[0]!, false);
  },
  'an open path': (path) => {
    const rule = { realm: '', users: [] };
    const asks = { ...rule, pathPrefix: '/', open: false };
    const { basicAuth } = deliveryWith({
      basicAuth: [asks, { ...rule, pathPrefix: path, open: true }],
    });
    return (view) => rulesOfPath(basicAuth, view).every(({ open }) => open);
  },
  'an answer of control': (path) => (view) =>
    liesUnderStated(view.path, readStatedPath(path), false),
};

describe.each(Object.entries(openings))('%s', (_name, meetsOf) => {
  test.each(allowed)('on %s opens what all servers read so', (stated, opened, others) => {
    const meets = meetsOf(stated);
    const ask = (target: string): boolean => meets(viewOf({ target }));
    expect(opened.filter((target) => !ask(target))).toEqual([]);
    expect(others.filter(ask)).toEqual([]);
  });
});

test('a redirect holds for a path beyond ASCII, and its target is written as UTF-8', () => {
  const rule = { host: '', path: '/café', under: true, target: '/\u4f60/*', status: 308 };
  const site = new SiteDelivery(deliveryWith({ redirects: [rule] }));
  const locationOf = (target: string) => site.answer(viewOf({ target }))?.location;
  for (const path of ['/caf%C3%A9/%C3%A9%2F', '/caf\xc3\xa9/%c3%a9%2F']) {
    expect(locationOf(path)).toBe('/%E4%BD%A0/%C3%A9%2F');
  }
  expect(locationOf('/cafe/x')).toBeUndefined();
});

describe.each(Object.entries(features))('%s', (_name, meetsOf) => {
  test.each(rows)('on %s is met in every spelling', (stated, met, others) => {
    const meets = meetsOf(stated);
    const ask = (target: string): boolean => meets(viewOf({ target }));
    expect(met.filter((target) => !ask(target))).toEqual([]);
    expect(others.filter(ask)).toEqual([]);
  });
});
