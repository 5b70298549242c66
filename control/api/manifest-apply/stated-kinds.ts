/** The kinds of documents: what applies each, and by which names documents know its records. */

import type { Caller } from '../../auth/permissions.ts';
import type { ResourceBase } from '../../domain/records.ts';
import type { ManifestDocument, ManifestKind } from '../../publish/manifests/manifest-documents.ts';
import { References } from '../../publish/manifests/manifest-references.ts';
import { certificates, policies, rulesets } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { groupKind } from '../agent-group-service/group.ts';
import { channelKind } from '../alert-service/channel.ts';
import { ruleKind } from '../alert-service/rule.ts';
import { dnsProviderKind } from '../cert-service/dns-provider.ts';
import { countryRuleKind } from '../country-access-service/country-rule.ts';
import { statedListKind } from '../ip-list-service/ip-list-document.ts';
import { policyResource } from '../policy-service/policy.ts';
import type { StatedKind } from '../resource/resource.ts';
import { roleKind } from '../role-service/role.ts';
import { siteResource } from '../site-service/site.ts';
import { upstreamKind } from '../upstream-service/upstream.ts';
import { userKind } from '../user-service/user.ts';
import { applyDeployment } from './apply-deployment.ts';
import { applyResource } from './apply-resource.ts';
import { applySettings } from './apply-settings.ts';
import type { ApplyRun, DocumentChange } from './context.ts';

interface DocumentKind {
  readonly apply: (run: ApplyRun, document: ManifestDocument) => DocumentChange;
  /** Makes the records of a tenant known by id and name; absent where nothing names them. */
  readonly name?: (references: References, list: ReadStore['list'], caller: Caller) => void;
}

const kinds: Readonly<Record<ManifestKind, DocumentKind>> = {
  Role: stated(roleKind),
  User: stated(userKind),
  DnsProvider: stated(dnsProviderKind),
  AgentGroup: stated(groupKind),
  Upstream: stated(upstreamKind),
  IpList: stated(statedListKind),
  Policy: { ...stated(policyResource, (one) => one.isTemplate !== true), apply: applyPolicy },
  Site: stated(siteResource),
  Settings: { apply: applySettings },
  CountryRule: stated(countryRuleKind),
  AlertChannel: stated(channelKind),
  AlertRule: stated(ruleKind),
  Deployment: { apply: applyDeployment },
};

/** Makes the record what the document says. Errors: AppError naming the field. */
export function applyDocument(run: ApplyRun, document: ManifestDocument): DocumentChange {
  return kinds[document.kind].apply(run, document);
}

/**
 * Opens a run; everything that documents may name is known by name and id. `committed` is the store
 * outside of the transaction: at its start both are the same, and what was committed is decoded.
 */
export function openRun(
  tx: WriteStore,
  committed: ReadStore,
  caller: Caller,
  nowMs: number,
): ApplyRun {
  const references = new References();
  const list: ReadStore['list'] = (collection) => {
    // The transaction is to know that it depends on this.
    tx.count(collection);
    return committed.list(collection);
  };
  for (const { name } of Object.values(kinds)) name?.(references, list, caller);
  for (const { id, name, tenantId } of list(certificates)) {
    if (tenantId === caller.tenantId) references.add('certificate', id, name);
  }
  for (const { id, version, status } of list(rulesets)) {
    const standard = status === 'active' ? ['default'] : [];
    const versions = version === '' ? [] : [`crs-${version}`, version];
    references.add('ruleset', id, ...versions, ...standard);
  }
  const warnings = new Set<string>();
  return {
    tx,
    caller,
    nowMs,
    now: new Date(nowMs).toISOString(),
    references,
    policiesChanged: new Map(),
    rulesChanged: [],
    overridesChanged: [],
    pluginsChanged: [],
    warnings,
    warn: (...sentences) => sentences.forEach((one) => warnings.add(one)),
  };
}

function stated<A extends object, R extends ResourceBase>(
  kind: StatedKind<A, R>,
  canBeNamed: (record: R) => boolean = () => true,
): DocumentKind {
  return {
    apply: (run, document) => applyResource(run, document, kind),
    name: (references, list, { tenantId }) => {
      for (const one of list(kind.collection)) {
        if (one.tenantId !== tenantId || !canBeNamed(one)) continue;
        references.add(kind.document.reference, one.id, kind.nameOf(one));
      }
    },
  };
}

function applyPolicy(run: ApplyRun, document: ManifestDocument): DocumentChange {
  const change = applyResource(run, document, policyResource);
  const policy = run.tx.get(policies, change.id);
  if (change.action !== 'unchanged' && policy !== undefined) {
    run.policiesChanged.set(policy.id, { policy, where: document.where });
  }
  return change;
}
