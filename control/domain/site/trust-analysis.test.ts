/** What sampled requests say of the proxies before a site. */

import { expect, test } from 'vitest';
import { productSignals } from '../../../base/address-headers.ts';
import { analyzeSenders } from './trust-analysis.ts';

const proxy = '192.0.2.10';

function sampled(count: number, products: readonly string[], value = '203.0.113.') {
  return Array.from({ length: count }, (_, at) => ({
    peer: proxy,
    headers: { 'x-forwarded-for': `${value}${at}` },
    products,
  }));
}

test('traffic with X-Forwarded-For fills its path, and the addresses of the proxy', () => {
  const found = analyzeSenders(sampled(20, ['Varnish']), () => false);
  expect(found).toMatchObject({ suggestionKind: 'proxy', suggestionHeader: 'x-forwarded-for' });
  expect(found.paths).toMatchObject([
    {
      header: 'x-forwarded-for',
      productHint: 'Varnish',
      sampleCount: 20,
      headerSampleCount: 20,
      peerVerified: false,
      observedPeers: [proxy],
    },
  ]);
  expect(found.nodeTrustPreviews).toMatchObject([
    { nodeId: 'proxy', suggestedListName: 'Varnish addresses', ranges: [proxy], entryCount: 1 },
  ]);
});

test.each([
  [9, 'insufficient'],
  [10, 'verified'],
])('%d requests are %s', (count, confidence) => {
  const found = analyzeSenders(sampled(count, []), (peer) => peer === proxy);
  expect(found.confidence).toBe(confidence);
});

test('a peer that is trusted already is verified', () => {
  const found = analyzeSenders(sampled(20, []), (peer) => peer === proxy);
  expect(found.confidence).toBe('verified');
  expect(found.paths).toMatchObject([{ peerVerified: true, productHint: '' }]);
});

test('a product that few requests show is no hint', () => {
  const some = [...sampled(15, []), ...sampled(5, ['Squid'])];
  expect(analyzeSenders(some, () => false).paths[0]?.productHint).toBe('');
});

test('a chain has addresses for both of its proxies', () => {
  const found = analyzeSenders(sampled(20, [], '203.0.113.7, 198.51.100.'), () => false);
  expect(found.suggestionKind).toBe('proxy_chain');
  expect(found.nodeTrustPreviews.map(({ nodeId }) => nodeId)).toEqual(['outer', 'proxy']);
  expect(found.nodeTrustPreviews.map(({ entryCount }) => entryCount)).toEqual([20, 1]);
});

test.each<[string, Record<string, string>, string[]]>([
  ['nothing', {}, []],
  ['a field of one product', { 'cf-ray': '8f2' }, ['Cloudflare']],
  ['a word of Via', { via: '1.1 varnish (Varnish/7.1)' }, ['Varnish']],
  [
    'the same product twice',
    { 'cf-ray': '8f2', 'cdn-loop': 'cloudflare; loops=1' },
    ['Cloudflare'],
  ],
  ['two products', { 'x-amz-cf-id': 'a', via: '2.0 Caddy' }, ['Amazon CloudFront', 'Caddy']],
  ['a word of another field', { 'user-agent': 'varnish' }, []],
])('signals of products: %s', (_, fields, products) => {
  expect(productSignals((name) => fields[name])).toEqual(products);
});
