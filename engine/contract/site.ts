/**
 * Owns the configuration that the traffic path runs on: sites, their hosts, their upstreams. Plain
 * data, as the runtime bundle carries it; resolved, so that nothing here needs a look-up elsewhere.
 */

/** One origin address. */
export interface EndpointConfig {
  /** Address or name, without brackets or port. */
  readonly host: string;
  readonly port: number;
  /** Share of the requests among the endpoints, 1..1000. */
  readonly weight: number;
}

/** A set of origins that answer for a site. */
export interface UpstreamConfig {
  readonly id: string;
  readonly scheme: 'http' | 'https';
  readonly endpoints: readonly EndpointConfig[];
  /** For `https`: name to ask for and to verify (default the endpoint's host). */
  readonly serverName?: string;
  /** For `https`: false accepts any certificate; default true. */
  readonly verifyTls?: boolean;
  /** For `https`: certificates of the accepted authorities, PEM; default the system's. */
  readonly caPem?: string;
}

/** How a site's inspection acts. */
export interface SiteWafConfig {
  readonly enabled: boolean;
  /** Policy that inspects this site's requests; absent where inspection is off. */
  readonly policyId?: string;
  /** `detection` records what would have been done and lets everything pass. */
  readonly mode: 'blocking' | 'detection';
  /** What a request gets when its inspection failed: 503 (`closed`) or through (`open`). */
  readonly failPolicy: 'closed' | 'open';
}

/** One site: its names, its origin and how it is inspected. */
export interface SiteConfig {
  readonly id: string;
  readonly name: string;
  /** Lower-case host names; `*.example.com` stands for exactly one more label, `*` for any host. */
  readonly hosts: readonly string[];
  readonly upstream: UpstreamConfig;
  readonly waf: SiteWafConfig;
  /** Default: bodies for API clients as JSON, for browsers as HTML. */
  readonly responses?: ResponseSettings;
}

/** Which of the product's own pages a request gets. */
export type ResponseTemplate = 'auto' | 'html' | 'json' | 'plain' | 'custom';

/** The reasons for which the product answers by itself under the operator's wording. */
export type ResponseScenario =
  'waf_block' | 'ip_deny' | 'country_deny' | 'rate_limit' | 'bot_block' | 'service_unavailable';

/** What one scenario answers. */
export interface ScenarioSettings {
  /** 400..599. */
  readonly statusCode: number;
  readonly title: string;
  readonly message: string;
}

/** One page with its media type. */
export interface TemplateSettings {
  readonly body: string;
  readonly contentType: string;
}

/** The operator's wording of block pages; what is left out stays as built in. */
export interface ResponseSettings {
  readonly active: ResponseTemplate;
  readonly templates?: Partial<Record<'html' | 'json' | 'plain' | 'custom', TemplateSettings>>;
  readonly scenarios?: Partial<Record<ResponseScenario, ScenarioSettings>>;
}

/** Everything one generation of the traffic path serves. */
export interface RoutesConfig {
  /** Identifies the generation, for example the bundle's revision. */
  readonly revision: string;
  readonly sites: readonly SiteConfig[];
  /** What the composition root needs to make this generation's inspectors; cloneable plain data. */
  readonly inspection?: unknown;
}
