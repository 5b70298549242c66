/** Filters with values that are there, as the three queries of events make them. */

import type { EventFilter } from '../../control/observe/events/event-filter.ts';
import type { KindName } from '../../control/observe/events/event-questions.ts';
import { idOf, startMs, stepMs, type Random } from './facts.ts';

/** Makes a filter; `total` events are there. */
export type FilterMaker = (random: Random, total: number) => Partial<EventFilter>;

const anyOf = (field: string, value: string): Partial<EventFilter> => ({
  anyOf: [{ field, values: [value] }],
});
const allOf = (...pairs: readonly (readonly [string, string])[]): Partial<EventFilter> => ({
  anyOf: pairs.map(([field, value]) => ({ field, values: [value] })),
});
const containing = (property: string, text: string): Partial<EventFilter> => ({
  contains: [{ property, text }],
});
const siteOf = (random: Random) => ['site', `site-${random(200)}`] as const;
const ruleOf = (random: Random) => ['rule', String(942_000 + random(300))] as const;
const passed = ['outcome', 'passed'] as const;
const pathBelow = (random: Random): string => `/api/v${random(4)}/items/`;
const clientOf = (random: Random) => ({
  networks: [`198.51.${random(256)}.${random(256)}`],
});
const networkOf = (random: Random) => ({ networks: [`198.51.${random(256)}.0/24`] });

const byCommon: Readonly<Record<string, FilterMaker>> = {
  none: () => ({}),
  'time range': (random, total) => {
    const from = startMs + random(total) * stepMs;
    return { startMs: from, endMs: from + 3_600_000 };
  },
  'request id': (random, total) => anyOf('request', idOf(random(total))),
  site: (random) => allOf(siteOf(random)),
  nothing: () => anyOf('site', 'site-of-nobody'),
};
const byClient: Readonly<Record<string, FilterMaker>> = { client: clientOf, network: networkOf };
const bySecurity: Readonly<Record<string, FilterMaker>> = {
  rule: (random) => allOf(ruleOf(random)),
  outcome: (random) => anyOf('outcome', random(2) === 0 ? 'blocked' : 'passed'),
  severity: () => anyOf('severity', 'critical'),
  'attack type': () => anyOf('attack', 'sqli'),
  target: (random) => anyOf('target', `GET shop-${random(200)}.example${pathBelow(random)}{id}`),
  'site and rule': (random) => allOf(siteOf(random), ruleOf(random)),
  'site and client': (random) => ({ ...allOf(siteOf(random)), ...clientOf(random) }),
  'site and network': (random) => ({ ...allOf(siteOf(random)), ...networkOf(random) }),
  'rule and outcome': (random) => allOf(ruleOf(random), passed),
  'site, rule, outcome': (random) =>
    allOf(siteOf(random), ruleOf(random), passed, ['severity', 'critical']),
  'two that never meet': () => allOf(['site', 'site-1'], ['rule', '949111']),
};
const byAccess: Readonly<Record<string, FilterMaker>> = {
  'path prefix': (random) => ({ pathPrefix: pathBelow(random) }),
  path: (random) => ({ pathPrefix: `${pathBelow(random)}${random(5000)}` }),
  status: (random) => anyOf('status', ['304', '404', '500'][random(3)]!),
  method: (random) => anyOf('method', random(2) === 0 ? 'GET' : 'POST'),
  route: (random) => anyOf('route', `route-${random(100)}`),
  upstream: (random) => anyOf('upstream', `upstream-${random(50)}`),
  'path prefix and status': (random) => ({
    ...anyOf('status', '500'),
    pathPrefix: `${pathBelow(random)}${random(500)}`,
  }),
  'site and status': (random) => allOf(siteOf(random), ['status', '404']),
  'site and client': (random) => ({ ...allOf(siteOf(random)), ...clientOf(random) }),
  'site, route, upstream': (random) =>
    allOf(
      siteOf(random),
      ['route', `route-${random(100)}`],
      ['upstream', `upstream-${random(50)}`],
    ),
};
const byError: Readonly<Record<string, FilterMaker>> = {
  level: () => anyOf('level', 'error'),
  'a common text': () => containing('message', 'too late'),
  'a rare text': (random) => containing('message', `answered ${random(5000)} times`),
};

/** Filters of each kind by their names. */
export const filters: Readonly<Record<KindName, Readonly<Record<string, FilterMaker>>>> = {
  security: { ...byCommon, ...byClient, ...bySecurity },
  access: { ...byCommon, ...byClient, ...byAccess },
  error: { ...byCommon, ...byError },
};
