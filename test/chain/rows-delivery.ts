/** Rows on sites that answer plain HTTP for certificate authorities alone. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow } from './chain-row.ts';
import {
  domain,
  formType,
  inspectedBy,
  plainWays,
  policyCalls,
  secureWays,
  siteCall,
} from './chain-row.ts';

const refused: ChainExpected = {
  ...{ status: 404, outcome: 'refused', refusal: 'plain_http', uninspected: true },
  fields: { 'x-origin': null, location: null, 'strict-transport-security': null },
};

const requests: readonly (readonly [says: string, request: ChainRequest])[] = [
  ['a page', {}],
  ['any path', { path: '/shop/x?a=b' }],
  ['a HEAD', { method: 'HEAD' }],
  ['a POST', { method: 'POST', headers: formType, body: 'a=1' }],
  ['an attack, which is not looked at', { path: '/?id=1%27%20OR%20%271%27=%271' }],
  ['a browser', { headers: { accept: 'text/html' } }],
  ['the folder of authorities without a token', { path: '/.well-known/acme-challenge/' }],
  ['a token that nobody asked for', { path: '/.well-known/acme-challenge/unknown-token' }],
  ['the port of HTTPS in its host', { host: `acme-only.${domain}:443` }],
];

const plain = requests.map(([says, request]): ChainRow => ({
  says: `ACME-only HTTP: ${says} gets nothing without TLS`,
  ...{ site: 'acme-only', ways: plainWays, request, expected: refused },
}));

const secure: readonly ChainRow[] = [
  ['a page', {}] as const,
  ["a token, which is the origin's business", { path: '/.well-known/acme-challenge/x' }] as const,
].map(([says, request]) => ({
  says: `ACME-only HTTP: ${says} is served over TLS`,
  ...{ site: 'acme-only', ways: secureWays, request, expected: { status: 200, origin: 'a' } },
}));

const attack: ChainRow = {
  says: 'ACME-only HTTP: an attack is blocked over TLS',
  ...{ site: 'acme-only', ways: secureWays },
  request: { path: '/?id=1%27%20OR%20%271%27=%271' },
  expected: { status: 403, with: [942_100] },
};

/** The group. */
export const deliveryGroup: ChainGroup = {
  setup: [
    ...policyCalls('acme-only', 'standard'),
    siteCall('acme-only', {
      ...inspectedBy('acme-only'),
      tls: {
        mode: 'TLS_MODE_UPLOADED',
        certId: '$cert:chain',
        httpBehavior: 'TLS_HTTP_BEHAVIOR_ACME_ONLY',
      },
    }),
  ],
  rows: [...plain, ...secure, attack],
};
