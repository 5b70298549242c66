/**
 * The shape of a trust profile as the traffic path uses it, and of what it says of a request. Plain
 * data; list contents are resolved, so that nothing is looked up elsewhere.
 */

import type {
  RuntimeClientIpRule,
  RuntimeTrustEdge,
} from '../../proto/gen/waf/runtime/v1/access_pb.ts';
import type { Plain } from './plain.ts';

/** A proxy before the product. */
export interface TrustNodeConfig {
  readonly id: string;
  /** Networks of the proxy as keys, see base/ip-address.ts. */
  readonly ranges: readonly string[];
  /** Empty, auto, append, overwrite, preserve, duplicate or unknown. */
  readonly xffMode: string;
}

/** A way a request takes: from a node or `internet`, to a node or `waf`. */
export type TrustEdgeConfig = Plain<RuntimeTrustEdge>;

/** How to take the client's address from a request. */
export type ClientIpRuleConfig = Plain<RuntimeClientIpRule>;

/** The trusted proxies and the headers that they write. */
export interface TrustConfig {
  readonly nodes: readonly TrustNodeConfig[];
  readonly edges: readonly TrustEdgeConfig[];
  /** The first that can be used decides. */
  readonly rules: readonly ClientIpRuleConfig[];
}

/** What one rule did. */
export interface ClientIpTrace {
  /** Empty for the fallback to the peer. */
  readonly ruleId: string;
  readonly header: string;
  readonly status: 'used' | 'skipped' | 'rejected' | 'fallback';
  readonly reason: string;
  readonly candidateIp: string;
  readonly pathNodeIds: readonly string[];
}

/** Whose address a request has, and why. */
export interface ClientIpFinding {
  readonly ip: string;
  /** Header that the address is from; empty when the peer was used. */
  readonly sourceHeader: string;
  /** The peer is a proxy next to the product. */
  readonly peerTrusted: boolean;
  /** An address header was sent that nobody trusted wrote. */
  readonly spoofed: boolean;
  /** Header that was sent without trust; empty when none was. */
  readonly spoofedHeader: string;
  /** Left to right, the peer last. */
  readonly hops: readonly string[];
  readonly warnings: readonly string[];
  readonly traces: readonly ClientIpTrace[];
  /** The way that the request verifiably took. */
  readonly verifiedNodeIds: readonly string[];
  /** A rule without verification decided. */
  readonly untrustedRule: boolean;
}

/** What one request says about its client. */
export interface ClientSample {
  readonly siteId: string;
  readonly peer: string;
  /** Address headers by name in lower case; several fields joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** Products that other fields of the request show; a hint, no proof. */
  readonly products: readonly string[];
}

/** Someone sent an address header without being trusted. */
export interface SpoofNote {
  readonly firstSeenMs: number;
  readonly siteId: string;
  readonly peer: string;
  readonly header: string;
  readonly count: number;
}

/** What a front thread noticed about clients since its last message. */
export interface ClientNotes {
  readonly samples: readonly ClientSample[];
  readonly spoofs: readonly SpoofNote[];
}
