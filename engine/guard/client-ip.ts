/**
 * Whose address a request has: the peer's, or the one that a trusted proxy reports. A header counts
 * only when the addresses of all proxies on one way from the internet to here are found in their
 * places. Pure: profile, peer and headers in, finding out; live traffic and explanations run the
 * same code.
 */

import { parseAddress, textOfKey } from '../../base/ip-address.ts';
import { rangeTest } from '../base/ip-ranges.ts';
import { trustLimits } from '../../base/guard-limits.ts';
import { proxyPaths } from '../../base/proxy-paths.ts';
import type {
  ClientIpFinding,
  ClientIpRuleConfig,
  ClientIpTrace,
  TrustConfig,
} from '../contract/trust.ts';
import { readForwarded, readHop, readHopList, type HeaderValues, type Hop } from './forwarded.ts';

interface Node {
  readonly id: string;
  readonly xffMode: string;
  readonly holds: (key: string) => boolean;
}

/** A way of a request; the node next to the internet comes first. */
type Path = readonly Node[];

/** What one rule came to. */
interface Outcome {
  readonly status: 'used' | 'rejected' | 'skipped';
  readonly reason: string;
  readonly candidate: string;
  readonly path: Path;
  readonly untrusted: boolean;
}

/** Headers that clients forge to be someone else. */
const commonHeaders = [
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'true-client-ip',
  'x-client-ip',
];
const chainModes = new Set(['', 'auto', 'append', 'overwrite']);
const noPath: Path = [];

/** A trust profile, ready for requests. Cost of making one: linear in ranges and ways. */
export class ClientIpResolver {
  private readonly paths: readonly Path[];
  private readonly rules: readonly ClientIpRuleConfig[];
  /** Headers that mean an address here. */
  private readonly watched: readonly string[];

  constructor({ nodes, edges, rules }: TrustConfig) {
    const known = new Map(
      nodes.map(({ id, xffMode, ranges }) => [id, { id, xffMode, holds: rangeTest(ranges) }]),
    );
    this.paths = proxyPaths(edges, trustLimits.trustPathsMax)
      .map((ids) => ids.flatMap((id) => known.get(id) ?? []))
      .filter((path) => path.length > 0)
      // The longest way that fits explains most of what was sent.
      .sort((left, right) => right.length - left.length);
    this.rules = rules;
    const own = rules.filter(({ enabled, header }) => enabled && header !== '');
    this.watched = [...new Set([...own.map(({ header }) => header), ...commonHeaders])];
  }

  /** Decides for one request. Cost: some microseconds a rule. */
  resolve(peer: string, values: HeaderValues): ClientIpFinding {
    const peerKey = parseAddress(peer);
    const request: RequestFacts = { peerKey, values, chain: chainOf(values) };
    const traces: ClientIpTrace[] = [];
    let decided: { readonly rule: ClientIpRuleConfig; readonly outcome: Outcome } | null = null;
    for (const rule of this.rules) {
      const outcome: Outcome =
        decided === null ? this.tryRule(rule, peer, request) : skipped('an earlier rule decided');
      traces.push(toTrace(rule, outcome));
      if (outcome.status === 'used' && decided === null) decided = { rule, outcome };
    }
    if (decided === null) traces.push(fallbackTrace(peer));
    return this.report(peer, request, traces, decided);
  }

  private report(
    peer: string,
    request: RequestFacts,
    traces: readonly ClientIpTrace[],
    decided: { readonly rule: ClientIpRuleConfig; readonly outcome: Outcome } | null,
  ): ClientIpFinding {
    const sourceHeader = decided?.rule.header ?? '';
    const list = decided === null ? request.chain : hopsOf(decided.rule, request);
    const verified = decided?.outcome.path ?? noPath;
    const path = verified.length > 0 ? verified : (this.survivors(request, list)[0] ?? noPath);
    const sent = this.watched.find((name) => sentForeign(name, peer, request.values)) ?? '';
    const fromPeer = sourceHeader === '';
    const spoofed = fromPeer && sent !== '' && path.length === 0;
    return {
      ip: decided?.outcome.candidate ?? peer,
      sourceHeader,
      peerTrusted: this.isNextHop(request.peerKey),
      spoofed,
      spoofedHeader: spoofed ? sent : '',
      hops: [...list.map(({ text }) => text), peer],
      warnings: warningsOf(decided?.outcome ?? null, spoofed, list, path),
      traces,
      verifiedNodeIds: path.map(({ id }) => id),
      untrustedRule: decided?.outcome.untrusted ?? false,
    };
  }

  private isNextHop(peerKey: string | null): boolean {
    return peerKey !== null && this.paths.some((path) => path.at(-1)!.holds(peerKey));
  }

  /** Ways whose proxies all stand in their places, the longest first. */
  private survivors({ peerKey }: RequestFacts, chain: readonly Hop[]): readonly Path[] {
    if (peerKey === null) return [];
    return this.paths.filter((path) =>
      path.toReversed().every((node, back) => {
        const key = back === 0 ? peerKey : (chain.at(-back)?.key ?? null);
        return key !== null && node.holds(key);
      }),
    );
  }

  private tryRule(rule: ClientIpRuleConfig, peer: string, request: RequestFacts): Outcome {
    if (!rule.enabled) return skipped('the rule is switched off');
    if (rule.parser === 'remote_addr') {
      return { ...skipped('the rule takes the peer'), status: 'used', candidate: peer };
    }
    const sent = request.values(rule.header);
    if (sent.length === 0) return skipped('the header was not sent');
    const list = rule.parser === 'single_ip' ? [] : hopsOf(rule, request);
    if (list.length > trustLimits.forwardedHopsMax) return rejected('the header has too many hops');
    const chain = rule.parser === 'single_ip' ? request.chain : list;
    const path = this.survivors(request, chain).find((one) =>
      one.some(({ id }) => rule.nodeIds.includes(id)),
    );
    if (path === undefined && !rule.allowUntrusted) {
      return rejected('no complete way through the proxies of this rule is proved');
    }
    const picked =
      rule.parser === 'single_ip' ? pickSingle(sent) : pick(rule, list, path ?? noPath);
    if (typeof picked === 'string') return { ...rejected(picked), path: path ?? noPath };
    return {
      status: 'used',
      reason:
        path === undefined
          ? 'the rule allows the header without proof'
          : 'the proxies of the rule are proved',
      candidate: textOfKey(picked.key),
      path: path ?? noPath,
      untrusted: path === undefined,
    };
  }
}

interface RequestFacts {
  readonly peerKey: string | null;
  readonly values: HeaderValues;
  /** What proxies commonly report, from X-Forwarded-For or else Forwarded. */
  readonly chain: readonly Hop[];
}

function chainOf(values: HeaderValues): readonly Hop[] {
  const list = values('x-forwarded-for');
  return list.length > 0 ? readHopList(list) : readForwarded(values('forwarded'));
}

function hopsOf(rule: ClientIpRuleConfig, { values, chain }: RequestFacts): readonly Hop[] {
  if (rule.parser === 'xff') return readHopList(values(rule.header));
  if (rule.parser === 'forwarded') return readForwarded(values(rule.header));
  return chain;
}

type Picked = { readonly key: string } | string;

function pickSingle(sent: readonly string[]): Picked {
  if (sent.length !== 1) return 'the header was sent more than once';
  return keyOr(readHop(sent[0] ?? ''));
}

/** The hop that a rule chooses, or why there is none. */
function pick(rule: ClientIpRuleConfig, list: readonly Hop[], path: Path): Picked {
  switch (rule.selector) {
    case '':
      return pickFirstUntrusted(list, path);
    case 'single':
      return list.length === 1 ? keyOr(list[0]) : 'the header does not have one address';
    case 'leftmost':
      return keyOr(list[0]);
    case 'rightmost':
      return keyOr(list.at(-1));
    default:
      if (rule.positionFrom === 'right')
        return keyOr(list[Math.max(0, list.length - rule.position)]);
      return keyOr(list[rule.position - 1]);
  }
}

/** The address that the proxy next to the internet reports. */
function pickFirstUntrusted(list: readonly Hop[], path: Path): Picked {
  const stranger = path.find(({ xffMode }) => !chainModes.has(xffMode));
  if (stranger !== undefined) return 'a proxy on the way does not report who sent to it';
  if (path.slice(1).some(({ xffMode }) => xffMode === 'overwrite')) {
    return 'a proxy that overwrites the header cannot have a reported proxy before it';
  }
  const at = list.length - path.length;
  if (at < 0) return 'the header has fewer addresses than the way has proxies';
  if (path[0]?.xffMode === 'overwrite' && at > 0) {
    return 'a proxy that overwrites the header cannot report more than its own client';
  }
  return keyOr(list[at]);
}

function keyOr(hop: Hop | undefined): Picked {
  if (hop === undefined) return 'the header has no address in this place';
  return hop.key === null ? 'what stands in this place is no address' : { key: hop.key };
}

/** Whether a header was sent that names someone other than the peer. */
function sentForeign(name: string, peer: string, values: HeaderValues): boolean {
  const sent = values(name);
  if (sent.length === 0) return false;
  const hops = name === 'forwarded' ? readForwarded(sent) : readHopList(sent);
  const peerKey = parseAddress(peer);
  return hops.some(({ key }) => key !== peerKey || key === null);
}

function warningsOf(
  outcome: Outcome | null,
  spoofed: boolean,
  list: readonly Hop[],
  path: Path,
): string[] {
  const warnings: string[] = [];
  if (spoofed)
    warnings.push('an address header was sent that no trusted proxy wrote; it is ignored');
  if (outcome?.untrusted === true) {
    warnings.push('the address is what the client claims: the rule allows it without proof');
  }
  if (outcome !== null && path.length > 0 && list.length > path.length) {
    warnings.push('hops before the client were sent by the client itself and prove nothing');
  }
  return warnings;
}

function skipped(reason: string): Outcome {
  return { status: 'skipped', reason, candidate: '', path: noPath, untrusted: false };
}

function rejected(reason: string): Outcome {
  return { status: 'rejected', reason, candidate: '', path: noPath, untrusted: false };
}

function toTrace(rule: ClientIpRuleConfig, outcome: Outcome): ClientIpTrace {
  const { status, reason, candidate, path } = outcome;
  const pathNodeIds = path.map(({ id }) => id);
  return {
    ruleId: rule.id,
    header: rule.header,
    status,
    reason,
    candidateIp: candidate,
    pathNodeIds,
  };
}

function fallbackTrace(peer: string): ClientIpTrace {
  const reason = 'no rule decided: the peer is the client';
  return { ruleId: '', header: '', status: 'fallback', reason, candidateIp: peer, pathNodeIds: [] };
}
