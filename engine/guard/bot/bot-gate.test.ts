/** The bot gate as the specification words it: who passes, what is asked, what counts, what not. */

import { describe, expect, test } from 'vitest';
import { create } from '@bufbuild/protobuf';
import { RuntimeIpListSchema } from '../../../proto/gen/waf/runtime/v1/access_pb.ts';
import { botLimits } from '../../../base/guard-limits.ts';
import { makeIpSet } from '../../bundle/ip-set.ts';
import type { BotConfig } from '../../contract/bot.ts';
import type { SiteConfig } from '../../contract/site.ts';
import type { Guard } from '../guard.ts';
import { RateTable, shareRates } from '../rate-table.ts';
import { viewOf, viewStartMs, type Asked } from '../../../test/support/request-view.ts';
import { botGate } from './bot-gate.ts';
import type { CrawlerAnswer } from './crawlers.ts';
import {
  browse,
  gateOf,
  handIn,
  key,
  pass,
  reasonOf,
  servicesOf,
  usual,
} from '../../../test/support/bot-gates.ts';
import { cookieOf, readPage, solve } from '../../../test/support/challenge-solver.ts';

const html = 'Accept: text/html';
const asked = 'deny bot_challenge_required 403';
const attackMs = 60_000;
const attacked = { underAttackUntilMs: viewStartMs + attackMs };
const preflight = ['Origin: https://x.example', 'Access-Control-Request-Method: PUT'];

describe('who is asked', () => {
  const list = create(RuntimeIpListSchema, { id: 'l', ipv4: Uint8Array.of(192, 0, 2, 0, 24) });
  const trusted = [makeIpSet(list)];
  const table: readonly (readonly [string, Partial<BotConfig>, Asked, string])[] = [
    ['a browser gets a page', {}, { fields: [html] }, 'challenge bot_challenge 403'],
    ['a program gets no page', {}, { fields: ['Accept: */*'] }, 'deny bot_challenge_required 403'],
    ['no Accept is a program', {}, {}, 'deny bot_challenge_required 403'],
    [
      'what is no GET gets no page',
      {},
      { method: 'POST', fields: [html] },
      'deny bot_challenge_required 403',
    ],
    ['an exempt path', { exemptPaths: ['/api'] }, { target: '/API/x?y' }, ''],
    ['the exempt path itself', { exemptPaths: ['/api'] }, { target: '/api' }, ''],
    [
      'a path that only begins alike',
      { exemptPaths: ['/api'] },
      { target: '/apis' },
      'deny bot_challenge_required 403',
    ],
    [
      'a path that leaves the exempt one',
      { exemptPaths: ['/api'] },
      { target: '/api/%2e%2e/admin' },
      'deny bot_challenge_required 403',
    ],
    [
      'a path that some origins read as exempt',
      { exemptPaths: ['/api'] },
      { target: '/x/../api' },
      'deny bot_challenge_required 403',
    ],
    [
      'a path that some origins take for a host',
      { exemptPaths: ['/api'] },
      { target: '//api/x' },
      'deny bot_challenge_required 403',
    ],
    ['a path that is challenged', { challengePaths: ['/login'] }, { target: '/Login/x' }, asked],
    ['another path', { challengePaths: ['/login'] }, { target: '/logins' }, ''],
    ...[
      '//x/login',
      '/%6cogin',
      '/x/../login',
      '/x/..;/login',
      '/\\x\\login',
      '/index.php/login',
    ].map(
      (target) =>
        [`a spelling of it: ${target}`, { challengePaths: ['/login'] }, { target }, asked] as const,
    ),
    [
      'an exempt path under a challenged one',
      { challengePaths: ['/login'], exemptPaths: ['/login/status'] },
      { target: '/login/status' },
      '',
    ],
    ['under attack, any path', { challengePaths: ['/login'], ...attacked }, {}, asked],
    ['under attack, with the gate off', { mode: 'off', ...attacked }, {}, asked],
    [
      'under attack, an exempt path',
      { exemptPaths: ['/api'], ...attacked },
      { target: '/api' },
      '',
    ],
    ['under attack, a trusted address', { trusted, ...attacked }, { ip: '192.0.2.9' }, ''],
    [
      'after the attack, another path',
      { challengePaths: ['/login'], ...attacked },
      { afterMs: attackMs },
      '',
    ],
    [
      'after the attack, with the gate off',
      { mode: 'off', ...attacked },
      { afterMs: attackMs },
      '',
    ],
    ['after the attack, with the gate on', attacked, { afterMs: attackMs }, asked],
    ['robots.txt', {}, { target: '/robots.txt' }, ''],
    ['the icon of a site', {}, { method: 'HEAD', target: '/favicon.ico' }, ''],
    ['the manifest of a web application', {}, { target: '/manifest.webmanifest' }, ''],
    ['the proof of a certificate', {}, { target: '/.well-known/acme-challenge/a_B-9' }, ''],
    ...[
      ...['/ads.txt', '/app-ads.txt', '/security.txt', '/sitemap.xml', '/apple-touch-icon.png'],
      ...['/apple-touch-icon-120x120-precomposed.png', '/.well-known/security.txt'],
      ...['/.well-known/mta-sts.txt', '/.well-known/assetlinks.json'],
      ...['/.well-known/apple-app-site-association', '/manifest.json', '/site.webmanifest'],
      ...['/humans.txt', '/browserconfig.xml', '/.well-known/openid-configuration'],
      ...['/.well-known/oauth-authorization-server', '/.well-known/jwks.json'],
      '/.well-known/pki-validation/A9-b_c.txt',
    ].map((target) => [`for machines: ${target}`, {}, { target }, ''] as const),
    ['a feed of a site that exempts it', { exemptPaths: ['/feed'] }, { target: '/feed/atom' }, ''],
    ['a feed', {}, { target: '/feed/atom' }, asked],
    ...[
      ...[
        '/robots.txt/x',
        '/robots.txt;x',
        '//robots.txt',
        '/robots.txt?r=/admin',
        '/x/robots.txt',
      ],
      ...['/.well-known/acme-challenge/../../admin', '/.well-known/acme-challenge/a/b'],
      ...['/.well-known/acme-challenge/%2e%2e', '/.well-known/other', '/ROBOTS.TXT'],
      ...['/x/manifest.json', '/any.webmanifest', '/.well-known/pki-validation/a/b.txt'],
      ...['/apple-touch-icon-x.png', '/sitemap.xml/x', '/.well-known/security.txt/admin'],
    ].map((target) => [`not for machines: ${target}`, {}, { target }, asked] as const),
    ['robots.txt, posted', {}, { method: 'POST', target: '/robots.txt' }, asked],
    ['robots.txt with a body', {}, { target: '/robots.txt', fields: ['Content-Length: 3'] }, asked],
    ['a preflight', {}, { method: 'OPTIONS', fields: preflight }, ''],
    ['OPTIONS without what makes a preflight', {}, { method: 'OPTIONS' }, asked],
    [
      'OPTIONS without an origin',
      {},
      { method: 'OPTIONS', fields: ['Access-Control-Request-Method: PUT'] },
      asked,
    ],
    ['the fields of a preflight in a GET', {}, { fields: preflight }, asked],
    [
      'a preflight with a body',
      {},
      { method: 'OPTIONS', fields: [...preflight, 'Transfer-Encoding: chunked'] },
      asked,
    ],
    [
      'a preflight that some frameworks take for another method',
      {},
      { method: 'OPTIONS', fields: [...preflight, 'X-HTTP-Method-Override: POST'] },
      asked,
    ],
    ['every path exempt', { exemptPaths: [''] }, { target: '/x' }, ''],
    ['an exempt method', { exemptMethods: ['OPTIONS'] }, { method: 'OPTIONS' }, ''],
    [
      'another method',
      { exemptMethods: ['OPTIONS'] },
      { method: 'options' },
      'deny bot_challenge_required 403',
    ],
    ['a trusted address', { trusted }, { ip: '192.0.2.9' }, ''],
    [
      'an address that is not listed',
      { trusted },
      { ip: '192.0.3.9' },
      'deny bot_challenge_required 403',
    ],
  ];
  test.each(table)('%s', (_, change, asked, expected) => {
    expect(reasonOf(gateOf(change).decide(viewOf(asked)))).toBe(expected);
  });

  test('never on by default: a site without a gate has no guard', () => {
    expect(botGate.compile({ id: 'a' } as SiteConfig, servicesOf())).toBeNull();
    const site = { id: 'a', bot: { ...usual, mode: 'off' } } as SiteConfig;
    expect(botGate.compile(site, servicesOf())).toBeNull();
  });

  test.each([
    ['verified', false, ''],
    ['pending', false, 'deny bot_crawler_unverified 503'],
    ['none', false, 'challenge bot_challenge 403'],
    ['verified', true, 'challenge bot_challenge 403'],
  ] as const)('a crawler that is %s, challenged too: %s', (answer, challengeCrawlers, expected) => {
    const crawlers = { check: (): CrawlerAnswer => answer };
    const guard = gateOf({ challengeCrawlers }, { ...servicesOf(), crawlers });
    expect(reasonOf(browse(guard))).toBe(expected);
  });
});

describe('a solution', () => {
  test('clears the client, once, and leads back to where it wanted to go', () => {
    const guard = gateOf();
    const asked = { target: '/shop?a=1&b=//x' };
    const page = readPage(browse(guard, asked));
    const solved = handIn(guard, page.token, solve(page));
    expect(reasonOf(solved)).toBe('challenge bot_solved 303');
    const fields = [`Cookie: a=b; ${cookieOf(solved)}`];
    const done = browse(guard, { target: solved!.location!, fields });
    expect([reasonOf(done), done!.location]).toEqual([
      'challenge bot_cleared 303',
      '/shop?a=1&b=//x',
    ]);
    expect(guard.decide(viewOf({ method: 'POST', fields }))).toBeNull();
    // A replay is refused; the visitor who reloads is let in.
    expect(reasonOf(handIn(guard, page.token, solve(page)))).toBe('deny bot_replayed 403');
    const again = handIn(guard, page.token, solve(page), { fields });
    expect([reasonOf(again), again!.location]).toEqual([
      'challenge bot_cleared 303',
      '/shop?a=1&b=//x',
    ]);
  });

  test('of any difficulty has that many zero bits', () => {
    for (const proofDifficulty of [12, 14]) {
      const guard = gateOf({ proofDifficulty });
      const page = readPage(browse(guard));
      expect(page.bits).toBe(proofDifficulty);
      const nonce = solve(page);
      const weaker = solve({ id: page.id, bits: 4 });
      if (weaker !== nonce) {
        expect(reasonOf(handIn(guard, page.token, weaker))).toBe('challenge bot_wrong_proof 403');
      }
      expect(reasonOf(handIn(guard, page.token, nonce))).toBe('challenge bot_solved 303');
    }
  });

  const late = usual.challengeTtlSeconds * 1000;
  test.each([
    ['after its time', {}, { afterMs: late }, 'challenge bot_late 403'],
    ['just before', {}, { afterMs: late - 1 }, 'challenge bot_solved 303'],
    [
      'from another network, when bound',
      { bindNetwork: true },
      { ip: '192.0.3.1' },
      'challenge bot_moved 403',
    ],
    [
      'from the same network',
      { bindNetwork: true },
      { ip: '192.0.2.200' },
      'challenge bot_solved 303',
    ],
    ['from another network, when not bound', {}, { ip: '192.0.3.1' }, 'challenge bot_solved 303'],
  ] as const)('%s', (_, change, asked, expected) => {
    const guard = gateOf(change);
    const page = readPage(browse(guard));
    expect(reasonOf(handIn(guard, page.token, solve(page), asked))).toBe(expected);
  });

  test.each([
    ['', 'deny bot_invalid 403'],
    ['AAAA', 'deny bot_invalid 403'],
    ['A'.repeat(5_000), 'deny bot_invalid 403'],
  ])('for the token "%.10s" that nobody sealed', (token, expected) => {
    expect(reasonOf(handIn(gateOf(), token, '1'))).toBe(expected);
  });

  test('is refused by another site, by a node with other counts, and after a change', () => {
    const services = servicesOf();
    const guard = gateOf({}, services);
    const page = readPage(browse(guard));
    const nonce = solve(page);
    const refused = (other: Guard): string => reasonOf(handIn(other, page.token, nonce));
    expect(refused(gateOf({}, services, 'b'))).toBe('deny bot_invalid 403');
    const elsewhere = new RateTable(shareRates([3, 4], 16));
    expect(refused(gateOf({}, servicesOf(elsewhere)))).toBe('challenge bot_other_node 403');
    expect(refused(gateOf({ clearanceTtlSeconds: 300 }, services))).toBe(
      'challenge bot_changed 403',
    );
    expect(refused(guard)).toBe('challenge bot_solved 303');
  });

  test('counts once however many threads are handed it', () => {
    const shared = shareRates([1, 2], 16);
    const threads = Array.from({ length: 4 }, () => gateOf({}, servicesOf(new RateTable(shared))));
    const page = readPage(browse(threads[0]!));
    const answers = threads.map((thread) => reasonOf(handIn(thread, page.token, solve(page))));
    expect(answers.filter((one) => one === 'challenge bot_solved 303')).toHaveLength(1);
  });

  test('is remembered as used after a restart', () => {
    const before = new RateTable(shareRates([1, 2], 16));
    const guard = gateOf({}, servicesOf(before));
    const page = readPage(browse(guard));
    const nonce = solve(page);
    const solved = handIn(guard, page.token, nonce);
    const after = new RateTable(shareRates([1, 2], 16));
    const { nowMs } = viewOf({});
    for (const set of before.takeChanged(16))
      after.restoreSet(set, before.readSet(set, nowMs), nowMs);
    const restarted = gateOf({}, servicesOf(after));
    expect(reasonOf(handIn(restarted, page.token, nonce))).toBe('deny bot_replayed 403');
    expect(browse(restarted, { fields: [`Cookie: ${cookieOf(solved)}`] })).toBeNull();
  });

  test('that is only tried out uses nothing up', () => {
    const guard = gateOf();
    const page = readPage(browse(guard));
    const nonce = solve(page);
    const tried = handIn(guard, page.token, nonce, { trial: true });
    expect(reasonOf(tried)).toBe('challenge bot_solved 303');
    expect(reasonOf(handIn(guard, page.token, nonce))).toBe('challenge bot_solved 303');
  });
});

describe('a clearance', () => {
  const cookie = (guard: Guard, asked: Asked = {}): string => cookieOf(pass(guard, asked));
  const withCookie = (text: string): Asked => ({ fields: [`Cookie: ${text}`] });

  test.each([
    ['until its time', {}, { afterMs: 3_599_999 }, true],
    ['not after it', {}, { afterMs: 3_600_000 }, false],
    ['from any network', {}, { ip: '198.51.100.1' }, true],
    ['when bound, from its network', { bindNetwork: true }, { ip: '192.0.2.77' }, true],
    ['when bound, not from another', { bindNetwork: true }, { ip: '192.0.3.1' }, false],
  ] as const)('counts %s', (_, change, asked, passes) => {
    const guard = gateOf(change);
    const given = cookie(guard);
    expect(browse(guard, { ...asked, ...withCookie(given) }) === null).toBe(passes);
  });

  test('binds IPv6 by /56', () => {
    const guard = gateOf({ bindNetwork: true });
    const given = cookie(guard, { ip: '2001:db8:0:100::1' });
    expect(browse(guard, { ip: '2001:db8:0:1ff::2', ...withCookie(given) })).toBeNull();
    expect(browse(guard, { ip: '2001:db8:0:200::1', ...withCookie(given) })).not.toBeNull();
  });

  test('counts on its own site only, under every shared key, and not when it was changed', () => {
    const services = servicesOf();
    const guard = gateOf({}, services);
    const given = cookie(guard);
    expect(browse(gateOf({}, services, 'b'), withCookie(given))).not.toBeNull();
    // Another node with the same keys, in another order.
    const node = (keys: Buffer[]): Guard => {
      const site = { id: 'a', bot: usual, challengeKeys: keys } as unknown as SiteConfig;
      return botGate.compile(site, servicesOf(new RateTable(shareRates([9, 9], 16))))!;
    };
    expect(browse(node([Buffer.alloc(32, 8), key]), withCookie(given))).toBeNull();
    expect(browse(node([Buffer.alloc(32, 8)]), withCookie(given))).not.toBeNull();
    for (const at of [20, 60, 120, given.length - 1]) {
      const digit = given[at] === '0' ? '1' : '0';
      const changed = given.slice(0, at) + digit + given.slice(at + 1);
      expect(browse(guard, withCookie(changed)), `digit ${at}`).not.toBeNull();
    }
    expect(browse(guard, withCookie(given.toUpperCase()))).not.toBeNull();
    expect(browse(guard, withCookie(`${given}zz`))).not.toBeNull();
  });

  test('is found among other cookies, also after some of the same name', () => {
    const guard = gateOf();
    const given = cookie(guard);
    const name = given.split('=', 1)[0]!;
    const found = (text: string): boolean => browse(guard, withCookie(text)) === null;
    expect(found(`a=1; ${given}; b=2`)).toBe(true);
    expect(found(`a=1;${given}`)).toBe(true);
    expect(found(`${name}=; ${given}`)).toBe(true);
    expect(found(`x${given}`)).toBe(false);
    expect(found(`${`${name}=x; `.repeat(botLimits.cookiesPerNameMax)}${given}`)).toBe(false);
  });

  test('of a setting that changed never loops a visitor', () => {
    const services = servicesOf();
    // Two nodes whose settings differ, asked in turn.
    const nodes = [gateOf({}, services), gateOf({ clearanceTtlSeconds: 300 }, services)];
    let fields: string[] = [];
    const met: string[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const node = nodes[turn % 2]!;
      const verdict = browse(node, { fields });
      met.push(reasonOf(verdict));
      if (verdict?.page === undefined) break;
      const page = readPage(verdict);
      fields = [`Cookie: ${cookieOf(handIn(node, page.token, solve(page), { fields }))}`];
    }
    const challenge = 'challenge bot_challenge 403';
    expect(met).toEqual([challenge, challenge, challenge, 'deny bot_challenge_limit 403']);
  });

  test('that the browser does not keep ends in a plain page', () => {
    const guard = gateOf();
    const solved = pass(guard);
    expect(reasonOf(browse(guard, { target: solved!.location! }))).toBe('deny bot_no_cookie 403');
  });

  test('is for browsers over TLS only sent over TLS', () => {
    const set = (scheme: 'http' | 'https'): string =>
      pass(gateOf(), { scheme })!.headers!.find(([name]) => name === 'Set-Cookie')![1];
    expect(set('https')).toMatch(/; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure$/);
    expect(set('http')).not.toContain('Secure');
  });
});

test('wrong proofs in a row end in a plain page', () => {
  const guard = gateOf();
  let page = readPage(browse(guard));
  const reasons: string[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const next = handIn(guard, page.token, 'x');
    reasons.push(reasonOf(next));
    if (next?.page !== undefined) page = readPage(next);
  }
  const again = 'challenge bot_wrong_proof 403';
  expect(reasons).toEqual([again, again, 'deny bot_challenge_limit 403']);
});

test('a target that a browser takes for another host is not gone back to', () => {
  const guard = gateOf();
  for (const target of ['//evil.test/x', '/\\evil.test', `/${'a'.repeat(1_100)}`]) {
    const solved = pass(guard, { target });
    const fields = [`Cookie: ${cookieOf(solved)}`];
    expect(browse(guard, { target: solved!.location!, fields })!.location, target).toBe('/');
  }
});

test('own paths take GET and HEAD only, and nothing else is served there', () => {
  const guard = gateOf();
  const at = (target: string, method = 'GET'): string =>
    reasonOf(guard.decide(viewOf({ target, method })));
  expect(at('/.waf-check/check.js', 'POST')).toBe('deny bot_method 405');
  expect(at('/.waf-check/check.js')).toBe('challenge bot_asset 200');
  expect(at('/.waf-check/solve.js', 'HEAD')).toBe('challenge bot_asset 200');
  expect(at('/.waf-check/')).toBe('deny bot_path 404');
  expect(at('/.waf-check/../x')).toBe('deny bot_path 404');
  // Another spelling is the origin's, so it is asked for a proof.
  expect(at('/%2ewaf-check/check.js')).toBe('deny bot_challenge_required 403');
});
