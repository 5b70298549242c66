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
import { viewOf } from '../../test/support/request-view.ts';
import { pathPatternOf } from '../guard/rate-limit.ts';
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
];

describe.each(Object.entries(features))('%s', (_name, meetsOf) => {
  test.each(rows)('on %s is met in every spelling', (stated, met, others) => {
    const meets = meetsOf(stated);
    const ask = (target: string): boolean => meets(viewOf({ target }));
    expect(met.filter((target) => !ask(target))).toEqual([]);
    expect(others.filter(ask)).toEqual([]);
  });
});
