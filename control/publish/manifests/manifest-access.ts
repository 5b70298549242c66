/**
 * The parts of documents that decide access: bindings of IP lists, rate limits, uses of exclusion
 * plugins, trust profiles, country rules. From document to record and back, by one set of names.
 * Lists, policies and sites are named; ids of entries are stated, as they break ties.
 */

import { PolicyCrsExclusionPluginSchema } from '../../../proto/gen/waf/v1/crs_pb.ts';
import type { PolicyCrsExclusionPluginJson } from '../../../proto/gen/waf/v1/crs_pb.ts';
import {
  CountryAccessRuleSchema,
  type CountryAccessRuleJson,
} from '../../../proto/gen/waf/v1/country_access_pb.ts';
import {
  IpListBindingRecordSchema,
  type IpListBindingRecordJson,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import {
  RateLimitEndpointRecordSchema,
  type RateLimitEndpointRecordJson,
} from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { TrustProfileSchema, type TrustProfileJson } from '../../../proto/gen/waf/v1/trust_pb.ts';
import { addressHeaders } from '../../../base/address-headers.ts';
import type { ManifestDocument } from './manifest-documents.ts';
import { invalid, known, list, object, text, type Spec } from './manifest-fields.ts';
import type { References } from './manifest-references.ts';
import { filled, normal, readMessage } from './manifest-specs.ts';

/** Fields that the service gives, or that say where an entry stands. */
const given = ['policyId', 'siteId', 'tenantId', 'createdAt', 'updatedAt', 'scope', 'ipListName'];

/** Bindings of the document; undefined where it is silent. */
export function readBindingSpecs(
  document: ManifestDocument,
  references: References,
): IpListBindingRecordJson[] | undefined {
  return readEntries(document, 'ipListBindings', (entry, where, field) => {
    const { listRef: _list, policyRef: _policy, ...rest } = entry;
    const listRef = text(entry, 'listRef', where, `${field}.`);
    return {
      ...readMessage<IpListBindingRecordJson>(IpListBindingRecordSchema, rest, where, field),
      ipListId: references.idOf('ip list', listRef, where, `${field}.listRef`),
      policyId: policyOf(entry, references, where, field),
    };
  });
}

/** A binding as documents state it. `inSite`: the policy beside the site is named, too. */
export function bindingSpec(
  binding: IpListBindingRecordJson,
  references: References,
  inSite: boolean,
): Spec {
  const { ipListId = '', policyId = '', sortOrder = 0 } = binding;
  return filled({
    ...own(binding, ['ipListId']),
    listRef: references.nameOf('ip list', ipListId),
    policyRef: inSite && policyId !== '' ? references.nameOf('policy', policyId) : '',
    sortOrder,
  });
}

/** Rate limits of the document; undefined where it is silent. */
export function readRateLimitSpecs(
  document: ManifestDocument,
  references: References,
): RateLimitEndpointRecordJson[] | undefined {
  return readEntries(document, 'rateLimits', (entry, where, field) => {
    const { policyRef: _policy, ...rest } = entry;
    return {
      ...readMessage<RateLimitEndpointRecordJson>(
        RateLimitEndpointRecordSchema,
        rest,
        where,
        field,
      ),
      policyId: policyOf(entry, references, where, field),
    };
  });
}

/** A rate limit as documents state it. */
export function rateLimitSpec(
  limit: RateLimitEndpointRecordJson,
  references: References,
  inSite: boolean,
): Spec {
  const { policyId = '' } = limit;
  const stated = normal(RateLimitEndpointRecordSchema, own(limit, []));
  const policyRef = inSite && policyId !== '' ? references.nameOf('policy', policyId) : '';
  return filled({ ...(stated as Spec), policyRef });
}

/** Uses of exclusion plugins of the document; undefined where it is silent. */
export function readPluginUseSpecs(
  document: ManifestDocument,
): PolicyCrsExclusionPluginJson[] | undefined {
  return readEntries(document, 'exclusionPlugins', (entry, where, field) => {
    known(entry, ['id', 'plugin', 'enabled', 'pathPrefix', 'sortOrder'], where, `${field}.`);
    const { plugin: _plugin, ...rest } = entry;
    const pluginSlug = text(entry, 'plugin', where, `${field}.`);
    if (pluginSlug === '') throw invalid(where, `${field}.plugin: is required`);
    const read = readMessage<PolicyCrsExclusionPluginJson>(
      PolicyCrsExclusionPluginSchema,
      { enabled: true, ...rest },
      where,
      field,
    );
    return { ...read, pluginSlug };
  });
}

/** The use of an exclusion plugin as documents state it. */
export function pluginUseSpec(use: PolicyCrsExclusionPluginJson): Spec {
  const { id, pluginSlug, enabled = false, pathPrefix, sortOrder = 0 } = use;
  return filled({ id, plugin: pluginSlug, enabled, pathPrefix, sortOrder });
}

/** A trust profile, and whether headers outside the safe list are meant. */
export interface TrustSpec {
  readonly profile: TrustProfileJson;
  readonly force: boolean;
}

/** The trust profile of the document; undefined where it is silent. */
export function readTrustSpec(
  { spec, where }: ManifestDocument,
  references: References,
): TrustSpec | undefined {
  if (spec['trustProfile'] === undefined) return undefined;
  const field = 'spec.trustProfile';
  const { force = false, ...rest } = object(spec['trustProfile'], where, field);
  if (typeof force !== 'boolean') throw invalid(where, `${field}.force: must be true or false`);
  const read = readMessage<TrustProfileJson>(TrustProfileSchema, rest, where, field);
  const nodes = (read.nodes ?? []).map((node, at) => ({
    ...node,
    trust: {
      ipListIds: (node.trust?.ipListIds ?? []).map((ref, place) =>
        references.idOf('ip list', ref, where, `${field}.nodes[${at}].trust.ipListIds[${place}]`),
      ),
    },
  }));
  return { profile: { ...read, nodes }, force };
}

/** A trust profile as documents state it. Lists are named. */
export function trustSpec(profile: TrustProfileJson, references: References): Spec {
  const nodes = (profile.nodes ?? []).map((node) => ({
    ...node,
    trust: {
      ipListIds: (node.trust?.ipListIds ?? []).map((id) => references.nameOf('ip list', id)),
    },
  }));
  const headers = [
    ...(profile.nodes ?? []).map(({ realIpHeader }) => realIpHeader ?? ''),
    ...(profile.extractionRules ?? []).map(({ header }) => header ?? ''),
  ];
  const unsafe = headers.some((one) => one !== '' && !addressHeaders.includes(one.toLowerCase()));
  const stated = normal(TrustProfileSchema, { ...profile, nodes });
  return { ...(stated as Spec), ...(unsafe ? { force: true } : {}) };
}

/** The rule of a CountryRule document. Policies and sites are named. */
export function readCountrySpec(
  { name, spec, where }: ManifestDocument,
  references: References,
): CountryAccessRuleJson {
  for (const field of ['id', 'name', 'etag', 'createdAt', 'updatedAt']) {
    if (spec[field] !== undefined) throw invalid(where, `spec.${field}: is given by the service`);
  }
  const { targets: _targets, ...rest } = spec;
  const targets = list(spec, 'targets', where, 'spec.').map((one, at) => {
    const field = `spec.targets[${at}]`;
    const target = object(one, where, field);
    known(target, ['policyRef', 'siteRef'], where, `${field}.`);
    const siteRef = text(target, 'siteRef', where, `${field}.`);
    return {
      policyId: policyOf(target, references, where, field),
      siteId: siteRef === '' ? '' : references.idOf('site', siteRef, where, `${field}.siteRef`),
    };
  });
  const stated = { enabled: true, ...rest };
  const read = readMessage<CountryAccessRuleJson>(CountryAccessRuleSchema, stated, where, 'spec');
  return { ...read, name, targets };
}

/** The spec of a country rule. */
export function countrySpec(
  rule: Omit<CountryAccessRuleJson, 'targets'> & {
    readonly targets?: readonly { readonly policyId?: string; readonly siteId?: string }[];
  },
  references: References,
): Spec {
  const { enabled = false, sortOrder = 0, targets = [] } = rule;
  const places = targets
    .map(({ policyId = '', siteId = '' }) =>
      filled({
        policyRef: policyId === '' ? '' : references.nameOf('policy', policyId),
        siteRef: siteId === '' ? '' : references.nameOf('site', siteId),
      }),
    )
    .filter((place) => Object.keys(place).length > 0);
  return filled({
    ...own(rule, ['id', 'name', 'etag', 'targets']),
    enabled,
    sortOrder,
    targets: places,
  });
}

function policyOf(entry: Spec, references: References, where: string, field: string): string {
  const ref = text(entry, 'policyRef', where, `${field}.`);
  return ref === '' ? '' : references.idOf('policy', ref, where, `${field}.policyRef`);
}

/** The record without what the service gives and without `also`. */
function own(record: object, also: readonly string[]): Spec {
  const left = [...given, ...also];
  return Object.fromEntries(Object.entries(record).filter(([name]) => !left.includes(name)));
}

function readEntries<T>(
  { spec, where }: ManifestDocument,
  name: string,
  read: (entry: Spec, where: string, field: string) => T,
): T[] | undefined {
  if (spec[name] === undefined) return undefined;
  return list(spec, name, where, 'spec.').map((one, at) => {
    const field = `spec.${name}[${at}]`;
    const entry = object(one, where, field);
    for (const one of given) {
      if (entry[one] !== undefined) {
        throw invalid(where, `${field}.${one}: is given by the service, or by the document`);
      }
    }
    return read(entry, where, field);
  });
}
