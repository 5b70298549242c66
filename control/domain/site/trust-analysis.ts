/**
 * What sampled requests say about the proxies before a site, and the profile that follows. It only
 * ever suggests: headers of unverified senders prove nothing.
 */

import { counted } from '../../../base/counted.ts';
import type {
  ClientIPAnalysisNodeTrustPreviewJson,
  ClientIPAnalysisPathJson,
  TrustProfileJson,
} from '../../../proto/gen/waf/v1/trust_pb.ts';
import { parseAddress } from '../../../base/ip-address.ts';

/** What one request said of its sender. */
export interface SenderSample {
  readonly peer: string;
  /** Address headers by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Products that other fields of the request show; a hint, no proof. */
  readonly products: readonly string[];
}

/** What the samples say. */
export interface AnalysisFindings {
  readonly distinctPeerCount: number;
  readonly distinctClientCount: number;
  readonly confidence: 'verified' | 'partial' | 'insufficient';
  readonly suggestionKind: 'direct' | 'proxy' | 'proxy_chain' | 'fixed';
  readonly suggestionHeader: string;
  readonly suggestedProfile: TrustProfileJson;
  readonly paths: ClientIPAnalysisPathJson[];
  readonly findings: string[];
  readonly evidence: string[];
  readonly inferences: string[];
  readonly conflicts: string[];
  readonly nodeTrustPreviews: ClientIPAnalysisNodeTrustPreviewJson[];
}

/** Fewer samples prove nothing. */
const samplesMin = 10;
/** A header counts as always there from this share of the requests on. */
const usualShare = 0.9;
/** More senders than this are no proxies that one could list. */
const proxiesMax = 64;

const products: Readonly<Record<string, string>> = {
  'cf-connecting-ip': 'Cloudflare',
  'cf-connecting-ipv6': 'Cloudflare',
  'fastly-client-ip': 'Fastly',
  'x-azure-clientip': 'Azure Front Door',
  'x-azure-socketip': 'Azure Front Door',
  'fly-client-ip': 'Fly.io',
  'ali-cdn-real-ip': 'Alibaba Cloud CDN',
  'incap-client-ip': 'Imperva',
  'x-sucuri-clientip': 'Sucuri',
  'x-envoy-external-address': 'Envoy',
  'x-appengine-user-ip': 'App Engine',
};

interface HeaderTally {
  readonly name: string;
  readonly count: number;
  readonly peers: readonly string[];
  /** Hops of the shortest list that was sent. */
  readonly hopsMin: number;
  /** Requests with the header that also showed a product, by product. */
  readonly products: ReadonlyMap<string, number>;
}

/** Analyses samples. `isTrusted` says whether a peer is a proxy that is trusted already. */
export function analyzeSenders(
  samples: readonly SenderSample[],
  isTrusted: (peer: string) => boolean,
): AnalysisFindings {
  const peers = distinct(samples.map(({ peer }) => peer));
  const tallies = tallyHeaders(samples);
  const strongest = tallies[0];
  const usual = strongest !== undefined && strongest.count >= samples.length * usualShare;
  const trustedPeers = peers.filter(isTrusted);
  const enough = samples.length >= samplesMin;
  const verified = enough && usual && peers.length > 0 && trustedPeers.length === peers.length;
  const kind = kindOf(samples, strongest, usual, peers.length);
  const built = buildSuggestion(kind, strongest, samples, peers);
  return {
    distinctPeerCount: peers.length,
    distinctClientCount: distinct(samples.map(clientOf)).length,
    confidence: verified
      ? 'verified'
      : enough && (usual || !strongest)
        ? 'partial'
        : 'insufficient',
    suggestionKind: kind,
    suggestionHeader: kind === 'direct' ? '' : (strongest?.name ?? ''),
    ...built,
    paths: tallies.map((tally) => pathOf(tally, samples.length, isTrusted)),
    ...textsOf(samples, tallies, peers, trustedPeers, kind),
  };
}

interface Counting {
  count: number;
  readonly peers: Set<string>;
  hopsMin: number;
  readonly products: Map<string, number>;
}

function countNothing(): Counting {
  return { count: 0, peers: new Set(), hopsMin: 64, products: new Map() };
}

function tallyHeaders(samples: readonly SenderSample[]): HeaderTally[] {
  const found = new Map<string, Counting>();
  for (const { peer, headers, products } of samples) {
    for (const [name, value] of Object.entries(headers)) {
      const known = found.get(name) ?? countNothing();
      known.count++;
      known.peers.add(peer);
      known.hopsMin = Math.min(known.hopsMin, value.split(',').length);
      for (const one of products) known.products.set(one, (known.products.get(one) ?? 0) + 1);
      found.set(name, known);
    }
  }
  return [...found]
    .map(([name, tally]) => ({ name, ...tally, peers: [...tally.peers].sort() }))
    .sort(
      (left, right) =>
        right.count - left.count ||
        rank(left.name) - rank(right.name) ||
        (left.name < right.name ? -1 : 1),
    );
}

/** Among equally common headers, one of a product says most, then the chain. */
function rank(name: string): number {
  if (products[name] !== undefined) return 0;
  return name === 'x-forwarded-for' ? 1 : 2;
}

function kindOf(
  samples: readonly SenderSample[],
  strongest: HeaderTally | undefined,
  usual: boolean,
  peerCount: number,
): AnalysisFindings['suggestionKind'] {
  if (samples.length === 0 || strongest === undefined || !usual) return 'direct';
  if (peerCount > proxiesMax) return 'fixed';
  const chain = strongest.name === 'x-forwarded-for' || strongest.name === 'forwarded';
  return chain && strongest.hopsMin >= 2 ? 'proxy_chain' : 'proxy';
}

function buildSuggestion(
  kind: AnalysisFindings['suggestionKind'],
  strongest: HeaderTally | undefined,
  samples: readonly SenderSample[],
  peers: readonly string[],
): Pick<AnalysisFindings, 'suggestedProfile' | 'nodeTrustPreviews'> {
  if (kind === 'direct' || strongest === undefined) {
    return { suggestedProfile: {}, nodeTrustPreviews: [] };
  }
  const header = strongest.name;
  const parser =
    header === 'x-forwarded-for' ? 'xff' : header === 'forwarded' ? 'forwarded' : 'single_ip';
  const rule = { id: 'analysis', header, parser, managed: true, enabled: true };
  if (kind === 'fixed') {
    const selector = parser === 'single_ip' ? 'single' : 'leftmost';
    const extractionRules = [{ ...rule, selector, allowUntrusted: true }];
    return { suggestedProfile: { extractionRules }, nodeTrustPreviews: [] };
  }
  const name = productOf(strongest) || 'Proxy';
  const near = { id: 'proxy', name, realIpHeader: header, xffMode: 'auto' };
  if (kind === 'proxy') {
    return {
      suggestedProfile: {
        nodes: [near],
        edges: [
          { from: 'internet', to: 'proxy' },
          { from: 'proxy', to: 'waf' },
        ],
        extractionRules: [{ ...rule, nodeIds: ['proxy'] }],
      },
      nodeTrustPreviews: [previewOf('proxy', name, peers)],
    };
  }
  const outer = distinct(samples.flatMap((sample) => lastHopOf(sample, header)));
  return {
    suggestedProfile: {
      nodes: [
        { id: 'outer', name: 'Outer proxy', xffMode: 'auto' },
        { ...near, name: 'Inner proxy' },
      ],
      edges: [
        { from: 'internet', to: 'outer' },
        { from: 'outer', to: 'proxy' },
        { from: 'proxy', to: 'waf' },
      ],
      extractionRules: [{ ...rule, nodeIds: ['outer'] }],
    },
    nodeTrustPreviews: [
      previewOf('outer', 'Outer proxy', outer),
      previewOf('proxy', 'Inner proxy', peers),
    ],
  };
}

function previewOf(
  nodeId: string,
  name: string,
  addresses: readonly string[],
): ClientIPAnalysisNodeTrustPreviewJson {
  const ranges = addresses.filter((one) => parseAddress(one) !== null).slice(0, proxiesMax);
  return {
    nodeId,
    suggestedListName: `${name} addresses`,
    sourceKind: 'observed_peers',
    entryCount: ranges.length,
    ranges,
  };
}

function pathOf(
  tally: HeaderTally,
  sampleCount: number,
  isTrusted: (peer: string) => boolean,
): ClientIPAnalysisPathJson {
  const product = productOf(tally);
  const verified = tally.peers.every(isTrusted);
  return {
    productHint: product,
    header: tally.name,
    sampleCount,
    headerSampleCount: tally.count,
    peerVerified: verified,
    observedPeers: tally.peers.slice(0, proxiesMax),
    confidence: verified
      ? 'verified'
      : tally.count >= sampleCount * usualShare
        ? 'partial'
        : 'insufficient',
    description:
      product === ''
        ? `${tally.count} of ${sampleCount} requests had ${tally.name}`
        : `${tally.count} of ${sampleCount} requests had ${tally.name} and signs of ${product}`,
  };
}

/** The product that writes the header, or those that most requests with the header showed. */
function productOf({ name, count, products: shown }: HeaderTally): string {
  const own = products[name];
  if (own !== undefined) return own;
  const usual = [...shown].filter(([, requests]) => requests >= count * usualShare);
  return usual.map(([product]) => product).join(', ');
}

function textsOf(
  samples: readonly SenderSample[],
  tallies: readonly HeaderTally[],
  peers: readonly string[],
  trustedPeers: readonly string[],
  kind: AnalysisFindings['suggestionKind'],
): Pick<AnalysisFindings, 'findings' | 'evidence' | 'inferences' | 'conflicts'> {
  const findings = [
    `${counted(samples.length, 'request')} came from ${counted(peers.length, 'peer')}`,
  ];
  const evidence = tallies.map(({ name, count }) => `${name}: ${count} of ${samples.length}`);
  if (trustedPeers.length > 0)
    evidence.push(`trusted already: ${counted(trustedPeers.length, 'peer')}`);
  const said = {
    direct: 'clients seem to connect directly',
    proxy: 'one proxy seems to stand before the site',
    proxy_chain: 'several proxies seem to stand before the site',
    fixed: 'too many senders write the header to list them; anyone could forge it',
  };
  const partly = tallies.filter(
    ({ count }) => count < samples.length * usualShare && count > samples.length * 0.1,
  );
  const conflicts = partly.map(({ name }) => `${name} is in some requests only`);
  return { findings, evidence, inferences: samples.length === 0 ? [] : [said[kind]], conflicts };
}

/** The client as the sample would have it; its peer where no header names one. */
function clientOf({ peer, headers }: SenderSample): string {
  const named = Object.keys(products).find((name) => headers[name] !== undefined) ?? 'x-real-ip';
  const single = headers[named] ?? headers['x-forwarded-for']?.split(',')[0];
  return single?.trim() ?? peer;
}

function lastHopOf({ headers }: SenderSample, header: string): string[] {
  const last = headers[header]?.split(',').at(-1)?.trim();
  return last === undefined || last === '' ? [] : [last];
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
