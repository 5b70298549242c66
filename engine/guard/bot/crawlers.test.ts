/** Crawlers are believed when names and addresses agree both ways, and never on their word. */

import { expect, test } from 'vitest';
import { viewOf, type Asked } from '../../../test/support/request-view.ts';
import { botLimits } from '../../../base/guard-limits.ts';
import { DnsCrawlers, type CrawlerNames } from './crawlers.ts';

const google = 'User-Agent: Mozilla/5.0 (compatible; Googlebot/2.1)';
const names: Readonly<Record<string, string[]>> = {
  '192.0.2.1': ['crawl-1.googlebot.com'],
  '192.0.2.2': ['crawl-1.googlebot.com'],
  '192.0.2.3': ['googlebot.com.evil.test'],
  '192.0.2.4': ['notgooglebot.com'],
  '192.0.2.5': ['msnbot.search.msn.com'],
  '2001:db8::1': ['crawl-6.googlebot.com'],
};
const addresses: Readonly<Record<string, string[]>> = {
  'crawl-1.googlebot.com': ['192.0.2.1'],
  'googlebot.com.evil.test': ['192.0.2.3'],
  'notgooglebot.com': ['192.0.2.4'],
  'msnbot.search.msn.com': ['192.0.2.5'],
  'crawl-6.googlebot.com': ['2001:db8:0:0::1'],
};

function lookUp(table: Readonly<Record<string, string[]>>) {
  return async (key: string): Promise<string[]> => {
    const found = table[key];
    if (found === undefined) throw new Error('ENOTFOUND');
    return Promise.resolve(found);
  };
}

const dns: CrawlerNames = { namesOf: lookUp(names), addressesOf: lookUp(addresses) };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test.each([
  ['the address that its name leads back to', '192.0.2.1', 'verified'],
  ['IPv6, however it is spelled', '2001:db8::1', 'verified'],
  ['an address that took another’s name', '192.0.2.2', 'none'],
  ['a domain that only contains the name', '192.0.2.3', 'none'],
  ['a domain that only ends alike', '192.0.2.4', 'none'],
  ['the name of another crawler', '192.0.2.5', 'none'],
  ['no name at all', '192.0.2.9', 'none'],
])('%s', async (_, ip, expected) => {
  const crawlers = new DnsCrawlers(dns);
  const asked: Asked = { ip, fields: [google] };
  expect(crawlers.check(viewOf(asked))).toBe('pending');
  await settled();
  expect(crawlers.check(viewOf(asked))).toBe(expected);
});

test('clients that claim nothing, and trials, ask nobody', () => {
  const crawlers = new DnsCrawlers({
    namesOf: () => Promise.reject(new Error('asked')),
    addressesOf: () => Promise.reject(new Error('asked')),
  });
  expect(crawlers.check(viewOf({ ip: '192.0.2.1' }))).toBe('none');
  expect(crawlers.check(viewOf({ ip: '192.0.2.1', fields: [google], trial: true }))).toBe('none');
});

test('look-ups under way are bounded; who comes past them is challenged', () => {
  let asked = 0;
  const crawlers = new DnsCrawlers({
    namesOf: () => {
      asked++;
      return new Promise(() => undefined);
    },
    addressesOf: () => Promise.resolve([]),
  });
  for (let at = 0; at < 100; at++)
    crawlers.check(viewOf({ ip: `192.0.2.${at}`, fields: [google] }));
  expect(asked).toBe(botLimits.crawlerLookUpsMax);
  expect(crawlers.check(viewOf({ ip: '192.0.2.200', fields: [google] }))).toBe('none');
});

test('answers lapse', async () => {
  const crawlers = new DnsCrawlers(dns);
  const asked: Asked = { ip: '192.0.2.1', fields: [google] };
  crawlers.check(viewOf(asked));
  await settled();
  const afterMs = botLimits.crawlerTrustedMs;
  expect(crawlers.check(viewOf({ ...asked, afterMs: afterMs - 1 }))).toBe('verified');
  expect(crawlers.check(viewOf({ ...asked, afterMs }))).toBe('pending');
});

test('addresses are remembered up to a bound; the oldest are asked about again', async () => {
  const crawlers = new DnsCrawlers({
    namesOf: () => Promise.reject(new Error('ENOTFOUND')),
    addressesOf: () => Promise.resolve([]),
  });
  const ask = (at: number) =>
    crawlers.check(viewOf({ ip: `10.0.${at >> 8}.${at & 255}`, fields: [google] }));
  for (let at = 0; at <= botLimits.crawlersRememberedMax; at++) {
    expect(ask(at)).toBe('pending');
    if (at % botLimits.crawlerLookUpsMax === 0) await settled();
  }
  await settled();
  expect(ask(botLimits.crawlersRememberedMax)).toBe('none');
  expect(ask(1)).toBe('none');
  expect(ask(0)).toBe('pending');
});
