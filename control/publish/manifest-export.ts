/**
 * Owns turning what is there into manifest documents that apply reads back. Pure; what a manifest
 * cannot hold (templates, lists that a source fills) is named in remarks.
 */

import { stringify } from 'yaml';
import type { CustomRuleJson } from '../../proto/gen/waf/v1/custom_rule_pb.ts';
import type { IpListEntryJson, IpListJson } from '../../proto/gen/waf/v1/ip_list_pb.ts';
import type { PolicyJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import type { RuleOverrideJson } from '../../proto/gen/waf/v1/rule_override_pb.ts';
import type {
  SiteJson,
  SitePolicyOverrideJson,
  SiteRoutingJson,
} from '../../proto/gen/waf/v1/site_pb.ts';
import type { UpstreamJson } from '../../proto/gen/waf/v1/upstream_pb.ts';
import { manifestApiVersion, type ManifestKind } from './manifest-documents.ts';
import type { Spec } from './manifest-fields.ts';
import { References } from './manifest-references.ts';
import { customRuleSpecOf, overrideSpecOf } from './manifest-rules.ts';
import { siteSpec } from './manifest-site.ts';
import { ipListSpec, policySpec, upstreamSpec } from './manifest-specs.ts';

/** What there is, as the API shows it. */
export interface ExportedState {
  readonly upstreams: readonly UpstreamJson[];
  readonly ipLists: readonly {
    readonly list: IpListJson;
    readonly entries: readonly IpListEntryJson[];
  }[];
  readonly policies: readonly {
    readonly policy: PolicyJson;
    readonly overrides: readonly RuleOverrideJson[];
    readonly rules: readonly CustomRuleJson[];
  }[];
  readonly sites: readonly {
    readonly site: SiteJson;
    readonly routing: SiteRoutingJson | undefined;
    readonly policyOverride: SitePolicyOverrideJson | undefined;
  }[];
  readonly certificates: readonly { readonly id: string; readonly name: string }[];
  readonly rulesets: readonly { readonly id: string; readonly version: string }[];
}

/** A document as it is written. */
export interface ExportedDocument {
  readonly apiVersion: string;
  readonly kind: ManifestKind;
  readonly metadata: { readonly name: string; readonly id: string };
  readonly spec: Spec;
}

/** The documents, in the order in which they depend on each other. */
export function exportDocuments(state: ExportedState): ExportedDocument[] {
  const references = referencesOf(state);
  const of = (
    kind: ManifestKind,
    { id = '', name = '' }: { readonly id?: string; readonly name?: string },
    spec: Spec,
  ): ExportedDocument => ({
    apiVersion: manifestApiVersion,
    kind,
    metadata: { name, id },
    spec,
  });
  const listed = (name: string, items: readonly Spec[]): Spec =>
    items.length === 0 ? {} : { [name]: items };
  return [
    ...state.upstreams.map((pool) => of('Upstream', pool, upstreamSpec(pool))),
    ...state.ipLists.map(({ list, entries }) =>
      of('IpList', list, ipListSpec({ description: list.description ?? '', entries })),
    ),
    ...state.policies.map(({ policy, overrides, rules }) =>
      of('Policy', policy, {
        ...policySpec(policy, references),
        ...listed(
          'ruleOverrides',
          overrides.map((one) => overrideSpecOf(one, references)),
        ),
        ...listed(
          'customRules',
          rules.map((one) => customRuleSpecOf(one, references)),
        ),
      }),
    ),
    ...state.sites.map((one) => of('Site', one.site, siteSpec(one, references))),
  ];
}

/** The documents as one YAML text. */
export function toManifestText(documents: readonly ExportedDocument[]): string {
  return documents
    .map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
}

function referencesOf(state: ExportedState): References {
  const references = new References();
  for (const { id = '', name = '' } of state.upstreams) references.add('upstream', id, name);
  for (const { list } of state.ipLists) references.add('ip list', list.id ?? '', list.name ?? '');
  for (const { policy } of state.policies) {
    references.add('policy', policy.id ?? '', policy.name ?? '');
  }
  for (const { site } of state.sites) references.add('site', site.id ?? '', site.name ?? '');
  for (const { id, name } of state.certificates) references.add('certificate', id, name);
  for (const { id, version } of state.rulesets) {
    references.add('ruleset', id, ...(version === '' ? [] : [`crs-${version}`]));
  }
  return references;
}
