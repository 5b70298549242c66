/** The proof of client addresses: one row a rule of what may be believed, and forgeries. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientIpRule } from '../../test/support/client-ip-rule.ts';
import { parseNetwork } from '../../base/ip-address.ts';
import type { ClientIpRuleConfig, TrustConfig } from '../contract/trust.ts';
import { ClientIpResolver } from './client-ip.ts';
import { readForwarded, readHop } from './forwarded.ts';

const ranges = (...texts: string[]): string[] => texts.map((text) => parseNetwork(text) ?? '');
const lb = { id: 'lb', ranges: ranges('10.0.0.0/24', 'fd00::/64'), xffMode: 'append' };
const cdn = { id: 'cdn', ranges: ranges('198.51.100.0/24'), xffMode: '' };
const edge = (from: string, to: string) => ({ from, to });
const one = (more: Partial<ClientIpRuleConfig> = {}, mode = 'append'): TrustConfig => ({
  nodes: [{ ...lb, xffMode: mode }],
  edges: [edge('internet', 'lb'), edge('lb', 'waf')],
  rules: [clientIpRule(more)],
});
/** internet -> cdn -> lb -> waf. */
const two = (
  more: Partial<ClientIpRuleConfig> = {},
  lbMode = 'append',
  cdnMode = '',
): TrustConfig => ({
  nodes: [
    { ...lb, xffMode: lbMode },
    { ...cdn, xffMode: cdnMode },
  ],
  edges: [edge('internet', 'cdn'), edge('cdn', 'lb'), edge('lb', 'waf')],
  rules: [clientIpRule({ nodeIds: ['cdn'], ...more })],
});
/** Both: with and without the cdn. */
const both: TrustConfig = {
  ...two({ nodeIds: ['lb'] }),
  edges: [...two().edges, edge('internet', 'lb')],
};
const none: TrustConfig = { nodes: [], edges: [], rules: [] };

type Headers = Readonly<Record<string, string | readonly string[]>>;
const resolve = (config: TrustConfig, peer: string, headers: Headers) =>
  new ClientIpResolver(config).resolve(peer, (name) => {
    const value = headers[name];
    return value === undefined ? [] : typeof value === 'string' ? [value] : value;
  });

const xff = (text: string): Headers => ({ 'x-forwarded-for': text });
const c = '203.0.113.9';
/** What is asked, then the address and its source header ('' for the peer), then spoofed. */
const table: readonly (readonly [string, TrustConfig, string, Headers, string, string, boolean])[] =
  [
    ['no profile: the peer', none, c, {}, c, '', false],
    ['no profile: a header is a forgery', none, c, xff('1.1.1.1'), c, '', true],
    ['no profile: the peer names itself', none, c, xff(c), c, '', false],
    ['trusted peer', one(), '10.0.0.7', xff(c), c, 'x-forwarded-for', false],
    [
      'trusted IPv6 peer',
      one(),
      'fd00::1',
      xff('[2001:db8::1]:443'),
      '2001:db8::1',
      'x-forwarded-for',
      false,
    ],
    ['peer mapped into IPv6', one(), '::ffff:10.0.0.7', xff(c), c, 'x-forwarded-for', false],
    ['untrusted peer', one(), '10.0.1.7', xff(c), '10.0.1.7', '', true],
    [
      'what the client put before',
      one(),
      '10.0.0.7',
      xff(`1.1.1.1, ${c}`),
      c,
      'x-forwarded-for',
      false,
    ],
    [
      'several fields',
      one(),
      '10.0.0.7',
      { 'x-forwarded-for': ['1.1.1.1', c] },
      c,
      'x-forwarded-for',
      false,
    ],
    ['with a port', one(), '10.0.0.7', xff(`${c}:5555`), c, 'x-forwarded-for', false],
    ['no address in its place', one(), '10.0.0.7', xff(`${c}, unknown`), '10.0.0.7', '', false],
    ['header missing', one(), '10.0.0.7', {}, '10.0.0.7', '', false],
    ['rule off', one({ enabled: false }), '10.0.0.7', xff(c), '10.0.0.7', '', false],
    ['two hops', two(), '10.0.0.7', xff(`${c}, 198.51.100.1`), c, 'x-forwarded-for', false],
    ['two hops, the first missing', two(), '10.0.0.7', xff(c), '10.0.0.7', '', true],
    ['two hops, past the cdn', two(), '10.0.0.7', xff(`${c}, 198.51.101.1`), '10.0.0.7', '', true],
    ['two hops, too short', two(), '10.0.0.7', xff('198.51.100.1'), '10.0.0.7', '', false],
    [
      'either way: the long one',
      both,
      '10.0.0.7',
      xff(`${c}, 198.51.100.1`),
      c,
      'x-forwarded-for',
      false,
    ],
    [
      'either way: the short one',
      both,
      '10.0.0.7',
      xff(`198.51.100.1, ${c}`),
      c,
      'x-forwarded-for',
      false,
    ],
    ['overwrite, alone', one({}, 'overwrite'), '10.0.0.7', xff(c), c, 'x-forwarded-for', false],
    [
      'overwrite that reports more',
      one({}, 'overwrite'),
      '10.0.0.7',
      xff(`1.1.1.1, ${c}`),
      '10.0.0.7',
      '',
      false,
    ],
    [
      'overwrite behind a proxy',
      two({}, 'overwrite'),
      '10.0.0.7',
      xff(`${c}, 198.51.100.1`),
      '10.0.0.7',
      '',
      false,
    ],
    [
      'overwrite at the edge',
      two({}, 'append', 'overwrite'),
      '10.0.0.7',
      xff(`${c}, 198.51.100.1`),
      c,
      'x-forwarded-for',
      false,
    ],
    ['preserve on the way', one({}, 'preserve'), '10.0.0.7', xff(c), '10.0.0.7', '', false],
    ['duplicate on the way', one({}, 'duplicate'), '10.0.0.7', xff(c), '10.0.0.7', '', false],
    [
      'unknown on the way',
      two({}, 'append', 'unknown'),
      '10.0.0.7',
      xff(`${c}, 198.51.100.1`),
      '10.0.0.7',
      '',
      false,
    ],
    ['auto', one({}, 'auto'), '10.0.0.7', xff(c), c, 'x-forwarded-for', false],
    [
      'single header of the cdn',
      two({ header: 'cf-connecting-ip', parser: 'single_ip' }),
      '10.0.0.7',
      { 'cf-connecting-ip': c, ...xff(`1.1.1.1, 198.51.100.1`) },
      c,
      'cf-connecting-ip',
      false,
    ],
    [
      'single header past the cdn',
      two({ header: 'cf-connecting-ip', parser: 'single_ip' }),
      '10.0.0.7',
      { 'cf-connecting-ip': '1.1.1.1', ...xff(c) },
      '10.0.0.7',
      '',
      true,
    ],
    [
      'single header sent twice',
      one({ header: 'x-real-ip', parser: 'single_ip' }),
      '10.0.0.7',
      { 'x-real-ip': [c, '1.1.1.1'] },
      '10.0.0.7',
      '',
      false,
    ],
    [
      'forwarded',
      one({ header: 'forwarded', parser: 'forwarded' }),
      '10.0.0.7',
      { forwarded: 'for=1.1.1.1;proto=https, For="[2001:db8::7]:4711";by=_x' },
      '2001:db8::7',
      'forwarded',
      false,
    ],
    [
      'fixed leftmost',
      one({ selector: 'leftmost' }),
      '10.0.0.7',
      xff(`1.1.1.1, ${c}`),
      '1.1.1.1',
      'x-forwarded-for',
      false,
    ],
    [
      'fixed rightmost',
      one({ selector: 'rightmost' }),
      '10.0.0.7',
      xff(`1.1.1.1, ${c}`),
      c,
      'x-forwarded-for',
      false,
    ],
    [
      'fixed single of two',
      one({ selector: 'single' }),
      '10.0.0.7',
      xff(`1.1.1.1, ${c}`),
      '10.0.0.7',
      '',
      false,
    ],
    [
      'position from the left',
      one({ selector: 'position', position: 2, positionFrom: 'left' }),
      '10.0.0.7',
      xff(`1.1.1.1, ${c}, 2.2.2.2`),
      c,
      'x-forwarded-for',
      false,
    ],
    [
      'position from the left past the end',
      one({ selector: 'position', position: 4, positionFrom: 'left' }),
      '10.0.0.7',
      xff(`1.1.1.1, ${c}`),
      '10.0.0.7',
      '',
      false,
    ],
    [
      'position from the right past the start falls back to the leftmost',
      one({ selector: 'position', position: 9, positionFrom: 'right' }),
      '10.0.0.7',
      xff(`1.1.1.1, ${c}`),
      '1.1.1.1',
      'x-forwarded-for',
      false,
    ],
    [
      'without proof, where it is allowed',
      one({ selector: 'leftmost', allowUntrusted: true }),
      '192.0.2.1',
      xff(c),
      c,
      'x-forwarded-for',
      false,
    ],
    [
      'the peer by rule',
      one({ header: '', parser: 'remote_addr', nodeIds: [] }),
      '10.0.0.7',
      xff(c),
      '10.0.0.7',
      '',
      false,
    ],
    [
      'too many hops',
      one(),
      '10.0.0.7',
      xff(`${'1.1.1.1,'.repeat(70)}${c}`),
      '10.0.0.7',
      '',
      false,
    ],
  ];

test.each(table)('%s', (_name, config, peer, headers, ip, sourceHeader, spoofed) => {
  expect(resolve(config, peer, headers)).toMatchObject({ ip, sourceHeader, spoofed });
});

test('rules are tried in order and each says what it did', () => {
  const config = {
    ...one(),
    rules: [
      clientIpRule({ id: 'off', enabled: false }),
      clientIpRule({ id: 'absent', header: 'x-real-ip', parser: 'single_ip' }),
      clientIpRule({ id: 'chain' }),
      clientIpRule({ id: 'late' }),
    ],
  };
  const found = resolve(config, '10.0.0.7', xff(`1.1.1.1, ${c}`));
  expect(found.traces.map(({ ruleId, status }) => [ruleId, status])).toEqual([
    ['off', 'skipped'],
    ['absent', 'skipped'],
    ['chain', 'used'],
    ['late', 'skipped'],
  ]);
  expect(found).toMatchObject({ peerTrusted: true, verifiedNodeIds: ['lb'], untrustedRule: false });
  expect(found.hops).toEqual(['1.1.1.1', c, '10.0.0.7']);
  expect(found.warnings).toHaveLength(1);
  const lost = resolve(config, '192.0.2.1', xff(c));
  expect(lost.traces.map(({ status }) => status)).toEqual([
    'skipped',
    'skipped',
    'rejected',
    'rejected',
    'fallback',
  ]);
  expect(lost).toMatchObject({ spoofedHeader: 'x-forwarded-for', peerTrusted: false });
});

test('the next hop is the last proxy of a way, whatever else the way holds', () => {
  const trusted = (peer: string) => resolve(two(), peer, {}).peerTrusted;
  expect(['10.0.0.7', '198.51.100.1', '192.0.2.1'].map(trusted)).toEqual([true, false, false]);
});

test('whatever a stranger sends, it stays the peer', () => {
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.string({ maxLength: 20 }),
    fc.constant('10.0.0.7'),
  );
  const headers = fc.record({
    'x-forwarded-for': fc.array(text, { maxLength: 5 }),
    forwarded: fc.array(
      text.map((one) => `for="${one}"`),
      { maxLength: 3 },
    ),
    'cf-connecting-ip': fc.array(text, { maxLength: 2 }),
  });
  const configs = [
    none,
    one(),
    two(),
    both,
    two({ header: 'cf-connecting-ip', parser: 'single_ip' }),
  ];
  fc.assert(
    fc.property(headers, fc.constantFrom(...configs), (sent, config) => {
      expect(resolve(config, '192.0.2.1', sent).ip).toBe('192.0.2.1');
    }),
  );
});

test('whatever a client puts before, the proxy next to the internet has the last word', () => {
  const junk = fc.array(fc.oneof(fc.ipV4(), fc.string({ maxLength: 8 })), { maxLength: 5 });
  fc.assert(
    fc.property(junk, (before) => {
      const list = [...before.map((part) => part.replaceAll(',', '')), c, '198.51.100.4'].join(
        ', ',
      );
      expect(resolve(two(), '10.0.0.7', xff(list)).ip).toBe(c);
    }),
  );
});

test('hops are read with ports, brackets and quotes', () => {
  const texts = (value: string): (string | null)[] =>
    readForwarded([value]).map(({ key, text }) => key && text);
  expect(texts('for="192.0.2.43:47011", for=unknown, proto=http;for="[2001:db8::1]"')).toEqual([
    '192.0.2.43',
    null,
    '2001:db8::1',
  ]);
  expect(texts('for="a,b;for=1.1.1.1"')).toEqual([null]);
  expect(readHop('2001:db8::1').text).toBe('2001:db8::1');
  expect(readHop('1.2.3.4:x').key).toBeNull();
});
