/** Rows on clients that a balancer names in a PROXY header, and on who is believed after it. */

import type { ChainExpected, ChainGroup, ChainRow, SetupCall } from './chain-row.ts';
import { listCall, siteCall } from './chain-row.ts';

/** The client that a list denies, one that it does not, and a proxy before the balancer. */
const bad = '198.51.100.7';
const good = '192.0.2.50';
const edge = '203.0.113.9';
const denied: ChainExpected = { status: 403, guards: ['ip deny'], uninspected: true };
const served: ChainExpected = { status: 200, origin: 'a' };
/** The connection is closed without an answer. */
const closed: ChainExpected = { status: 0, unnamed: true };

/** A header of version 1 that names a client. */
export const proxyLine = (from: string, family = 'TCP4', to = '192.0.2.1'): string =>
  `PROXY ${family} ${from} ${to} 40000 443\r\n`;

/** Version 2 as bytes: command and family, then both ends. */
function v2(command: number, from: readonly number[], fields = ''): string {
  const ends = [...from, ...(from.length === 4 ? [192, 0, 2, 1] : new Array<number>(16).fill(1))];
  const family = from.length === 4 ? 0x11 : 0x21;
  const rest = String.fromCharCode(...ends, 0x9c, 0x40, 1, 0xbb) + fields;
  const length = String.fromCharCode(rest.length >> 8, rest.length & 255);
  return `\r\n\r\n\0\r\nQUIT\n${String.fromCharCode(0x20 | command, family)}${length}${rest}`;
}

const badBytes = [198, 51, 100, 7];
const badSix = [0x20, 0x01, 0x0d, 0xb8, ...new Array<number>(11).fill(0), 7];

/** Header of the balancer, fields of the request, site, and what becomes of it. */
type Told = readonly [
  says: string,
  proxy: string,
  headers: Readonly<Record<string, string>>,
  expected: ChainExpected,
];
const xff = (...hops: readonly string[]) => ({ 'x-forwarded-for': hops.join(', ') });

const plain: readonly Told[] = [
  ['the client that it names', proxyLine(bad), {}, denied],
  ['another client', proxyLine(good), {}, { ...served, fields: { 'x-for': good } }],
  ['a client of version 6', proxyLine('2001:db8::7', 'TCP6', '2001:db8::1'), {}, denied],
  ['version 2', v2(1, badBytes), {}, denied],
  ['version 2, another client', v2(1, [192, 0, 2, 50]), {}, served],
  ['version 2, a client of version 6', v2(1, badSix), {}, denied],
  ['version 2 with fields', v2(1, badBytes, '\x04\0\x03abc'), {}, denied],
  ['a probe of the balancer itself, version 2', v2(0, []), {}, served],
  ['nobody is named', 'PROXY UNKNOWN\r\n', {}, served],
  ['what a client claims besides does not count', proxyLine(good), xff(bad), served],
  ['what a client claims does not lead past it', proxyLine(bad), xff(good), denied],
  ['no header', '', {}, closed],
  ['an address that is none', 'PROXY TCP4 nobody 192.0.2.1 1 2\r\n', {}, closed],
  ['an address of the other family', proxyLine(bad, 'TCP6'), {}, closed],
  ['a header that does not end its line', 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\n', {}, closed],
  ['a header in lower case', proxyLine(bad).toLowerCase(), {}, closed],
];

/** A site that believes one proxy, which the balancer names as its client. */
const trusting: readonly Told[] = [
  ['its client is believed', proxyLine(edge), xff(bad), denied],
  ['another client of it', proxyLine(edge), xff(good), served],
  ['the client after what it claims', proxyLine(edge), xff(good, bad), denied],
  ['what is claimed before it', proxyLine(edge), xff(bad, good), served],
  ['nobody else is believed', proxyLine(good), xff(bad), served],
  ['nobody else leads past it', proxyLine(bad), xff(good), denied],
];

/** A site that trusts the balancer's own address: it is no client's, and counts for nobody. */
const wrong: readonly Told[] = [
  ['the address of the balancer is nobody', proxyLine(good), xff(bad), served],
  ['the client is the one that is named', proxyLine(bad), xff(good), denied],
];

const rows = (site: string, of: string, told: readonly Told[]): ChainRow[] =>
  told.map(([says, proxy, headers, expected]) => ({
    ...{ says: `PROXY protocol, ${of}: ${says}`, site },
    request: { path: '/client', proxy, headers },
    expected,
  }));

const stranger: ChainRow = {
  says: 'PROXY protocol: a client of another network is read as it comes',
  ...{ site: 'named', request: { path: '/client' }, expected: served },
};

const profileCall = (site: string, list: string): SetupCall => ({
  rpc: 'TrustService/SetTrustProfile',
  body: {
    siteId: `$site:${site}`,
    profile: {
      nodes: [{ id: 'lb', name: 'lb', trust: { ipListIds: [`$list:${list}`] } }],
      edges: [
        { from: 'internet', to: 'lb' },
        { from: 'lb', to: 'waf' },
      ],
      extractionRules: [
        {
          ...{ id: 'xff', header: 'x-forwarded-for', parser: 'xff', nodeIds: ['lb'] },
          enabled: true,
        },
      ],
    },
  },
});
const denies = (site: string): SetupCall => ({
  rpc: 'IpListService/UpsertIpListBinding',
  body: {
    binding: {
      ...{ siteId: `$site:${site}`, ipListId: '$list:named-bad', kind: 'deny', sortOrder: 1 },
      ...{ addressSource: 'client_ip', matchMode: 'in_list', pathPrefix: '/client' },
    },
  },
});

/** The group. */
export const proxiedGroup: ChainGroup = {
  setup: [
    listCall('named-bad', [bad, '2001:db8::/32']),
    listCall('named-edge', [edge]),
    listCall('named-lb', ['127.0.0.0/8']),
    ...['named', 'named-edge', 'named-lb'].flatMap((site) => [siteCall(site), denies(site)]),
    profileCall('named-edge', 'named-edge'),
    profileCall('named-lb', 'named-lb'),
  ],
  rows: [
    ...rows('named', 'no profile', plain),
    ...rows('named-edge', 'one more proxy', trusting),
    ...rows('named-lb', 'the balancer trusted', wrong),
    stranger,
  ],
};
