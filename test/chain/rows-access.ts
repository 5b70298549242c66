/** Rows on lists of addresses and on countries: who is let in, and what a bypass skips. */

import type { ChainExpected, ChainGroup, ChainRow, SetupCall } from './chain-row.ts';
import { inspectedBy, listCall, policyCalls, siteCall } from './chain-row.ts';

/** An attack that the rules block with 403 where they are asked. */
const attack = 'id=1%27%20OR%20%271%27=%271';

interface Bound {
  readonly path: string;
  readonly list: string;
  readonly more?: Readonly<Record<string, unknown>>;
  /** What it does to a client that meets it; an end of the lists alone is not recorded. */
  readonly met: 'deny' | 'bypass' | 'monitor' | 'nothing';
  /** Whether 127.0.1.30 and 127.0.1.40 meet it. */
  readonly thirty: boolean;
  readonly forty: boolean;
  /** A bypass of the rules, too. */
  readonly skipsRules?: boolean;
}

const bounds: readonly Bound[] = [
  { path: '/deny', list: 'thirty', met: 'deny', thirty: true, forty: false },
  { path: '/deny-net', list: 'net', met: 'deny', thirty: true, forty: true },
  { path: '/deny-half', list: 'half', met: 'deny', thirty: true, forty: false },
  { path: '/deny-none', list: 'empty', met: 'deny', thirty: false, forty: false },
  { path: '/deny-v6', list: 'v6', met: 'deny', thirty: false, forty: false },
  ...(['thirty', 'empty'] as const).map((list): Bound => ({
    path: `/only-${list}`,
    list,
    more: { matchMode: 'not_in_list' },
    met: 'deny',
    thirty: list === 'empty',
    forty: true,
  })),
  {
    ...{ path: '/peer', list: 'thirty', more: { addressSource: 'peer_ip' }, met: 'deny' },
    ...{ thirty: true, forty: false },
  },
  {
    ...{ path: '/allow', list: 'thirty', more: { kind: 'allow', bypassMode: 'all_waf' } },
    ...{ met: 'bypass', thirty: true, forty: false, skipsRules: true },
  },
  {
    ...{ path: '/pass', list: 'thirty', more: { kind: 'allow', bypassMode: 'ip_lists_only' } },
    ...{ met: 'nothing', thirty: true, forty: false },
  },
  {
    ...{ path: '/watch', list: 'thirty', more: { kind: 'monitor' }, met: 'monitor' },
    ...{ thirty: true, forty: false },
  },
];

function bindingCall(site: string, { path, list, more }: Bound, order: number): SetupCall {
  const binding = {
    ...{ siteId: `$site:${site}`, ipListId: `$list:${list}`, kind: 'deny', sortOrder: order },
    ...{ addressSource: 'client_ip', matchMode: 'in_list', pathPrefix: path, ...more },
  };
  return { rpc: 'IpListService/UpsertIpListBinding', body: { binding } };
}

/** What a request to a bound path comes to. */
function expectedOf(bound: Bound, meets: boolean, attacks: boolean): ChainExpected {
  const guards = meets && bound.met !== 'nothing' ? { guards: [`ip ${bound.met}`] } : {};
  if (meets && bound.met === 'deny') return { status: 403, ...guards, uninspected: true };
  if (meets && bound.skipsRules === true) return { status: 200, ...guards, uninspected: true };
  return attacks
    ? { status: 403, ...guards, with: [942_100] }
    : { status: 200, ...guards, uninspected: false };
}

const boundRows = bounds.flatMap((bound) =>
  [30, 40].flatMap((from) => {
    const meets = from === 30 ? bound.thirty : bound.forty;
    const of = `${bound.path}, client ${from}`;
    return [
      {
        says: `IP rules: ${of}`,
        site: 'access',
        request: { path: `${bound.path}/x`, from },
        expected: expectedOf(bound, meets, false),
      },
      {
        says: `IP rules: ${of}, an attack`,
        site: 'access',
        request: { path: `${bound.path}?${attack}`, from },
        expected: expectedOf(bound, meets, true),
      },
      {
        says: `IP rules: a prefix is bounded by segments, ${of}`,
        site: 'access',
        request: { path: `${bound.path}x`, from },
        expected: { status: 200, uninspected: false },
      },
    ] satisfies ChainRow[];
  }),
);

const spelled = (
  [
    ['case does not count', '/DENY/x', 403],
    ['an escape does not count', '/%64eny/x', 403],
    ['dots do not lead past it', '/open/../deny/x', 403],
    ['dots do not lead out of a list that denies', '/deny/../open', 403],
    ['what some origins take for a host does not lead past it', '//x/deny/x', 403],
    ['nor do backslashes', '/\\x\\deny', 403],
    ['nor does a parameter of a segment', '/x/..;/deny;y', 403],
    ['nor does a script', '/index.php/deny', 403],
  ] as const
).map(([says, path, status]): ChainRow => {
  const denied: ChainExpected = { status, guards: ['ip deny'] };
  const expected: ChainExpected = status === 403 ? denied : { status };
  return { says: `IP rules: ${says}`, site: 'access', request: { path, from: 30 }, expected };
});

/** Behind a proxy that is trusted: the client is who it names. */
const named = (
  [
    ['the client is in the list', '/client', '198.51.100.7', 403, ['ip deny']],
    ['the client is not in the list', '/client', '203.0.113.7', 200, []],
    ['the peer is in the list, whoever the client is', '/peer', '203.0.113.7', 403, ['ip deny']],
    [
      'the last address that no proxy has is the client',
      '/client',
      '198.51.100.7, 203.0.113.7',
      200,
      [],
    ],
    [
      'what a client claims before it does not count',
      '/client',
      '203.0.113.7, 198.51.100.7',
      403,
      ['ip deny'],
    ],
    ['an address of version 6', '/client', '2001:db8::7', 403, ['ip deny']],
    [
      'a mapped address is the one of version 4',
      '/client',
      '::ffff:198.51.100.7',
      403,
      ['ip deny'],
    ],
    ['a country that is denied', '/', '8.8.8.8', 403, ['country deny']],
    ['a country that is not named', '/', '193.0.6.139', 200, []],
    ['no country is known', '/', '192.0.2.1', 200, []],
    ['a list comes before a country', '/peer', '8.8.8.8', 403, ['ip deny']],
    ['a list that allows skips countries as well', '/friends', '8.8.8.8', 200, ['ip bypass']],
  ] as const
).map(([says, path, client, status, guards]): ChainRow => {
  const headers = { 'x-forwarded-for': client };
  const expected: ChainExpected = { status, guards };
  return {
    says: `IP rules behind a proxy: ${says}`,
    site: 'proxied',
    request: { path, headers },
    expected,
  };
});

const untrusted: ChainRow = {
  says: 'Client-IP trust: without a profile no header counts',
  site: 'access',
  request: { path: '/deny/x', from: 40, headers: { 'x-forwarded-for': '127.0.1.30' } },
  expected: { status: 200 },
};

const ordered = (
  [
    ['an allowing list that comes first', '/first', ['ip bypass'], 200],
    ['a denying list that comes first', '/last', ['ip deny'], 403],
  ] as const
).map(([says, path, guards, status]): ChainRow => {
  const expected: ChainExpected = { status, guards };
  return { says: `IP rules: ${says}`, site: 'access', request: { path, from: 30 }, expected };
});

const allow = { kind: 'allow', bypassMode: 'all_waf' };
const plain = { met: 'deny', thirty: true, forty: true } as const;
const country = (name: string, codes: readonly string[], site: string): SetupCall => {
  const targets = [{ scope: 'site', siteId: `$site:${site}` }];
  const choice = { kind: 'deny', addressSource: 'client_ip', matchMode: 'in_list' };
  const rule = { name, countryCodes: codes, enabled: true, ...choice, targets };
  return { rpc: 'CountryAccessService/UpsertCountryAccessRule', body: { rule } };
};

/** The group. */
export const accessGroup: ChainGroup = {
  setup: [
    ...policyCalls('access', 'standard'),
    listCall('thirty', ['127.0.1.30']),
    listCall('net', ['127.0.1.0/24']),
    listCall('half', ['127.0.1.0/27', '127.0.1.30/32']),
    listCall('empty', []),
    listCall('v6', ['::1', '2001:db8::/32']),
    listCall('named', ['198.51.100.0/24', '2001:db8::/32']),
    listCall('proxies', ['127.0.0.0/8']),
    listCall('friends', ['8.8.8.8']),
    siteCall('access', inspectedBy('access')),
    ...bounds.map((bound, at) => bindingCall('access', bound, at + 1)),
    bindingCall('access', { ...plain, path: '/first', list: 'thirty', more: allow }, 50),
    bindingCall('access', { ...plain, path: '/first', list: 'net' }, 51),
    bindingCall('access', { ...plain, path: '/last', list: 'net' }, 60),
    bindingCall('access', { ...plain, path: '/last', list: 'half', more: allow }, 61),
    siteCall('proxied'),
    bindingCall('proxied', { ...plain, path: '/client', list: 'named' }, 1),
    bindingCall(
      'proxied',
      { ...plain, path: '/peer', list: 'proxies', more: { addressSource: 'peer_ip' } },
      2,
    ),
    bindingCall('proxied', { ...plain, path: '/friends', list: 'friends', more: allow }, 3),
    country('no visitors', ['US'], 'proxied'),
    {
      rpc: 'TrustService/SetTrustProfile',
      body: {
        siteId: '$site:proxied',
        profile: {
          nodes: [{ id: 'lb', name: 'balancer', trust: { ipListIds: ['$list:proxies'] } }],
          edges: [
            { from: 'internet', to: 'lb' },
            { from: 'lb', to: 'waf' },
          ],
          extractionRules: [
            {
              ...{ id: 'r1', header: 'x-forwarded-for', parser: 'xff', nodeIds: ['lb'] },
              enabled: true,
            },
          ],
        },
      },
    },
  ],
  rows: [...boundRows, ...spelled, ...named, untrusted, ...ordered],
};
