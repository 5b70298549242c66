/** Rows on who may enter a site: a service that is asked, and certificates of clients. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow } from './chain-row.ts';
import { domain, formType, inspectedBy, plainWays, policyCalls, secureWays } from './chain-row.ts';
import { siteCall } from './chain-row.ts';

const policyOf = 'entry';
const attack = '?id=1%27%20OR%20%271%27=%271';
const passed: ChainExpected = { status: 200, origin: 'a' };
const asked = (status: number, reason: string, more: object = {}): ChainExpected => ({
  ...{ status, outcome: 'blocked', guards: ['auth deny'], uninspected: true, refusal: reason },
  fields: { 'x-origin': null, ...more },
});
const as = (who: string): Record<string, string> => ({ cookie: `who=${who}` });

type Case = readonly [says: string, request: ChainRequest, expected: ChainExpected];
const rowsOf = (site: string, topic: string, cases: readonly Case[]): ChainRow[] =>
  cases.map(([says, request, expected]) => ({
    says: `${topic}: ${says}`,
    ...{ site, request, expected },
  }));

const unavailable = asked(503, 'auth_unavailable');
const services = rowsOf('entry-service', 'Forward authentication', [
  ['2xx lets a request continue', { path: '/in', headers: as('ann') }, passed],
  [
    'the origin gets what the service says',
    { path: '/in', headers: as('ann') },
    { ...passed, fields: { 'x-added': 'ann' } },
  ],
  [
    'no client says it in its place',
    { path: '/in', headers: { ...as('ann'), 'x-added': 'root' } },
    { ...passed, fields: { 'x-added': 'ann' } },
  ],
  [
    'no client says it where nobody is asked',
    { path: '/', headers: { 'x-added': 'root' } },
    { ...passed, fields: { 'x-added': '' } },
  ],
  [
    'no client says it by another spelling',
    { path: '/', headers: { x_added: 'root' } },
    { ...passed, fields: { 'x-added': '' } },
  ],
  [
    '401 goes to the client with its challenge',
    { path: '/in' },
    { ...asked(401, 'auth_refused', { 'www-authenticate': 'Bearer' }), body: 'who are you' },
  ],
  ['403 goes to the client', { path: '/in', headers: as('eve') }, asked(403, 'auth_refused')],
  [
    'a redirect goes to the client with its cookie',
    { path: '/in', headers: as('new') },
    {
      ...asked(302, 'auth_refused', {
        ...{ location: 'https://login.example/', 'set-cookie': 'state=1' },
      }),
      guards: ['auth redirect'],
    },
  ],
  [
    'the service learns method, host and path',
    { method: 'HEAD', path: '/in/x?y=z', headers: as('told') },
    { ...passed, fields: { 'x-added': `HEAD entry-service.${domain} /in/x?y=z` } },
  ],
  ['another status lets nobody in', { path: '/in', headers: as('ill') }, unavailable],
  ['a service that is late lets nobody in', { path: '/late', headers: as('late') }, unavailable],
  ['a service that hangs up lets nobody in', { path: '/in', headers: as('gone') }, unavailable],
  ['an answer too long lets nobody in', { path: '/in', headers: as('long') }, unavailable],
  ['a service that is not there lets nobody in', { path: '/nobody' }, unavailable],
  ['an address that is not allowed is not asked', { path: '/inside' }, unavailable],
  ['under the path, too', { path: '/in/side' }, asked(401, 'auth_refused')],
  ['case of the path does not count', { path: '/IN' }, asked(401, 'auth_refused')],
  ['dots that lead into the path', { path: '/open/../in' }, asked(401, 'auth_refused')],
  ['a path that is open again', { path: '/in/open' }, passed],
  ['a path that begins so asks nobody', { path: '/inner' }, passed],
  [
    'who is in is inspected',
    { path: `/in${attack}`, headers: as('ann') },
    { status: 403, guards: [] },
  ],
  [
    'a body waits for the answer and goes to the origin alone',
    { method: 'POST', path: '/in', body: 'a=1', headers: { ...formType, ...as('ann') } },
    { ...passed, fields: { 'x-bytes': '3' } },
  ],
  [
    'a body of a stranger is not taken',
    { method: 'POST', path: '/in', body: 'a=1', headers: formType },
    asked(401, 'auth_refused'),
  ],
]);

const refused = (reason: string): ChainExpected => ({
  ...{ status: 403, outcome: 'refused', refusal: reason, uninspected: true },
  fields: { 'x-origin': null },
});
const missing = refused('client_certificate_missing');
const invalid = refused('client_certificate_invalid');
const revoked = refused('client_certificate_revoked');
const unchecked = refused('client_certificate_unchecked');
const shown: ChainExpected = { ...passed, fields: { 'x-subject': 'CN=ann,O=Ours' } };
const forged = { headers: { 'x-client-cert-subject': 'CN=root' } };

const overTls = (site: string, topic: string, cases: readonly Case[]): ChainRow[] =>
  rowsOf(site, topic, cases).map((row) => ({ ...row, ways: secureWays }));

const certificates = [
  ...overTls('entry-strict', 'Client certificates', [
    ['a valid one is served, and its origin gets the subject', { certificate: 'ours' }, shown],
    [
      'attributes of one name stand together, as RFC 2253 writes them',
      { certificate: 'several' },
      { ...passed, forms: { 'x-subject': /^(?:OU=a\+CN=eve|CN=eve\+OU=a),O=Ours \\\+ more$/ } },
    ],
    ['nobody says a subject in its place', { certificate: 'ours', ...forged }, shown],
    ['none gets 403', {}, missing],
    ['a subject that a client writes is none', forged, missing],
    ['one of another authority gets 403', { certificate: 'other' }, invalid],
    ['one that has run out gets 403', { certificate: 'late' }, invalid],
    ['one of a server gets 403', { certificate: 'server' }, invalid],
    [
      'who shows one is inspected',
      { path: `/${attack}`, certificate: 'ours' },
      { status: 403, guards: [] },
    ],
    [
      'a handshake for another site shows none for this one',
      { serverName: `entry-lax.${domain}`, certificate: 'ours' },
      { status: 421, outcome: 'refused', refusal: 'misdirected', uninspected: true },
    ],
    [
      'a handshake for a site that asks for none shows none',
      { serverName: `entry-service.${domain}`, certificate: 'ours' },
      { status: 421, outcome: 'refused', refusal: 'misdirected', uninspected: true },
    ],
  ]),
  ...overTls('entry-lax', 'Client certificates', [
    ['where they are optional, none is served', {}, { ...passed, fields: { 'x-subject': '' } }],
    ['optional: no client says it', forged, { ...passed, fields: { 'x-subject': '' } }],
    ['optional: one that is not valid gets 403', { certificate: 'ours' }, invalid],
  ]),
  ...overTls('entry-listed', 'Revoked certificates', [
    ['with a revocation list, one that it does not name is served', { certificate: 'ours' }, shown],
    ['a revoked one gets 403', { certificate: 'revoked' }, revoked],
    [
      'who shows a revoked one is not inspected',
      { path: `/${attack}`, certificate: 'revoked' },
      revoked,
    ],
    ['with a revocation list, none gets 403', {}, missing],
    ['with a revocation list, one of another authority', { certificate: 'other' }, invalid],
    [
      'a handshake without the list shows nothing for this site',
      { serverName: `entry-strict.${domain}`, certificate: 'revoked' },
      { status: 421, outcome: 'refused', refusal: 'misdirected', uninspected: true },
    ],
  ]),
  ...overTls('entry-strict', 'Revoked certificates', [
    ['a list of another site revokes nothing here', { certificate: 'revoked' }, shown],
  ]),
  ...overTls('entry-late-list', 'Revoked certificates', [
    ['a revocation list that has run out lets nobody in', { certificate: 'ours' }, unchecked],
    ['optional: without one, no list is asked', {}, { ...passed, fields: { 'x-subject': '' } }],
  ]),
  ...overTls('entry-other-list', 'Revoked certificates', [
    ['without a list of its authority nobody is let in', { certificate: 'ours' }, unchecked],
  ]),
  ...rowsOf('entry-strict', 'Client certificates', [
    ['without TLS there is none', {}, missing],
    ['no field stands in for TLS', { headers: { 'x-forwarded-proto': 'https' } }, missing],
  ]).map((row) => ({ ...row, ways: plainWays })),
];

const siteOf = (key: string, delivery: object) =>
  siteCall(key, { ...inspectedBy(policyOf), delivery });
const certificatesOf = (list: string, optional = false) => ({
  clientCertificates: { caPem: '$authority:ours', crlPem: `$crl:${list}`, optional },
});
const loopback = { allowedNetworks: ['127.0.0.0/8'] };

/** The group. */
export const entryGroup: ChainGroup = {
  setup: [
    ...policyCalls(policyOf, 'standard'),
    siteOf('entry-service', {
      forwardAuth: [
        {
          ...{ pathPrefix: '/in', url: '$origin:auth/verify', copiedFields: ['X-Added'] },
          ...{ timeoutMs: 60_000, ...loopback },
        },
        { pathPrefix: '/late', url: '$origin:auth/verify', timeoutMs: 500, ...loopback },
        { pathPrefix: '/in/open', open: true },
        { pathPrefix: '/nobody', url: 'http://127.0.0.1:1/', ...loopback },
        { pathPrefix: '/inside', url: '$origin:auth/verify' },
      ],
    }),
    siteOf('entry-strict', { clientCertificates: { caPem: '$authority:ours' } }),
    siteOf('entry-listed', certificatesOf('ours')),
    siteOf('entry-late-list', certificatesOf('late', true)),
    siteOf('entry-other-list', certificatesOf('other')),
    siteOf('entry-lax', { clientCertificates: { caPem: '$authority:other', optional: true } }),
  ],
  rows: [...services, ...certificates],
};
