/**
 * The spec of Site documents: from document to site, and from site back to the spec that would make
 * it.
 */

import type {
  SiteJson,
  SitePolicyOverrideJson,
  SiteRouteJson,
  SiteRoutingJson,
  SiteUpstreamJson,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import {
  BotProtectionConfigSchema,
  SitePolicyOverrideSchema,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { SiteDeliverySchema } from '../../../proto/gen/waf/v1/delivery_pb.ts';
import { UpstreamTlsSchema } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import type { ManifestDocument } from './manifest-documents.ts';
import { choice, invalid, known, list, object, text, type Spec } from './manifest-fields.ts';
import type { References } from './manifest-references.ts';
import {
  endpointSpec,
  filled,
  normal,
  readEndpoint,
  readHeaders,
  readMessage,
  readStatus,
  statusWord,
} from './manifest-specs.ts';

const siteFields = [
  'primaryHost',
  'aliases',
  'upstreamRef',
  'upstreams',
  'policyRef',
  'certRef',
  'waf',
  'tls',
  'botProtection',
  'delivery',
  'status',
  'routing',
  'policyOverride',
  'ipListBindings',
  'rateLimits',
  'trustProfile',
];
const tlsModes = ['none', 'uploaded', 'managed-acme'];
const tlsBehaviors = ['serve-both', 'redirect-to-https', 'acme-only'];

/** What a Site document states. Routing and override are undefined where it is silent. */
export interface SiteSpec {
  readonly site: SiteJson;
  readonly routing: SiteRoutingJson | undefined;
  readonly policyOverride: SitePolicyOverrideJson | undefined;
}

/** The site of a Site document. */
export function readSiteSpec(document: ManifestDocument, references: References): SiteSpec {
  const { name, spec, where } = document;
  known(spec, siteFields, where, 'spec.');
  const bot = spec['botProtection'];
  const site: SiteJson = {
    name,
    primaryHost: text(spec, 'primaryHost', where, 'spec.'),
    aliases: list(spec, 'aliases', where, 'spec.').map((one, at) => {
      if (typeof one === 'string') return one;
      throw invalid(where, `spec.aliases[${at}]: must be text`);
    }),
    upstreams: readOrigins(spec, where, references),
    tls: readTls(spec, where, references),
    waf: readWaf(spec, where, references),
    status: readStatus(spec, where),
    ...(bot === undefined
      ? {}
      : {
          botProtection: readBot(bot, where, references),
        }),
    ...readDelivery(spec, where),
  };
  return {
    site,
    routing: spec['routing'] === undefined ? undefined : readRouting(spec, where, references),
    policyOverride:
      spec['policyOverride'] === undefined
        ? undefined
        : readMessage(
            SitePolicyOverrideSchema,
            spec['policyOverride'],
            where,
            'spec.policyOverride',
          ),
  };
}

/** The spec of a site. */
export function siteSpec(
  { site, routing, policyOverride }: SiteSpec,
  references: References,
): Spec {
  const pool = site.upstreams?.find(({ upstreamId }) => upstreamId)?.upstreamId ?? '';
  const policy = site.waf?.policyId ?? '';
  const certificate = site.tls?.certId ?? '';
  const bot = botSpec(site, references);
  return filled({
    primaryHost: site.primaryHost,
    aliases: site.aliases,
    upstreamRef: pool === '' ? '' : references.nameOf('upstream', pool),
    upstreams: pool === '' ? (site.upstreams ?? []).map(originSpec) : [],
    policyRef: policy === '' ? '' : references.nameOf('policy', policy),
    certRef: certificate === '' ? '' : references.nameOf('certificate', certificate),
    waf: {
      enabled: site.waf?.enabled === true,
      mode: site.waf?.mode === 'WAF_MODE_DETECTION' ? 'detection' : 'blocking',
    },
    tls: tlsSpec(site),
    botProtection: bot,
    delivery: deliverySpec(site),
    status: statusWord(site.status),
    routing: routing === undefined ? undefined : routingSpec(routing, references),
    policyOverride: policyOverride === undefined ? undefined : overrideSpec(policyOverride),
  });
}

/** IP lists are named; ids are taken, too. */
function readBot(
  value: unknown,
  where: string,
  references: References,
): NonNullable<SiteJson['botProtection']> {
  const field = 'spec.botProtection';
  const bot = readMessage<NonNullable<SiteJson['botProtection']>>(
    BotProtectionConfigSchema,
    value,
    where,
    field,
  );
  const lists = bot.trustedIpListIds ?? [];
  if (lists.length === 0) return bot;
  const idOf = (ref: string, at: number): string =>
    references.idOf('ip list', ref, where, `${field}.trustedIpListIds[${at}]`);
  return { ...bot, trustedIpListIds: lists.map(idOf) };
}

function readDelivery({ delivery }: Spec, where: string): Pick<SiteJson, 'delivery'> {
  if (delivery === undefined) return {};
  return { delivery: readMessage(SiteDeliverySchema, delivery, where, 'spec.delivery') };
}

function deliverySpec({ delivery }: SiteJson): Spec | undefined {
  return delivery === undefined ? undefined : (normal(SiteDeliverySchema, delivery) as Spec);
}

function botSpec({ botProtection }: SiteJson, references: References): Spec | undefined {
  if (botProtection === undefined) return undefined;
  const lists = (botProtection.trustedIpListIds ?? []).map((id) =>
    references.nameOf('ip list', id),
  );
  const named = lists.length === 0 ? botProtection : { ...botProtection, trustedIpListIds: lists };
  return normal(BotProtectionConfigSchema, named) as Spec;
}

function readOrigins(spec: Spec, where: string, references: References): SiteUpstreamJson[] {
  const ref = text(spec, 'upstreamRef', where, 'spec.');
  const inline = list(spec, 'upstreams', where, 'spec.');
  if (ref !== '' && inline.length > 0) throw invalid(where, 'spec.upstreamRef: excludes upstreams');
  if (ref !== '') {
    return [{ upstreamId: references.idOf('upstream', ref, where, 'spec.upstreamRef') }];
  }
  return inline.map((one, at) => {
    const field = `spec.upstreams[${at}]`;
    const { requestHeaders, tls, ...rest } = object(one, where, field);
    const endpoint = readEndpoint(rest, where, field, ['url', 'weight', 'healthCheckPath']);
    return {
      inline: endpoint,
      ...(requestHeaders === undefined
        ? {}
        : { requestHeaders: readHeaders(requestHeaders, where, `${field}.requestHeaders`) }),
      ...(tls === undefined
        ? {}
        : { tls: readMessage(UpstreamTlsSchema, tls, where, `${field}.tls`) }),
    };
  });
}

function originSpec({ inline, requestHeaders, tls }: SiteUpstreamJson): Spec {
  return { ...endpointSpec(inline ?? {}), ...filled({ requestHeaders, tls }) };
}

function readWaf(spec: Spec, where: string, references: References): NonNullable<SiteJson['waf']> {
  const waf = object(spec['waf'] ?? {}, where, 'spec.waf');
  known(waf, ['enabled', 'mode', 'failPolicy'], where, 'spec.waf.');
  const mode = choice(waf, 'mode', ['blocking', 'detection'], where, 'spec.waf.');
  choice(waf, 'failPolicy', ['closed'], where, 'spec.waf.');
  const enabled = waf['enabled'] ?? true;
  if (typeof enabled !== 'boolean') throw invalid(where, 'spec.waf.enabled: must be true or false');
  const ref = text(spec, 'policyRef', where, 'spec.');
  return {
    enabled,
    mode: mode === 'detection' ? 'WAF_MODE_DETECTION' : 'WAF_MODE_BLOCKING',
    ...(ref === '' ? {} : { policyId: references.idOf('policy', ref, where, 'spec.policyRef') }),
  };
}

function readTls(spec: Spec, where: string, references: References): NonNullable<SiteJson['tls']> {
  const tls = object(spec['tls'] ?? {}, where, 'spec.tls');
  known(tls, ['mode', 'minVersion', 'httpBehavior', 'hsts'], where, 'spec.tls.');
  const ref = text(spec, 'certRef', where, 'spec.');
  const modes = ref === '' ? tlsModes : ['uploaded', ...tlsModes];
  const mode = choice(tls, 'mode', modes, where, 'spec.tls.');
  const version = choice(tls, 'minVersion', ['', '1.2', '1.3'], where, 'spec.tls.');
  const behavior = choice(tls, 'httpBehavior', ['', ...tlsBehaviors], where, 'spec.tls.');
  const certId = ref === '' ? '' : references.idOf('certificate', ref, where, 'spec.certRef');
  return {
    mode: `TLS_MODE_${symbol(mode)}` as 'TLS_MODE_NONE',
    ...(certId === '' ? {} : { certId }),
    ...(version === ''
      ? {}
      : { minVersion: `TLS_VERSION_${version.replace('.', '_')}` as 'TLS_VERSION_1_2' }),
    ...(behavior === ''
      ? {}
      : {
          httpBehavior: `TLS_HTTP_BEHAVIOR_${symbol(behavior)}` as 'TLS_HTTP_BEHAVIOR_SERVE_BOTH',
        }),
    ...readStrictTransport(tls['hsts'], where),
  };
}

function readStrictTransport(stated: unknown, where: string): NonNullable<SiteJson['tls']> {
  if (stated === undefined) return {};
  const hsts = object(stated, where, 'spec.tls.hsts');
  known(hsts, ['maxAgeSeconds', 'includeSubdomains'], where, 'spec.tls.hsts.');
  const { maxAgeSeconds = 0, includeSubdomains = false } = hsts;
  if (typeof maxAgeSeconds !== 'number' || !Number.isInteger(maxAgeSeconds) || maxAgeSeconds < 0) {
    throw invalid(where, 'spec.tls.hsts.maxAgeSeconds: must be a whole number of seconds');
  }
  if (typeof includeSubdomains !== 'boolean') {
    throw invalid(where, 'spec.tls.hsts.includeSubdomains: must be true or false');
  }
  return { hstsMaxAgeSeconds: maxAgeSeconds, hstsIncludeSubdomains: includeSubdomains };
}

function tlsSpec({ tls }: SiteJson): Spec | undefined {
  const mode = word(tls?.mode, 'TLS_MODE_');
  if (mode === '' || mode === 'none' || mode === 'unspecified') return undefined;
  return filled({
    mode,
    minVersion: word(tls?.minVersion, 'TLS_VERSION_').replace('-', '.').replace('unspecified', ''),
    httpBehavior: word(tls?.httpBehavior, 'TLS_HTTP_BEHAVIOR_').replace('unspecified', ''),
    ...strictTransportSpec(tls),
  });
}

function strictTransportSpec(tls: SiteJson['tls']): Spec {
  const { hstsMaxAgeSeconds = 0, hstsIncludeSubdomains = false } = tls ?? {};
  if (hstsMaxAgeSeconds === 0) return {};
  const subdomains = hstsIncludeSubdomains ? { includeSubdomains: true } : {};
  return { hsts: { maxAgeSeconds: hstsMaxAgeSeconds, ...subdomains } };
}

const routeFields = ['id', 'name', 'pathPrefix', 'upstreamRef', 'stripPrefix', 'canary'];

function readCanary(
  stated: unknown,
  where: string,
  field: string,
  references: References,
): Pick<SiteRouteJson, 'canary'> {
  if (stated === undefined) return {};
  const canary = object(stated, where, field);
  known(canary, ['upstreamRef', 'weight', 'headerName', 'cookieName'], where, `${field}.`);
  const { weight = 0 } = canary;
  if (typeof weight !== 'number' || !Number.isInteger(weight) || weight < 0 || weight > 100) {
    throw invalid(where, `${field}.weight: must be a whole number from 0 to 100`);
  }
  const ref = text(canary, 'upstreamRef', where, `${field}.`);
  return {
    canary: {
      upstreamId: references.idOf('upstream', ref, where, `${field}.upstreamRef`),
      weight,
      headerName: text(canary, 'headerName', where, `${field}.`),
      cookieName: text(canary, 'cookieName', where, `${field}.`),
    },
  };
}

function canarySpec({ canary }: SiteRouteJson, references: References): Spec | undefined {
  if (canary === undefined) return undefined;
  const { upstreamId = '', weight, headerName, cookieName } = canary;
  return filled({
    ...{ upstreamRef: references.nameOf('upstream', upstreamId), weight: weight || undefined },
    ...{ headerName: headerName || undefined, cookieName: cookieName || undefined },
  });
}

function readRouting(spec: Spec, where: string, references: References): SiteRoutingJson {
  const routing = object(spec['routing'], where, 'spec.routing');
  known(routing, ['unmatched', 'routes'], where, 'spec.routing.');
  const stated = routing['unmatched'] === 404 ? { unmatched: '404' } : routing;
  const unmatched = choice(stated, 'unmatched', ['default', '404'], where, 'spec.routing.');
  const routes = list(routing, 'routes', where, 'spec.routing.').map((one, at) => {
    const field = `spec.routing.routes[${at}]`;
    const route = object(one, where, field);
    known(route, routeFields, where, `${field}.`);
    const ref = text(route, 'upstreamRef', where, `${field}.`);
    const strip = route['stripPrefix'] ?? false;
    if (typeof strip !== 'boolean') throw invalid(where, `${field}.stripPrefix: must be a boolean`);
    const id = text(route, 'id', where, `${field}.`);
    return {
      ...(id === '' ? {} : { id }),
      name: text(route, 'name', where, `${field}.`),
      pathPrefix: text(route, 'pathPrefix', where, `${field}.`),
      upstreamId: references.idOf('upstream', ref, where, `${field}.upstreamRef`),
      rewriteMode: strip
        ? ('PATH_REWRITE_MODE_STRIP_PREFIX' as const)
        : ('PATH_REWRITE_MODE_PRESERVE' as const),
      ...readCanary(route['canary'], where, `${field}.canary`, references),
    };
  });
  return {
    routes,
    unmatchedAction:
      unmatched === '404'
        ? 'UNMATCHED_PATH_ACTION_RETURN_404'
        : 'UNMATCHED_PATH_ACTION_DEFAULT_UPSTREAM',
  };
}

function routingSpec(routing: SiteRoutingJson, references: References): Spec | undefined {
  const returns404 = routing.unmatchedAction === 'UNMATCHED_PATH_ACTION_RETURN_404';
  const routes = (routing.routes ?? []).map((route) =>
    filled({
      id: route.id,
      name: route.name,
      pathPrefix: route.pathPrefix,
      upstreamRef: references.nameOf('upstream', route.upstreamId ?? ''),
      stripPrefix: route.rewriteMode === 'PATH_REWRITE_MODE_STRIP_PREFIX' ? true : undefined,
      canary: canarySpec(route, references),
    }),
  );
  if (routes.length === 0 && !returns404) return undefined;
  return { unmatched: returns404 ? '404' : 'default', routes };
}

function overrideSpec(override: SitePolicyOverrideJson): Spec | undefined {
  const { blockingParanoiaLevel, detectionParanoiaLevel, samplingPercentage, rationale } = override;
  const { inboundAnomalyScoreThreshold, outboundAnomalyScoreThreshold } = override;
  return filled({
    blockingParanoiaLevel,
    detectionParanoiaLevel,
    inboundAnomalyScoreThreshold,
    outboundAnomalyScoreThreshold,
    samplingPercentage,
    rationale,
  });
}

function symbol(text: string): string {
  return text.toUpperCase().replaceAll('-', '_');
}

function word(value: string | undefined, prefix: string): string {
  return (value ?? '').replace(prefix, '').toLowerCase().replaceAll('_', '-');
}
