/**
 * Which clients are the crawlers that they say they are: the name of the address belongs to the
 * crawler's owner, and leads back to the address. Names are asked for in the background; until the
 * answer is there the client is neither trusted nor challenged. Never waits.
 */

import { Resolver } from 'node:dns/promises';
import { parseAddress } from '../../../base/ip-address.ts';
import { botLimits } from '../../../base/guard-limits.ts';
import type { RequestView } from '../request-view.ts';

/** What is known of a client. */
export type CrawlerAnswer = 'none' | 'pending' | 'verified';

/** Says of requests whether a known crawler sent them. */
export interface CrawlerCheck {
  check(view: RequestView): CrawlerAnswer;
}

/** The questions to DNS. */
export interface CrawlerNames {
  /** Names of an address; rejects where there are none. */
  readonly namesOf: (ip: string) => Promise<readonly string[]>;
  /** Addresses of a name; rejects where there are none. */
  readonly addressesOf: (name: string) => Promise<readonly string[]>;
}

/** What a crawler calls itself, and the domains of its addresses, as its owner states them. */
const crawlers: readonly (readonly [says: RegExp, domains: readonly string[]])[] = [
  [/googlebot|google-inspectiontool|storebot-google/i, ['googlebot.com', 'google.com']],
  [/bingbot|msnbot/i, ['search.msn.com']],
  [/applebot/i, ['applebot.apple.com']],
  [/yandex[a-z]*bot|yandexbot/i, ['yandex.ru', 'yandex.net', 'yandex.com']],
  [/baiduspider/i, ['baidu.com', 'baidu.jp']],
  [/seznambot/i, ['seznam.cz']],
  [/petalbot/i, ['petalsearch.com']],
];

interface Known {
  readonly verified: boolean;
  readonly untilMs: number;
}

/** Crawlers by reverse DNS; see the header. */
export class DnsCrawlers implements CrawlerCheck {
  private readonly names: CrawlerNames;
  private readonly known = new Map<string, Known>();
  private readonly asked = new Set<string>();

  constructor(names: CrawlerNames = systemNames()) {
    this.names = names;
  }

  check(view: RequestView): CrawlerAnswer {
    const agent = view.header('user-agent');
    const found = agent === null ? undefined : crawlers.find(([says]) => says.test(agent));
    if (found === undefined) return 'none';
    const { clientIp } = view.facts;
    const known = this.known.get(keyOf(clientIp, found[1]));
    if (known !== undefined && known.untilMs > view.nowMs) {
      return known.verified ? 'verified' : 'none';
    }
    return this.ask(clientIp, found[1], view) ? 'pending' : 'none';
  }

  private ask(ip: string, domains: readonly string[], { nowMs, trial }: RequestView): boolean {
    const key = keyOf(ip, domains);
    if (this.asked.has(key)) return true;
    if (trial || this.asked.size >= botLimits.crawlerLookUpsMax) return false;
    this.asked.add(key);
    const keep = (verified: boolean): void => {
      this.asked.delete(key);
      const lastsMs = verified ? botLimits.crawlerTrustedMs : botLimits.crawlerRefusedMs;
      this.keep(key, { verified, untilMs: nowMs + lastsMs });
    };
    // An address without a name is no crawler's.
    this.belongs(ip, domains).then(keep, () => keep(false));
    return true;
  }

  private async belongs(ip: string, domains: readonly string[]): Promise<boolean> {
    const own = parseAddress(ip);
    const names = (await this.names.namesOf(ip)).map((name) => name.toLowerCase());
    const fitting = names.filter((name) => domains.some((domain) => name.endsWith(`.${domain}`)));
    for (const name of fitting.slice(0, 2)) {
      const addresses = await this.names.addressesOf(name);
      if (addresses.some((address) => parseAddress(address) === own)) return own !== null;
    }
    return false;
  }

  private keep(key: string, known: Known): void {
    this.known.delete(key);
    this.known.set(key, known);
    if (this.known.size > botLimits.crawlersRememberedMax) {
      this.known.delete(this.known.keys().next().value!);
    }
  }
}

/** A name proves one crawler, not another. */
function keyOf(ip: string, [domain]: readonly string[]): string {
  return `${ip} ${domain}`;
}

function systemNames(): CrawlerNames {
  const resolver = new Resolver({ timeout: botLimits.crawlerLookUpMs, tries: 1 });
  return {
    namesOf: (ip) => resolver.reverse(ip),
    addressesOf: async (name) => {
      const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    },
  };
}
