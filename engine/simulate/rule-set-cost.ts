/**
 * What rules cost on requests as sites usually get them: CPU time of the phases of a request. Knows
 * nothing of attacks: what one value can cost at worst is bounded for each pattern by itself.
 */

import { ruleSetTrialLimits } from '../../base/rule-limits.ts';
import { SCAN } from '../http/head-scanner.ts';
import { RequestHeadParser } from '../http/request-head.ts';
import type { PolicyEngine } from '../rules/run/policy-engine.ts';

/** What the costliest of the usual requests takes. */
export interface RuleSetCost {
  /** CPU time. */
  readonly ms: number;
  /** The request, for people. */
  readonly request: string;
}

/** A request of one kind; `run` makes its values new, so that nothing remembered answers. */
interface UsualRequest {
  readonly name: string;
  readonly make: (run: number) => Buffer;
}

const headers = [
  'Host: shop.example',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Language: en-US,en;q=0.5',
  'Accept-Encoding: gzip, deflate, br',
  'Referer: https://shop.example/products/lamps',
];

const words = 'lamp table order garden winter paper invoice street city window'.split(' ');
const wordAt = (at: number): string => words[at % words.length]!;

const usualRequests: readonly UsualRequest[] = [
  {
    name: 'a GET with six arguments',
    make: (run) => requestOf('GET', `/shop/list?${pairs(6, run)}`, '', ''),
  },
  {
    name: 'a form of 1 KB',
    make: (run) => requestOf('POST', '/order', 'application/x-www-form-urlencoded', pairs(32, run)),
  },
  {
    name: 'a JSON body of 2 KB',
    make: (run) => {
      const items = Array.from({ length: 24 }, (_one, at) => ({
        id: run * 1_000 + at,
        name: `${wordAt(at)} ${wordAt(run + at)} ${run * 31 + at}`,
        note: `The ${wordAt(at + 3)} of order ${run * 77 + at}.`,
        tags: [wordAt(at), wordAt(at + run)],
      }));
      return requestOf('POST', '/api/orders', 'application/json', JSON.stringify({ items }));
    },
  },
];

function pairs(count: number, run: number): string {
  const one = (at: number): string =>
    `${wordAt(at)}${at}=${wordAt(at + run)}+${wordAt(at * 3)}+${run * 97 + at}`;
  return Array.from({ length: count }, (_one, at) => one(at)).join('&');
}

function requestOf(method: string, target: string, type: string, body: string): Buffer {
  const own = [...headers, `Cookie: session=${target.length}f3a9c1b27d64e80; theme=light`];
  if (body !== '') own.push(`Content-Type: ${type}`, `Content-Length: ${body.length}`);
  return Buffer.from([`${method} ${target} HTTP/1.1`, ...own, '', body].join('\r\n'), 'latin1');
}

/** Measures. Cost: up to `runsMax` requests of each kind; one of each where they are quick. */
export function measureRuleSet(engine: PolicyEngine): RuleSetCost {
  const { requestMsMax, runsMax } = ruleSetTrialLimits;
  let worst: RuleSetCost = { ms: 0, request: '' };
  for (const { name, make } of usualRequests) {
    let ms = Infinity;
    for (let run = 0; run < runsMax && ms > requestMsMax; run++) {
      ms = Math.min(ms, cpuMsOf(engine, make(run)));
    }
    if (ms > worst.ms) worst = { ms, request: name };
  }
  return worst;
}

const parser = new RequestHeadParser();

function cpuMsOf(engine: PolicyEngine, wire: Buffer): number {
  parser.reset(0);
  if (parser.execute(wire, wire.length) !== SCAN.DONE) throw new Error('a usual request is none');
  const head = { bytes: wire.subarray(0, parser.headEnd), spans: parser.copySpans() };
  const bytes = wire.subarray(parser.headEnd);
  const before = process.cpuUsage();
  const session = engine.open({ ...from, head });
  session.requestHead();
  session.requestBody(bytes.length === 0 ? null : { bytes, truncated: false });
  session.finish();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const from = {
  requestId: 'measured',
  receivedAtMs: 0,
  siteId: '',
  connection: {
    clientIp: '192.0.2.1',
    clientPort: 40_000,
    peerIp: '192.0.2.1',
    serverIp: '127.0.0.1',
    serverPort: 80,
    scheme: 'http',
  },
} as const;
