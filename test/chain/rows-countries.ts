/** Rows on countries: kinds, order, whose address counts, and what a bypass skips. */

import type { ChainExpected, ChainGroup, ChainRow, SetupCall } from './chain-row.ts';
import { inspectedBy, listCall, policyCalls, siteCall } from './chain-row.ts';

/** Addresses by where they are. */
const addresses = { US: '8.8.8.8', NL: '193.0.6.139', nowhere: '192.0.2.1' } as const;
type Place = keyof typeof addresses;

const attack = '/?id=1%27%20OR%20%271%27=%271';
const denied: ChainExpected = { status: 403, guards: ['country deny'], uninspected: true };
const served: ChainExpected = { status: 200, origin: 'a' };
const watched: ChainExpected = { ...served, guards: ['country monitor'] };

/** Rules of a site in order, and what a client of each place gets. */
type Case = readonly [
  rules: readonly object[],
  of: Readonly<Partial<Record<Place, ChainExpected>>>,
];
const deny = (...countryCodes: readonly string[]): object => ({ kind: 'deny', countryCodes });
const allow = (bypassMode: string, ...countryCodes: readonly string[]): object => ({
  ...{ kind: 'allow', bypassMode, countryCodes },
});

const cases: Readonly<Record<string, Case>> = {
  deny: [[deny('US')], { US: denied, NL: served, nowhere: served }],
  two: [[deny('US', 'NL')], { US: denied, NL: denied, nowhere: served }],
  apart: [[deny('US'), deny('NL')], { US: denied, NL: denied, nowhere: served }],
  only: [
    [{ ...deny('NL'), matchMode: 'not_in_list' }],
    { US: denied, NL: served, nowhere: denied },
  ],
  watch: [
    [{ kind: 'monitor', countryCodes: ['US'] }],
    { US: watched, NL: served, nowhere: served },
  ],
  'watch-then-deny': [
    [{ kind: 'monitor', countryCodes: ['US'] }, deny('US')],
    { US: { ...denied, guards: ['country monitor', 'country deny'] }, NL: served },
  ],
  'allow-first': [[allow('ip_lists_only', 'US'), deny('US')], { US: served, NL: served }],
  'deny-first': [[deny('US'), allow('ip_lists_only', 'US')], { US: denied, NL: served }],
  off: [[{ ...deny('US'), enabled: false }], { US: served, NL: served }],
  peer: [[{ ...deny('US'), addressSource: 'peer_ip' }], { US: served, NL: served }],
};

const rows = Object.entries(cases).flatMap(([key, [, of]]) =>
  Object.entries(of).map(([place, expected]): ChainRow => ({
    says: `Country rules, ${key}: a client in ${place}`,
    site: `country-${key}`,
    request: { headers: { 'x-forwarded-for': addresses[place as Place] } },
    expected,
  })),
);

/** What an attack comes to where a country is allowed. */
const inspected = (
  [
    ['all_waf', 'US', { status: 200, guards: ['country bypass'], uninspected: true }],
    ['all_waf', 'NL', { status: 403, with: [942_100] }],
    ['ip_lists_only', 'US', { status: 403, with: [942_100] }],
    ['ip_lists_only', 'NL', { status: 403, with: [942_100] }],
  ] as const
).map(([mode, place, expected]): ChainRow => ({
  says: `Country rules, allowed with ${mode}: an attack from ${place}`,
  site: `country-${mode}`,
  request: { path: attack, headers: { 'x-forwarded-for': addresses[place] } },
  expected,
}));

function countryCalls(key: string, rules: readonly object[], site: object = {}): SetupCall[] {
  const targets = [{ scope: 'site', siteId: `$site:country-${key}` }];
  const usual = { enabled: true, addressSource: 'client_ip', matchMode: 'in_list', targets };
  const extraction = { header: 'x-forwarded-for', parser: 'xff', nodeIds: ['lb'] };
  const profile = {
    nodes: [{ id: 'lb', name: 'lb', trust: { ipListIds: ['$list:country-lb'] } }],
    edges: [
      { from: 'internet', to: 'lb' },
      { from: 'lb', to: 'waf' },
    ],
    extractionRules: [{ id: 'r', enabled: true, ...extraction }],
  };
  return [
    siteCall(`country-${key}`, { ...site }),
    { rpc: 'TrustService/SetTrustProfile', body: { siteId: `$site:country-${key}`, profile } },
    ...rules.map((one, at) => ({
      rpc: 'CountryAccessService/UpsertCountryAccessRule',
      body: { rule: { ...usual, name: `${key} ${at}`, sortOrder: at + 1, ...one } },
    })),
  ];
}

/** The group. */
export const countryGroup: ChainGroup = {
  setup: [
    ...policyCalls('country', 'standard'),
    listCall('country-lb', ['127.0.0.0/8']),
    ...Object.entries(cases).flatMap(([key, [rules]]) => countryCalls(key, rules)),
    ...['all_waf', 'ip_lists_only'].flatMap((mode) =>
      countryCalls(mode, [allow(mode, 'US')], inspectedBy('country')),
    ),
  ],
  rows: [...rows, ...inspected],
};
