/** Rows on who the client is: which header counts, from whom, and which of its addresses. */

import type { ChainGroup, ChainRow, SetupCall } from './chain-row.ts';
import { listCall, siteCall } from './chain-row.ts';

/** The client that a list denies, one that it does not, and a proxy before the balancer. */
const bad = '198.51.100.7';
const good = '192.0.2.50';
const edge = '203.0.113.9';

interface Profile {
  readonly nodes?: readonly object[];
  readonly edges?: readonly object[];
  readonly extractionRules: readonly object[];
}

const node = (id: string, list: string, xffMode = ''): object => ({
  ...{ id, name: id, xffMode, trust: { ipListIds: [`$list:${list}`] } },
});
const way = (...ids: readonly string[]): object[] =>
  ids.slice(1).map((to, at) => ({ from: ids[at], to }));
const rule = (header: string, parser: string, more: object = {}): object => ({
  ...{ id: `of-${header || 'peer'}`, header, parser, nodeIds: ['lb'], enabled: true, ...more },
});
const behind = (list: string, ...extractionRules: readonly object[]): Profile => ({
  ...{ nodes: [node('lb', list)], edges: way('internet', 'lb', 'waf'), extractionRules },
});
const lists = (more: object): Profile => behind('trust-lb', rule('x-forwarded-for', 'xff', more));
const written = (mode: string): Profile => ({
  ...lists({}),
  nodes: [node('lb', 'trust-lb', mode)],
});
const position = (count: number, positionFrom: string): Profile =>
  lists({ selector: 'position', position: count, positionFrom });

/** Headers as sent, and whether the client is the one that is denied. */
type Sent = readonly [says: string, headers: Readonly<Record<string, string>>, denied: boolean];
const xff = (...hops: readonly string[]): Readonly<Record<string, string>> => ({
  'x-forwarded-for': hops.join(', '),
});
const real = (value: string) => ({ 'x-real-ip': value });
const forwarded = (value: string) => ({ forwarded: value });
const once = (denied: boolean): readonly Sent[] => [
  ['the client that it names', xff(bad), denied],
  ['another client', xff(good), false],
];

const profiles: Readonly<Record<string, readonly [Profile, readonly Sent[]]>> = {
  single: [
    behind('trust-lb', rule('x-real-ip', 'single_ip')),
    [
      ['the address', real(bad), true],
      ['another address', real(good), false],
      ['two addresses are none', real(`${bad}, ${good}`), false],
      ['two addresses are none, whatever their order', real(`${good}, ${bad}`), false],
      ['no address', real('nobody'), false],
      ['an empty value', real(''), false],
      ['an address of version 6', real('2001:db8::7'), true],
      ['a header that the profile does not name', xff(bad), false],
      ['no header', {}, false],
    ],
  ],
  forwarded: [
    behind('trust-lb', rule('forwarded', 'forwarded')),
    [
      ['the address', forwarded(`for=${bad}`), true],
      ['another address', forwarded(`for=${good}`), false],
      ['case of a name does not count', forwarded(`For=${bad}`), true],
      ['further parameters', forwarded(`for=${bad};proto=https;by=${good}`), true],
      ['the last one that no proxy has', forwarded(`for=${good}, for=${bad}`), true],
      ['what is claimed before it', forwarded(`for=${bad}, for=${good}`), false],
      ['version 6 in brackets', forwarded('for="[2001:db8::7]"'), true],
      ['an unknown client', forwarded('for=unknown'), false],
      ['no client', forwarded('proto=https'), false],
    ],
  ],
  leftmost: [
    lists({ selector: 'leftmost' }),
    [
      ['the first counts', xff(bad, good), true],
      ['the last does not', xff(good, bad), false],
    ],
  ],
  rightmost: [
    lists({ selector: 'rightmost' }),
    [
      ['the last counts', xff(good, bad), true],
      ['the first does not', xff(bad, good), false],
    ],
  ],
  'from-left': [
    position(2, 'left'),
    [
      ['the second counts', xff(good, bad, good), true],
      ['the first does not', xff(bad, good, good), false],
      ['the third does not', xff(good, good, bad), false],
    ],
  ],
  'from-right': [
    position(2, 'right'),
    [
      ['the second from the end counts', xff(good, bad, good), true],
      ['the last does not', xff(good, good, bad), false],
      ['past the list it is the leftmost', xff(bad), true],
    ],
  ],
  unproved: [
    {
      extractionRules: [
        rule('x-forwarded-for', 'xff', {
          ...{ nodeIds: [], selector: 'leftmost', allowUntrusted: true },
        }),
      ],
    },
    [
      ['a header counts without proof', xff(bad, good), true],
      ['another client without proof', xff(good, bad), false],
    ],
  ],
  off: [lists({ enabled: false }), once(false)],
  stranger: [behind('trust-away', rule('x-forwarded-for', 'xff')), once(false)],
  first: [
    behind('trust-lb', rule('true-client-ip', 'single_ip'), rule('x-forwarded-for', 'xff')),
    [
      ['the first rule decides', { 'true-client-ip': good, ...xff(bad) }, false],
      ['the first rule decides, denied', { 'true-client-ip': bad, ...xff(good) }, true],
      ['the next one where its header was not sent', xff(bad), true],
      ['the next one where its header is no address', { 'true-client-ip': 'x', ...xff(bad) }, true],
    ],
  ],
  peer: [
    behind('trust-lb', rule('', 'remote_addr', { nodeIds: [] }), rule('x-forwarded-for', 'xff')),
    once(false),
  ],
  chain: [
    {
      nodes: [node('cdn', 'trust-edge'), node('lb', 'trust-lb')],
      edges: way('internet', 'cdn', 'lb', 'waf'),
      extractionRules: [rule('x-forwarded-for', 'xff', { nodeIds: ['cdn'] })],
    },
    [
      ['a way that is proved whole', xff(bad, edge), true],
      ['what is claimed before the client', xff(bad, good, edge), false],
      ['the client after what it claims', xff(good, bad, edge), true],
      ['a way without its first proxy', xff(bad), false],
      ['a way by a proxy that is not known', xff(bad, good), false],
    ],
  ],
  ...Object.fromEntries(
    (
      [
        ['auto', true],
        ['append', true],
        ['overwrite', true],
        ['preserve', false],
        ['duplicate', false],
        ['unknown', false],
      ] as const
    ).map(([mode, denied]) => [`mode-${mode}`, [written(mode), once(denied)]] as const),
  ),
};

const rows = Object.entries(profiles).flatMap(([key, [, sent]]) =>
  sent.map(([says, headers, denied]): ChainRow => ({
    says: `Client-IP trust, ${key}: ${says}`,
    site: `trust-${key}`,
    request: { path: '/client', headers },
    expected: denied
      ? { status: 403, guards: ['ip deny'], uninspected: true }
      : { status: 200, origin: 'a' },
  })),
);

function profileCalls(key: string, profile: Profile): SetupCall[] {
  const binding = {
    ...{ siteId: `$site:trust-${key}`, ipListId: '$list:trust-bad', kind: 'deny', sortOrder: 1 },
    ...{ addressSource: 'client_ip', matchMode: 'in_list', pathPrefix: '/client' },
  };
  const body = { siteId: `$site:trust-${key}`, profile };
  return [
    siteCall(`trust-${key}`),
    { rpc: 'IpListService/UpsertIpListBinding', body: { binding } },
    { rpc: 'TrustService/SetTrustProfile', body },
  ];
}

/** The group. */
export const trustGroup: ChainGroup = {
  setup: [
    listCall('trust-lb', ['127.0.0.0/8']),
    listCall('trust-away', ['192.0.2.0/28']),
    listCall('trust-edge', ['203.0.113.0/24']),
    listCall('trust-bad', [bad, '2001:db8::/32']),
    ...Object.entries(profiles).flatMap(([key, [profile]]) => profileCalls(key, profile)),
  ],
  rows,
};
