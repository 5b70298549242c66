/** The timing of guards: look-ups in lists of a million networks, and what a request pays. */

import { create } from '@bufbuild/protobuf';
import {
  RuntimeIpListSchema,
  type RuntimeIpList,
} from '../../proto/gen/waf/runtime/v1/access_pb.ts';
import type { AddressBits } from '../../base/ip-address.ts';
import { makeIpSet } from '../../engine/bundle/ip-set.ts';
import type { AccessChoice, IpSet } from '../../engine/contract/access.ts';
import type { BotConfig } from '../../engine/contract/bot.ts';
import type { RateLimitConfig } from '../../engine/contract/rate-limit.ts';
import type { SiteConfig } from '../../engine/contract/site.ts';
import { scopesOf } from '../../engine/guard/bot/challenge-scope.ts';
import { sealClearance } from '../../engine/guard/bot/challenge-token.ts';
import { TextSealer } from '../../engine/guard/bot/sealed-text.ts';
import { CountryDatabase } from '../../engine/guard/geo.ts';
import { compileGuards } from '../../engine/guard/guard-chain.ts';
import { holdsAddress } from '../../engine/guard/ip-lookup.ts';
import { RateTable, shareRates } from '../../engine/guard/rate-table.ts';
import { RequestView } from '../../engine/guard/request-view.ts';
import { RequestHeadParser } from '../../engine/http/request-head.ts';
import type { MicroGroup, MicroTask } from './group.ts';

const networks = 1_000_000;
const callsPerRun = 1_024;
const askedNames = 4_096;
const startMs = 1_790_000_000_000;

/** The group; `entries` networks a list. */
export function guardGroup(entries = networks): MicroGroup {
  const v4 = makeIpSet(listOf(entries, 4));
  const v6 = makeIpSet(listOf(entries, 16));
  const access = { ip: [{ ...choice, listId: 'l', set: v4, pathPrefix: '' }], country: [] };
  const country = { ip: [], country: [{ ...choice, countries: ['KP', 'XX'] }] };
  return {
    name: 'guards',
    title: `Guards (lists of ${entries.toLocaleString('en')} networks)`,
    tasks: [
      lookUpTask('look-up of an IPv4 address', v4, 4),
      lookUpTask('look-up of an IPv6 address', v6, 6),
      walkTask('a request past an IP list', { access }),
      walkTask('a request past a country rule', { access: country }),
      walkTask('a request past both, on a path prefix', {
        access: {
          ip: access.ip.map((rule) => ({ ...rule, pathPrefix: '/admin' })),
          country: country.country,
        },
      }),
      walkTask('a request under a rate limit', { rates: { limits: [limit], globalBans: [] } }),
      walkTask('a request with a clearance of the bot gate', { bot }, clearanceOf({ bot })),
    ],
  };
}

const choice: AccessChoice = {
  id: 'b',
  kind: 'deny',
  bypass: 'ip_lists_only',
  source: 'client_ip',
  inverted: false,
};

const bot: BotConfig = {
  ...{ mode: 'browser_check', challengeTtlSeconds: 120, clearanceTtlSeconds: 86_400 },
  ...{ proofDifficulty: 16, bindNetwork: false, exemptPaths: ['/health'], exemptMethods: [] },
  ...{ trusted: [], challengeCrawlers: false },
};

const sealer = new TextSealer([Buffer.alloc(32, 7)]);
const challengeKeys = [Buffer.alloc(32, 7)];

/** The cookie of a client that solved a challenge. */
function clearanceOf(rules: Pick<SiteConfig, 'bot'>): string {
  const scope = scopesOf({ id: 's', ...rules } as SiteConfig).get('gate')!;
  const { revision, cookie } = scope;
  const expiresAtMs = startMs + 365 * 86_400_000;
  const given = { scope: 'gate', revision, issuedAtMs: startMs, expiresAtMs, attempt: 1 };
  return `Cookie: a=b; ${cookie}=${sealClearance(sealer, 's', { ...given, network: '' })}\r\n`;
}

const budget = { requests: 1_000_000, windowSeconds: 60 };
const limit: RateLimitConfig = {
  ...{ id: 'r', pathPattern: '/*', methods: [], action: 'block', observe: false },
  ...{ key: { kind: 'ip' }, budget, verifiedBudget: budget },
  ...{ mitigationSeconds: 0, banGlobally: false },
};

/**
 * Networks spread over the address space, so that look-ups leave the caches: blocks of 256
 * addresses (of 2^72 for IPv6) with even numbers only.
 */
function listOf(entries: number, bytes: 4 | 16): RuntimeIpList {
  const packed = Buffer.alloc(entries * (bytes + 1));
  const step = 2 * Math.floor(2 ** 23 / entries);
  for (let entry = 0; entry < entries; entry++) {
    const at = entry * (bytes + 1);
    if (bytes === 16) packed.writeUInt32BE(0x20010000, at);
    packed.writeUInt32BE(entry * step * 256, at + (bytes === 4 ? 0 : 4));
    packed[at + bytes] = bytes === 4 ? 24 : 56;
  }
  return create(RuntimeIpListSchema, {
    id: 'l',
    [bytes === 4 ? 'ipv4' : 'ipv6']: packed,
  });
}

function lookUpTask(name: string, set: IpSet, family: 4 | 6): MicroTask {
  const asked: AddressBits[] = Array.from({ length: askedNames }, (_, at) => {
    const words = new Uint32Array(4);
    const spread = Math.imul(at, 2_654_435_761) >>> 0;
    words.set(family === 4 ? [spread] : [0x20010000, spread]);
    return { family, words };
  });
  let at = 0;
  let held = 0;
  const run = (): void => {
    for (let call = 0; call < callsPerRun; call++) {
      if (holdsAddress(set, asked[at++ % askedNames]!, 0)) held++;
    }
    if (held === 0) throw new Error('no address was found');
  };
  return { name, run, calls: callsPerRun };
}

/** What a site with such rules adds to a request that passes. */
function walkTask(
  name: string,
  rules: Pick<SiteConfig, 'access' | 'bot' | 'rates'>,
  fields = '',
): MicroTask {
  const countries = new CountryDatabase();
  const site = { id: 's', ...rules, challengeKeys } as unknown as SiteConfig;
  const rates = new RateTable(shareRates([1, 2]));
  const chain = compileGuards(site, { countryOf: (ip) => countries.codeOf(ip), rates })!;
  const bytes = Buffer.from(`GET /a/b?c=d HTTP/1.1\r\nHost: a.example\r\n${fields}\r\n`);
  const head = new RequestHeadParser();
  head.reset(0);
  head.execute(bytes, bytes.length);
  const facts = Array.from({ length: askedNames }, (_, at) => {
    // In blocks with odd numbers: outside of every network of the list.
    const clientIp = `${1 + (at % 200)}.${at >>> 8}.${1 | (at & 0xfe)}.7`;
    const connection = { clientIp, peerIp: clientIp, clientPort: 1, serverIp: '', serverPort: 80 };
    return { ...connection, scheme: 'http' as const };
  });
  const view = new RequestView();
  let at = 0;
  const run = (): void => {
    for (let call = 0; call < callsPerRun; call++) {
      view.begin(head, bytes, facts[at++ % askedNames]!).nowMs = startMs + at;
      if (chain.walk(view, null, noFaults)?.verdict !== null)
        throw new Error('the request was stopped');
    }
  };
  return { name, run, calls: callsPerRun };
}

const noFaults = { guardFailed: () => false };
