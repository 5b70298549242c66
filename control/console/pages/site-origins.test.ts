/** Tests that an edit of origins loses nothing that the form does not show. */

import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { SiteUpstreamSchema } from '../../../proto/gen/waf/v1/site_pb.ts';
import { enteredOrigins, urlOf, whatIsLeft } from './site-origins.ts';

const first = create(SiteUpstreamSchema, {
  inline: { url: 'https://a.example:8443', weight: 3 },
  requestHeaders: { 'x-key': 'a' },
  tls: { skipVerify: true },
});
const second = create(SiteUpstreamSchema, {
  inline: { url: 'http://b.example', weight: 2 },
  requestHeaders: { 'x-key': 'b' },
});
const pool = create(SiteUpstreamSchema, { upstreamId: 'pool-1' });

test('an address with another port keeps weight, headers and TLS', () => {
  const made = enteredOrigins([first, second], '', ['http://b.example', 'https://a.example:9443']);
  expect(made).toEqual([
    second,
    { ...first, inline: { ...first.inline, url: 'https://a.example:9443' } },
  ]);
});

test('each setting is taken over once, and a further address has none', () => {
  const made = enteredOrigins([second], '', ['http://c.example', 'http://d.example']);
  expect(made.map(({ requestHeaders }) => requestHeaders)).toEqual([{ 'x-key': 'b' }, {}]);
  expect(made.map(urlOf)).toEqual(['http://c.example', 'http://d.example']);
  expect(made.map(({ inline }) => inline?.weight)).toEqual([2, 1]);
});

test('a pool in place of addresses names the addresses first', () => {
  expect(enteredOrigins([first], 'pool-1', [urlOf(first)])).toEqual([pool]);
  expect(whatIsLeft([first], 'pool-1', [urlOf(first)])).toEqual(['https://a.example:8443']);
  expect(whatIsLeft([pool], 'pool-1', ['http://new.example'])).toEqual(['http://new.example']);
});

test('nothing is asked where nothing is lost', () => {
  expect(whatIsLeft([pool], 'pool-1', [])).toEqual([]);
  expect(whatIsLeft([first], '', ['http://new.example'])).toEqual([]);
});
