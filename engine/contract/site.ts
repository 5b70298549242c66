/**
 * The configuration that the traffic path runs on: sites, their hosts, their upstreams. Plain data,
 * as the runtime bundle carries it; resolved, so that nothing here needs a look-up elsewhere.
 */

import type {
  RuntimeHealthCheck,
  RuntimeResilience,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { AccessConfig } from './access.ts';
import type { ApiChecks } from './api-checks.ts';
import type { ApiLearning } from './api-learning.ts';
import type { ArrayNames } from './array-names.ts';
import type { BotConfig, ChallengeKey } from './bot.ts';
import type { DeliveryConfig } from './delivery.ts';
import type { DetectionContent } from './detection-content.ts';
import type { LoggingConfig } from './logging.ts';
import { noInspection, type InspectionConfig } from './policy.ts';
import type { Plain } from './plain.ts';
import type { RateLimits } from './rate-limit.ts';
import type { ShadowConfig } from './shadow.ts';
import type { SiteTlsConfig } from './tls.ts';
import type { TrustConfig } from './trust.ts';

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
  /** Fields set on every request in place of the client's; `Host` may be among them. */
  readonly requestHeaders?: readonly HeaderConfig[];
  /** How the addresses are probed; absent for no probes. */
  readonly healthCheck?: HealthCheckConfig;
  /** What happens with failing addresses; absent for the standard behavior. */
  readonly resilience?: ResilienceConfig;
}

/** A header field; name and value are what HTTP can carry. */
export interface HeaderConfig {
  readonly name: string;
  readonly value: string;
}

/** How an address is probed. */
export type HealthCheckConfig = Plain<RuntimeHealthCheck>;

/** What happens with addresses that fail. */
export type ResilienceConfig = Plain<RuntimeResilience>;

/** A path prefix of a site with an origin of its own. */
export interface PathRouteConfig {
  /** Events name it; absent in what earlier programs wrote. */
  readonly id?: string;
  /** Lower case, begins with `/`, does not end with it (but for `/` itself); whole segments. */
  readonly pathPrefix: string;
  readonly upstream: UpstreamConfig;
  /** The prefix is taken off the path before it goes to the origin. */
  readonly stripPrefix: boolean;
  /** A second pool for a part of the requests; absent for none. */
  readonly canary?: CanaryConfig;
}

/** A second pool of a route: the field decides before the cookie, the cookie before the weight. */
export interface CanaryConfig {
  readonly upstream: UpstreamConfig;
  /** Percent of the clients. */
  readonly weight: number;
  /** Lower case; its value `always` or `never` decides. '' for none. */
  readonly headerName: string;
  /** The same of a cookie. */
  readonly cookieName: string;
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
  /** A ruleset that inspects beside the policy's, and decides nothing; absent for none. */
  readonly shadow?: ShadowConfig;
}

/** One site: its names, its origin and how it is inspected. */
export interface SiteConfig {
  readonly id: string;
  readonly name: string;
  /** Lower-case host names; `*.example.com` stands for exactly one more label, `*` for any host. */
  readonly hosts: readonly string[];
  readonly upstream: UpstreamConfig;
  /** Longest prefix first; what none of them takes goes to `upstream`. */
  readonly routes?: readonly PathRouteConfig[];
  /** True: what no route takes gets 404 instead; `upstream` may then have no endpoints. */
  readonly unmatchedNotFound?: boolean;
  readonly waf: SiteWafConfig;
  /** Default: bodies for API clients as JSON, for browsers as HTML. */
  readonly responses?: ResponseSettings;
  /** What decides by address and country; absent for nothing. Shared between sites. */
  readonly access?: AccessConfig;
  /** How often clients may ask; absent for no limits. */
  readonly rates?: RateLimits;
  /** What clients prove before they are served; absent for nothing. */
  readonly bot?: BotConfig;
  /** What seals challenges, the newest first; absent: a key that only this engine has. */
  readonly challengeKeys?: readonly ChallengeKey[];
  /** Who may name the client; absent where only the peer counts. Shared between sites. */
  readonly trust?: TrustConfig;
  /** Absent where the site is served over plain HTTP only. */
  readonly tls?: SiteTlsConfig;
  /** What is checked of requests to the site's API; absent where no document is in use. */
  readonly api?: ApiChecks;
  /**
   * The text of the checks of `api`, UTF-8, in memory that all threads share; its own `code` is ''
   * then. Absent where `api` has it.
   */
  readonly apiCode?: Uint8Array;
  /** Messages of WebSockets are inspected; absent where they are not. */
  readonly websocketMessages?: 'observe' | 'block';
  /** Answers tell clients what rate limits leave them; absent where they do not. */
  readonly rateLimitFields?: boolean;
  /** Text fields of gRPC messages are inspected as arguments; absent where they are not. */
  readonly grpcFields?: boolean;
  /** How the origin reads names such as `n[]`, for checks of `api`; absent: as any name. */
  readonly arrayNames?: ArrayNames;
  /** How it is delivered beside protection; absent where nothing is set. */
  readonly delivery?: DeliveryConfig;
  /** What is done with signs that many clients show in one value; absent for nothing. */
  readonly detectionLearning?: 'suggest' | 'auto';
  /** What was learned of signs that are content; absent for nothing. */
  readonly detectionContent?: DetectionContent;
  /** Applications whose fields are known, as `readChosen` takes them; absent for none. */
  readonly applications?: string;
  /** Endpoints that learn the structure of bodies; absent for none. */
  readonly learning?: ApiLearning;
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

/** Revision of the routes that serve before there is a configuration. */
export const noConfiguration = '0';

/** The sites of one generation. */
export interface SiteTable {
  /** Identifies the generation, for example the bundle's revision. */
  readonly revision: string;
  readonly sites: readonly SiteConfig[];
}

/** Everything one generation of the traffic path serves. */
export interface RoutesConfig extends SiteTable {
  readonly inspection: InspectionConfig;
  /** What is kept of requests; absent for the standard policy. */
  readonly logging?: LoggingConfig;
}

/** Serves no site. */
export const noRoutes: RoutesConfig = {
  revision: noConfiguration,
  sites: [],
  inspection: noInspection,
};

/** Every upstream of a generation; one that several sites use comes several times. */
export function* upstreamsOf({ sites }: SiteTable): Generator<UpstreamConfig> {
  for (const { upstream, routes = [] } of sites) {
    yield upstream;
    for (const { upstream: own, canary } of routes) {
      yield own;
      if (canary !== undefined) yield canary.upstream;
    }
  }
}
