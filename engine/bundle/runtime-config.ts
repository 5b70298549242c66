/**
 * The step from a verified bundle to plain data: every reference resolved, every bound checked.
 * Never touches the disk.
 */

import type { ShadowConfig } from '../contract/shadow.ts';
import type {
  RuntimeBundle,
  RuntimeFile,
  RuntimePolicy,
  RuntimeCanary,
  RuntimeSite,
  RuntimeUpstream,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { AppError } from '../../base/errors.ts';
import { bundleLimits } from '../base/limits.ts';
import { plain } from '../contract/plain.ts';
import type { PolicySource } from '../contract/policy.ts';
import type { RuntimeConfig } from '../contract/runtime.ts';
import type {
  CanaryConfig,
  ResponseSettings,
  SiteConfig,
  UpstreamConfig,
} from '../contract/site.ts';
import type { TrustConfig } from '../contract/trust.ts';
import { IpSets } from './ip-set.ts';
import { botProtectionOf, challengeKeysOf } from './runtime-bot.ts';
import { apiChecksOf } from './runtime-api-checks.ts';
import { deliveryOf } from './runtime-delivery.ts';
import { apiLearningOf } from './runtime-api-learning.ts';
import { detectionContentOf } from './runtime-detection-content.ts';
import { accessOf } from './runtime-access.ts';
import { loggingOf } from './runtime-logging.ts';
import { ratesOf } from './runtime-rates.ts';
import { tlsOf } from './runtime-tls.ts';
import { siteOptionsOf } from './runtime-options.ts';
import { trustOf } from './runtime-trust.ts';
import type { VerifiedBundle } from './signed-bundle.ts';

/**
 * Resolves a bundle; `sets` are lists made before, for those that did not change. Errors: AppError
 * bundle_invalid, naming what does not fit.
 */
export function toRuntimeConfig(verified: VerifiedBundle, sets = new IpSets()): RuntimeConfig {
  const { bundle, sha256 } = verified;
  requireAtMost('sites', bundle.sites.length, bundleLimits.sitesMax);
  requireAtMost('policies', bundle.policies.length, bundleLimits.policiesMax);
  const upstreams = new Map(bundle.upstreams.map((one) => [one.id, toUpstream(one)]));
  const policies = bundle.policies.map((one) => toPolicySource(one, bundle));
  const known = new Set([...policies.map(({ id }) => id), ...bundle.heldPolicies]);
  const responses = readResponses(bundle.responsesJson);
  const revision = String(bundle.revision);
  for (const site of bundle.sites) {
    if (!site.wafEnabled || known.has(site.policyId)) continue;
    throw invalid(`site ${site.name}: its policy is missing`);
  }
  const trust = trustOf(bundle);
  const rates = ratesOf(bundle);
  const tls = tlsOf(bundle);
  const botFor = botProtectionOf(bundle, sets);
  const keys = challengeKeysOf(bundle);
  const limitsChallenge = bundle.rateLimits.some(({ action }) => action === 'challenge');
  const access = accessOf(bundle, sets);
  const api = apiChecksOf(bundle);
  const learning = apiLearningOf(bundle);
  const content = detectionContentOf(bundle);
  const options = siteOptionsOf(bundle);
  const sites = bundle.sites.map((site) => {
    const delivery = deliveryOf(site);
    const bot = botFor(site);
    const sticks = delivery?.stickySessions !== undefined;
    const challengeKeys = bot !== undefined || limitsChallenge || sticks ? keys : [];
    return {
      ...toSite(site, upstreams, responses(site), trust(site.id)),
      ...optional('rates', rates(site)),
      ...optional('tls', tls(site)),
      ...optional('access', access(site)),
      ...optional('delivery', delivery),
      ...api.get(site.id),
      ...optional('learning', learning.get(site.id)),
      ...optional('detectionContent', content.get(site.id)),
      ...optional('bot', bot),
      ...(challengeKeys.length > 0 && { challengeKeys }),
      ...options(site.id),
    };
  });
  return { revision, sha256, sites, policies, ...optional('logging', loggingOf(bundle)) };
}

function toSite(
  site: RuntimeSite,
  upstreams: ReadonlyMap<string, UpstreamConfig>,
  responses: ResponseSettings | undefined,
  trust: TrustConfig | undefined,
): SiteConfig {
  const find = (id: string): UpstreamConfig => {
    const found = id === '' && site.unmatchedNotFound ? noUpstream : upstreams.get(id);
    if (found === undefined) throw invalid(`site ${site.name}: its upstream is missing`);
    return found;
  };
  requireAtMost('routes', site.routes.length, bundleLimits.routesMax);
  const routes = site.routes
    .map(({ id, pathPrefix, upstreamId, stripPrefix, canary }) => ({
      ...{ id, pathPrefix, upstream: find(upstreamId), stripPrefix },
      ...optional('canary', canaryOf(canary, find)),
    }))
    .sort((left, right) => right.pathPrefix.length - left.pathPrefix.length);
  const waf = {
    enabled: site.wafEnabled,
    mode: site.detectionOnly ? ('detection' as const) : ('blocking' as const),
    policyId: site.wafEnabled ? site.policyId : '',
    failPolicy: site.failOpen ? ('open' as const) : ('closed' as const),
    ...optional('shadow', shadowOf(site)),
  };
  return {
    id: site.id,
    name: site.name,
    hosts: site.hosts,
    upstream: find(site.upstreamId),
    ...(routes.length === 0 ? {} : { routes }),
    ...(site.unmatchedNotFound ? { unmatchedNotFound: true } : {}),
    waf,
    ...(responses === undefined ? {} : { responses }),
    ...(trust === undefined ? {} : { trust }),
  };
}

function canaryOf(
  canary: RuntimeCanary | undefined,
  find: (id: string) => UpstreamConfig,
): CanaryConfig | undefined {
  if (canary === undefined) return undefined;
  const { upstreamId, headerName, ...fields } = plain(canary);
  return { ...fields, upstream: find(upstreamId), headerName: headerName.toLowerCase() };
}

function shadowOf({ shadow }: RuntimeSite): ShadowConfig | undefined {
  if (shadow === undefined) return undefined;
  const { untilMs, sharePercent } = shadow;
  return { ...plain(shadow), untilMs: Number(untilMs), sharePercent: sharePercent || 100 };
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: V });
}

/** A set of origins as plain data. Errors: AppError bundle_invalid without an endpoint. */
export function toUpstream(upstream: RuntimeUpstream): UpstreamConfig {
  if (upstream.endpoints.length === 0) throw invalid(`upstream ${upstream.id} has no endpoint`);
  const endpoints = upstream.endpoints.map((one) => ({ ...plain(one), weight: one.weight || 1 }));
  const scheme = upstream.tls ? 'https' : 'http';
  const server = upstream.serverName === '' ? {} : { serverName: upstream.serverName };
  const { healthCheck, resilience, caPem, skipVerify } = upstream;
  const requestHeaders = upstream.requestHeaders.map(plain);
  return {
    id: upstream.id,
    scheme,
    endpoints,
    ...server,
    ...(caPem === '' ? {} : { caPem }),
    ...(skipVerify ? { verifyTls: false } : {}),
    ...(requestHeaders.length === 0 ? {} : { requestHeaders }),
    ...(healthCheck === undefined ? {} : { healthCheck: plain(healthCheck) }),
    ...(resilience === undefined ? {} : { resilience: plain(resilience) }),
  };
}

/** For sites whose every path has a route or gets 404. */
const noUpstream: UpstreamConfig = { id: '', scheme: 'http', endpoints: [] };

/** A policy with the files of its ruleset and its own; its own win. */
export function toPolicySource(
  policy: RuntimePolicy,
  bundle: Pick<RuntimeBundle, 'rulesets'>,
): PolicySource {
  const files = new Map<string, Uint8Array>();
  if (policy.rulesetId !== '') {
    const ruleset = bundle.rulesets.find((one) => one.id === policy.rulesetId);
    if (ruleset === undefined) throw invalid(`policy ${policy.name}: its ruleset is missing`);
    addFiles(files, ruleset.files);
  }
  addFiles(files, policy.files);
  return {
    id: policy.id,
    name: policy.name,
    revision: String(policy.revision),
    seclangEntry: policy.seclang,
    files,
  };
}

function addFiles(files: Map<string, Uint8Array>, added: readonly RuntimeFile[]): void {
  requireAtMost('files', added.length, bundleLimits.filesMax);
  for (const { path, content } of added) files.set(path, content);
}

/** The block pages of each site: its own by one of its hosts, or those of all. */
function readResponses(text: string): (site: RuntimeSite) => ResponseSettings | undefined {
  if (text === '') return () => undefined;
  const { sites = {}, ...all } = parseResponses(text);
  const own = new Map(Object.entries(sites));
  return ({ hosts }) => hosts.map((host) => own.get(host)).find((pages) => pages) ?? all;
}

type AllResponses = ResponseSettings & { readonly sites?: Record<string, ResponseSettings> };

function parseResponses(text: string): AllResponses {
  try {
    return JSON.parse(text) as AllResponses;
  } catch (error) {
    throw new AppError('bundle_invalid', 'the block pages of the bundle are not JSON', {
      source: 'config',
      cause: error,
    });
  }
}

function requireAtMost(what: string, count: number, max: number): void {
  if (count > max) throw invalid(`the bundle has ${count} ${what}, the limit is ${max}`);
}

function invalid(message: string): AppError {
  return new AppError('bundle_invalid', message, { source: 'config' });
}
