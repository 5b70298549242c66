/** The form of a row of the chain's table, and of what its sites are set to. Plain data. */

/** How a request reaches the proxy: HTTP/1.1 and HTTP/2, without and with TLS. */
export const ways = ['h1', 'h1s', 'h2', 'h2s'] as const;
/** One of them; HTTP/2 without TLS begins with prior knowledge. */
export type Way = (typeof ways)[number];

/** A request; what is left out is as most rows have it. */
export interface ChainRequest {
  /** Default GET. */
  readonly method?: string;
  /** Default `/`. */
  readonly path?: string;
  /** Host in place of the site's. */
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The body goes without a length. */
  readonly chunked?: boolean;
  /** Last part of the loopback address that the client has; default one for each way. */
  readonly from?: number;
  /** The whole request as it stands on the wire, for HTTP/1.1. */
  readonly raw?: string;
  /**
   * The client is a balancer, and this stands before its first byte; '' where nothing does. Not
   * together with `from`.
   */
  readonly proxy?: string;
  /** Name in the TLS handshake, where it is not the host. */
  readonly serverName?: string;
  /** The certificate that the client shows over TLS. */
  readonly certificate?: string;
  /**
   * Key of a site whose first page is asked for before, over the same connection of HTTP/2: it is
   * served.
   */
  readonly after?: string;
  /** The request opens a WebSocket, and sends this text message over it. */
  readonly message?: string;
  /** The same, with frames as they stand on the wire. */
  readonly frames?: string;
  /** A path that is asked for first: its challenge is solved, and the pass shown from then on. */
  readonly solves?: string;
  /**
   * A path that is asked for first: its cookie is shown from then on, in place of `$cookie` where
   * that stands, and the origin that answered must answer again.
   */
  readonly returns?: string;
}

/** What must become of it. */
export interface ChainExpected {
  /** 0 where the connection is closed without an answer. */
  readonly status: number;
  /** Default: `served` for 200, `blocked` for others. */
  readonly outcome?: string;
  /** Code of a refusal of our own. */
  readonly refusal?: string;
  /** `guard action` of every decision, in order; default none. */
  readonly guards?: readonly string[];
  /** Rules that must have matched, and must not have. */
  readonly with?: readonly number[];
  readonly without?: readonly number[];
  /** Status in the event, where it is another one. */
  readonly logged?: number;
  /** The event of the first message. */
  readonly message?: ChainExpected;
  /** True: nothing was inspected; false: something was. */
  readonly uninspected?: boolean;
  /** Site that served or refused it; default that of the row, '' for none. */
  readonly site?: string;
  /** The request ended before its id was read: only counters show it. */
  readonly unnamed?: boolean;
  /** Origin that got it, and the target as it got it. */
  readonly origin?: string;
  readonly target?: string;
  /** Fields of the answer that must have these values; null for absent. */
  readonly fields?: Readonly<Record<string, string | null>>;
  /** Forms that fields of the answer must have. */
  readonly forms?: Readonly<Record<string, RegExp>>;
  /** A part of the answer's body. */
  readonly body?: string;
}

/** One sentence of the specification, with the request that shows it. */
export interface ChainRow {
  /** Section of the specification, then its sentence in our words. */
  readonly says: string;
  readonly site: string;
  readonly request: ChainRequest;
  readonly expected: ChainExpected;
  /** Statuses of the same request sent before, in order. */
  readonly before?: readonly number[];
  /** Default all. */
  readonly ways?: readonly Way[];
}

/**
 * One call of the set-up. In bodies `$policy:KEY`, `$site:KEY`, `$list:KEY`, `$pool:KEY` and
 * `$cert:KEY` stand for ids, `$origin:KEY` for a URL, `$authority:KEY` for a certificate,
 * `$revision` for the revision of the policy that the body names.
 */
export interface SetupCall {
  readonly rpc: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Names the resource that the answer holds. */
  readonly as?: string;
}

/** What one group of rows needs, and the rows. */
export interface ChainGroup {
  readonly setup: readonly SetupCall[];
  /** Made when the group's turn comes: settings that would change what other rows get. */
  readonly later?: readonly SetupCall[];
  readonly rows: readonly ChainRow[];
}

/** Domain of all sites. */
export const domain = 'chain.test';

/** A site of its own host, WAF off unless a policy is named; TLS beside plain HTTP. */
export function siteCall(key: string, more: Readonly<Record<string, unknown>> = {}): SetupCall {
  const site = {
    name: key,
    primaryHost: `${key}.${domain}`,
    upstreams: [{ upstreamId: '$pool:a' }],
    tls: {
      mode: 'TLS_MODE_UPLOADED',
      certId: '$cert:chain',
      httpBehavior: 'TLS_HTTP_BEHAVIOR_SERVE_BOTH',
    },
    waf: { enabled: false },
    ...more,
  };
  return { rpc: 'SiteService/CreateSite', body: { site }, as: `site:${key}` };
}

/** The setting of a site that a policy inspects. */
export const inspectedBy = (policy: string, mode = 'WAF_MODE_BLOCKING') => ({
  waf: { enabled: true, policyId: `$policy:${policy}`, mode },
});

/** A policy from a template, and what is changed of it. */
export function policyCalls(
  key: string,
  template: string,
  ...changes: readonly SetupCall[]
): SetupCall[] {
  const body = { templateId: `template-${template}`, name: `chain ${key}` };
  const made = { rpc: 'PolicyService/CreatePolicyFromTemplate', body, as: `policy:${key}` };
  const text = (value: unknown): string =>
    JSON.stringify(value).replaceAll('$own', `$policy:${key}`);
  return [
    made,
    ...changes.map((one) => ({ ...one, body: JSON.parse(text(one.body)) as SetupCall['body'] })),
  ];
}

/** Replaces a layer of the policy `$own`. */
export function layerCall(kind: string, config: object): SetupCall {
  const body = { policyId: '$own', revision: '$revision', layer: `POLICY_LAYER_KIND_${kind}` };
  return { rpc: 'PolicyService/UpdatePolicyLayer', body: { ...body, config } };
}

/** Changes fields of the policy `$own`. */
export function policyChange(policy: object, updateMask: string): SetupCall {
  const body = { policy: { id: '$own', ...policy }, revision: '$revision', updateMask };
  return { rpc: 'PolicyService/UpdatePolicy', body };
}

/** A list of addresses. */
export function listCall(key: string, values: readonly string[]): SetupCall {
  const ipList = { name: `chain ${key}`, entries: values.map((value) => ({ value })) };
  return { rpc: 'IpListService/CreateIpList', body: { ipList }, as: `list:${key}` };
}

/** Ways of one kind. */
export const firstHttp: readonly Way[] = ['h1', 'h1s'];
/** HTTP/2 alone. */
export const secondHttp: readonly Way[] = ['h2', 'h2s'];
/** Without TLS. */
export const plainWays: readonly Way[] = ['h1', 'h2'];
/** With TLS. */
export const secureWays: readonly Way[] = ['h1s', 'h2s'];

/** The usual types of bodies. */
export const formType = { 'content-type': 'application/x-www-form-urlencoded' };
/** JSON. */
export const jsonType = { 'content-type': 'application/json' };
