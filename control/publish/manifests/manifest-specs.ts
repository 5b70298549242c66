/**
 * The specs of Upstream, IpList and Policy documents: from document to resource, and from resource
 * back to the spec that would make it. Both directions use the same names.
 */

import { fromJson, toJson, type DescMessage, type JsonValue } from '@bufbuild/protobuf';
import type { IpListEntryJson } from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import {
  ArgLimitsSchema,
  CrsCoreSettingsSchema,
  HttpPolicySchema,
  PolicyPluginSchema,
  type PolicyJson,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import {
  UpstreamHealthCheckSchema,
  UpstreamResiliencePolicySchema,
  UpstreamTlsSchema,
  type UpstreamJson,
} from '../../../proto/gen/waf/v1/upstream_pb.ts';
import type { ManifestDocument } from './manifest-documents.ts';
import { choice, invalid, known, list, object, text, type Spec } from './manifest-fields.ts';
import { readAsMessage } from './manifest-message.ts';
import { readPolicySettings } from './manifest-policy.ts';
import type { References } from './manifest-references.ts';

/** A part of a spec in the form of an API message. Errors: manifest_invalid naming `field`. */
export function readMessage<T>(
  schema: DescMessage,
  value: unknown,
  where: string,
  field: string,
): T {
  object(value, where, field);
  return readAsMessage(schema, value, where, field) as T;
}

const upstreamFields = [
  'description',
  'algorithm',
  'status',
  'endpoints',
  'healthCheck',
  'resilience',
  'requestHeaders',
  'tls',
];

/** The pool of an Upstream document. */
export function readUpstreamSpec({ name, spec, where }: ManifestDocument): UpstreamJson {
  known(spec, upstreamFields, where, 'spec.');
  choice(spec, 'algorithm', ['round_robin'], where, 'spec.');
  const description = text(spec, 'description', where, 'spec.');
  const endpoints = list(spec, 'endpoints', where, 'spec.').map((one, at) =>
    readEndpoint(one, where, `spec.endpoints[${at}]`, ['url', 'weight', 'healthCheckPath']),
  );
  const { healthCheck, resilience, requestHeaders, tls } = spec;
  return {
    name,
    status: readStatus(spec, where),
    endpoints,
    ...(description === '' ? {} : { description }),
    ...(healthCheck === undefined
      ? {}
      : {
          healthCheck: readMessage(
            UpstreamHealthCheckSchema,
            healthCheck,
            where,
            'spec.healthCheck',
          ),
        }),
    ...(resilience === undefined
      ? {}
      : {
          resilience: readMessage(
            UpstreamResiliencePolicySchema,
            resilience,
            where,
            'spec.resilience',
          ),
        }),
    ...(requestHeaders === undefined
      ? {}
      : { requestHeaders: readHeaders(requestHeaders, where, 'spec.requestHeaders') }),
    ...(tls === undefined ? {} : { tls: readMessage(UpstreamTlsSchema, tls, where, 'spec.tls') }),
  };
}

/** The spec of a pool. */
export function upstreamSpec(pool: UpstreamJson): Spec {
  return filled({
    description: pool.description,
    status: statusWord(pool.status),
    endpoints: (pool.endpoints ?? []).map(endpointSpec),
    healthCheck: pool.healthCheck,
    resilience: pool.resilience,
    requestHeaders: pool.requestHeaders,
    tls: pool.tls,
  });
}

/** What an IpList document states. */
export interface IpListSpec {
  readonly description: string;
  readonly entries: readonly IpListEntryJson[];
}

/** The list of an IpList document. */
export function readIpListSpec({ spec, where }: ManifestDocument): IpListSpec {
  known(spec, ['description', 'entries'], where, 'spec.');
  const entries = list(spec, 'entries', where, 'spec.').map((one, at): IpListEntryJson => {
    const field = `spec.entries[${at}]`;
    const entry = typeof one === 'string' ? { cidr: one } : object(one, where, field);
    known(entry, ['cidr', 'description', 'expireAt'], where, `${field}.`);
    const expireAt = timeText(entry['expireAt'], where, `${field}.expireAt`);
    const note = text(entry, 'description', where, `${field}.`);
    return {
      value: text(entry, 'cidr', where, `${field}.`),
      ...(note === '' ? {} : { note }),
      ...(expireAt === '' ? {} : { expiresAt: expireAt }),
    };
  });
  return { description: text(spec, 'description', where, 'spec.'), entries };
}

/** The spec of a list. */
export function ipListSpec({ description, entries }: IpListSpec): Spec {
  return filled({
    description,
    entries: entries.map(({ value, note, expiresAt }) =>
      filled({ cidr: value, description: note, expireAt: expiresAt }),
    ),
  });
}

const policyFields = [
  'description',
  'status',
  'template',
  'crsRulesetRef',
  'engineState',
  'blockingMode',
  'crsCore',
  'httpPolicy',
  'argLimits',
  'plugins',
  'ruleOverrides',
  'customRules',
  'exclusionPlugins',
  'ipListBindings',
  'rateLimits',
];
const bundleOnly = ['ruleset', 'seclang', 'seclangBefore', 'seclangFiles', 'files'];

/** The policy of a Policy document, without its rules. */
export function readPolicySpec(document: ManifestDocument, references: References): PolicyJson {
  const { name, spec, where } = document;
  for (const field of bundleOnly) {
    if (spec[field] === undefined) continue;
    throw invalid(where, `spec.${field}: is for waf bundle build; use customRules here`);
  }
  known(spec, policyFields, where, 'spec.');
  const status = choice(spec, 'status', ['active', 'draft', 'archived'], where, 'spec.');
  const ref = text(spec, 'crsRulesetRef', where, 'spec.');
  if (ref === '' && status === 'active') {
    throw invalid(where, 'spec.crsRulesetRef: is required: an active policy needs a ruleset');
  }
  const description = text(spec, 'description', where, 'spec.');
  const plugins = list(spec, 'plugins', where, 'spec.').map((one, at) =>
    readMessage<object>(PolicyPluginSchema, one, where, `spec.plugins[${at}]`),
  );
  const rulesetId = references.idOf.bind(references, 'ruleset');
  return {
    ...readPolicySettings(document, name),
    description,
    status,
    crsRulesetId: ref === '' ? '' : rulesetId(ref, where, 'spec.crsRulesetRef'),
    ...(plugins.length === 0 ? {} : { plugins }),
  };
}

/** The spec of a policy, without its rules. */
export function policySpec(policy: PolicyJson, references: References): Spec {
  const ruleset = policy.crsRulesetId ?? '';
  const word = (value: string | undefined, prefix: string): string =>
    (value ?? '').replace(prefix, '').toLowerCase().replace('_', '-');
  return filled({
    description: policy.description,
    status: policy.status,
    crsRulesetRef: ruleset === '' ? '' : references.nameOf('ruleset', ruleset),
    engineState: word(policy.engineState, 'ENGINE_STATE_'),
    blockingMode: word(policy.blockingMode, 'BLOCKING_MODE_'),
    crsCore: normal(CrsCoreSettingsSchema, policy.crsCore),
    httpPolicy: normal(HttpPolicySchema, policy.httpPolicy),
    argLimits: normal(ArgLimitsSchema, policy.argLimits),
    plugins: (policy.plugins ?? []).map((one) => normal(PolicyPluginSchema, one)),
  });
}

/** An endpoint of a pool or a site. */
export function readEndpoint(
  value: unknown,
  where: string,
  field: string,
  fields: readonly string[],
): { url: string; weight: number; healthCheckPath?: string } {
  const endpoint = object(value, where, field);
  known(endpoint, fields, where, `${field}.`);
  const weight = endpoint['weight'] ?? 1;
  if (typeof weight !== 'number' || !Number.isInteger(weight)) {
    throw invalid(where, `${field}.weight: must be a whole number`);
  }
  const path = text(endpoint, 'healthCheckPath', where, `${field}.`);
  const url = text(endpoint, 'url', where, `${field}.`);
  return { url, weight, ...(path === '' ? {} : { healthCheckPath: path }) };
}

/** An endpoint as documents state it. */
export function endpointSpec(endpoint: {
  url?: string;
  weight?: number;
  healthCheckPath?: string;
}): Spec {
  const { url, weight, healthCheckPath } = endpoint;
  return filled({ url, weight: weight || 1, healthCheckPath });
}

/** Header fields by name. */
export function readHeaders(value: unknown, where: string, field: string): Record<string, string> {
  const headers = object(value, where, field);
  return Object.fromEntries(
    Object.keys(headers).map((name) => [name, text(headers, name, where, `${field}.`)]),
  );
}

/** `active`, the default, or `disabled`. */
export function readStatus(spec: Spec, where: string): 'RESOURCE_STATUS_ACTIVE' {
  const word = choice(spec, 'status', ['active', 'disabled'], where, 'spec.');
  return `RESOURCE_STATUS_${word.toUpperCase()}` as 'RESOURCE_STATUS_ACTIVE';
}

/** The word for a status. */
export function statusWord(status: string | undefined): string {
  return status === 'RESOURCE_STATUS_DISABLED' ? 'disabled' : 'active';
}

/** The spec without what is empty: what is left out is what it would be anyway. */
export function filled(spec: Spec): Spec {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** A message in the JSON form that the API writes. */
export function normal(schema: DescMessage, value: object | undefined): JsonValue | undefined {
  if (value === undefined) return undefined;
  return toJson(schema, fromJson(schema, value as JsonValue, { ignoreUnknownFields: true }));
}

function timeText(value: unknown, where: string, field: string): string {
  if (value === undefined || value === null) return '';
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms))
    throw invalid(where, `${field}: must be a time such as 2030-01-31T00:00:00Z`);
  return new Date(ms).toISOString();
}
