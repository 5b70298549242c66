/**
 * Applies what decides access at a place: bindings of IP lists and rate limits of a policy, a site
 * or the deployment, uses of exclusion plugins by a policy, trust profiles. Where a document states
 * a list, the place has exactly these afterwards; where it is silent, it keeps what it has.
 */

import type { IpListBindingRecordJson } from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import type { RateLimitEndpointRecordJson } from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { issuesOf, savedTrust } from '../../access/resolve-trust.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import type { CountryTarget } from '../../domain/access/country-access.ts';
import { warningsOf } from '../../domain/enforcement.ts';
import { refusal } from '../../domain/errors.ts';
import type { IpListBinding } from '../../domain/access/ip-list.ts';
import { sortLimits, type RateLimitRecord } from '../../domain/access/rate-limit.ts';
import { canonicalProfile } from '../../domain/site/trust.ts';
import {
  bindingSpec,
  pluginUseSpec,
  rateLimitSpec,
  readBindingSpecs,
  readPluginUseSpecs,
  readRateLimitSpecs,
  readTrustSpec,
  trustSpec,
} from '../../publish/manifests/manifest-access.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import type { Spec } from '../../publish/manifests/manifest-fields.ts';
import { keepBindingsVersion } from '../../publish/policy-versions.ts';
import { bindingsOf } from '../../publish/rulesets/ruleset-plugins.ts';
import { ipListBindings, rateLimits } from '../../store/collections.ts';
import { pluginUseKind } from '../crs-service/policy-plugins.ts';
import { bindingKind, requirePlaceOf, sortBindings } from '../ip-list-service/binding.ts';
import { limitKind } from '../rate-limit-service/rate-limit.ts';
import { drop, keep, ownedBy } from '../resource/owned.ts';
import { baseOf, type Change, type Kind, type ResourceRecord } from '../resource/resource.ts';
import { atField } from '../rethrown-at.ts';
import { keepProfile } from '../trust-service/profiles.ts';
import { withLists, type ApplyRun, type DocumentChange, type StatedList } from './context.ts';

/** Applies what the document states for the place. Errors: AppError naming the field. */
export function applyAccess(
  run: ApplyRun,
  document: ManifestDocument,
  change: DocumentChange,
  place: CountryTarget,
): DocumentChange {
  const lists: StatedList[] = [];
  const bindings = readBindingSpecs(document, run.references);
  if (bindings !== undefined) lists.push(applyBindings(run, place, bindings, document.where));
  const limits = readRateLimitSpecs(document, run.references);
  if (limits !== undefined) lists.push(applyRateLimits(run, place, limits, document.where));
  if (place.scope !== 'policy') lists.push(...applyTrust(run, document, place.siteId));
  return withLists(change, lists);
}

/** Applies the uses of exclusion plugins of a policy. Errors: AppError naming the field. */
export function applyPluginUses(
  run: ApplyRun,
  document: ManifestDocument,
  change: DocumentChange,
): DocumentChange {
  const asked = readPluginUseSpecs(document);
  if (asked === undefined) return change;
  const present = bindingsOf(run.tx, change.id);
  const name = 'exclusionPlugins';
  const wanted = asked.map((one) => ({ ...one, policyId: change.id }));
  keepExactly(run, { name, where: document.where }, pluginUseKind, present, wanted, pluginUseSpec);
  const after = bindingsOf(run.tx, change.id);
  const stated = { name, before: present.map(pluginUseSpec), after: after.map(pluginUseSpec) };
  if (canonicalJson(stated.before) !== canonicalJson(stated.after)) {
    run.pluginsChanged.push({ policyId: change.id, bindings: after, where: document.where });
  }
  return withLists(change, [stated]);
}

function applyBindings(
  run: ApplyRun,
  place: CountryTarget,
  asked: readonly IpListBindingRecordJson[],
  where: string,
): StatedList {
  const { tx, caller, now } = run;
  const stated = { name: 'ipListBindings', where };
  const present =
    place.scope === 'global'
      ? ownedBy(tx, caller, bindingKind).filter(({ scope }) => scope === 'global')
      : atPlace(tx.find(ipListBindings, place.scope, place.siteId || place.policyId), place);
  const wanted = asked.map((one, at) => placed(run, stated, place, one, at));
  const specOf = (one: IpListBinding): Spec =>
    bindingSpec(one, run.references, place.siteId !== '');
  const kept = keepExactly(run, stated, bindingKind, present, wanted, specOf);
  if (kept.length > 0) run.warn(...warningsOf(ipListBindings.name));
  const before = sortBindings(present).map(specOf);
  const after = sortBindings(kept).map(specOf);
  if (place.scope === 'policy' && canonicalJson(before) !== canonicalJson(after)) {
    keepBindingsVersion(tx, place.policyId, caller.username, now);
  }
  return { name: stated.name, before, after };
}

function applyRateLimits(
  run: ApplyRun,
  place: CountryTarget,
  asked: readonly RateLimitEndpointRecordJson[],
  where: string,
): StatedList {
  const stated = { name: 'rateLimits', where };
  if (place.scope === 'global') {
    throw refusal('invalid_argument', `spec.${stated.name}: stand in a Policy or a Site`);
  }
  const found = run.tx.find(rateLimits, place.scope, place.siteId || place.policyId);
  const present = atPlace(found, place);
  const wanted = asked.map((one, at) => placed(run, stated, place, one, at));
  const specOf = (one: RateLimitRecord): Spec =>
    rateLimitSpec(one, run.references, place.siteId !== '');
  const kept = keepExactly(run, stated, limitKind, present, wanted, specOf);
  if (kept.some(({ action }) => action === 'challenge')) run.warn(...warningsOf(rateLimits.name));
  const [before, after] = [present, kept].map((all) => sortLimits(all).map(specOf));
  return { name: stated.name, before, after };
}

function applyTrust(run: ApplyRun, document: ManifestDocument, siteId: string): StatedList[] {
  const { tx, caller, now, references } = run;
  const asked = readTrustSpec(document, references);
  if (asked === undefined) return [];
  const profile = canonicalProfile(asked.profile);
  const at = 'spec.trustProfile';
  const [issue] = issuesOf(tx, caller.tenantId, profile, asked.force, at);
  if (issue !== undefined) throw refusal('invalid_argument', `${issue.field}: ${issue.message}`);
  const known = savedTrust(tx, siteId, caller.tenantId)?.profile;
  const before = known === undefined ? null : trustSpec(known, references);
  const after = trustSpec(profile, references);
  if (canonicalJson(before) !== canonicalJson(after)) {
    keepProfile(tx, caller, siteId, profile, now, { force: asked.force, at });
  }
  return [{ name: 'trustProfile', before: before ?? undefined, after }];
}

/** Records of the place itself; what a policy says for single sites stands with these. */
function atPlace<T extends { readonly siteId: string }>(found: T[], place: CountryTarget): T[] {
  return found.filter(({ siteId }) => siteId === place.siteId);
}

/** A list of a document. */
interface Stated {
  /** Of its field. */
  readonly name: string;
  /** For messages, the document. */
  readonly where: string;
}

/** An entry with its place; in a site, a policy may stand beside it. Errors: AppError at it. */
function placed<A extends { readonly policyId?: string; readonly siteId?: string }>(
  { tx, caller, warn }: ApplyRun,
  { name, where }: Stated,
  place: CountryTarget,
  asked: A,
  at: number,
): A {
  const field = `spec.${name}[${at}]`;
  const { policyId = '' } = asked;
  const isOther = policyId !== '' && policyId !== place.policyId;
  if (isOther && place.scope !== 'site') {
    throw refusal('invalid_argument', `${field}.policyRef: goes with entries of a Site only`);
  }
  const target = isOther ? { ...place, policyId } : place;
  requirePlaceOf({ tx, caller, document: { where, warn } }, target, field);
  return { ...asked, policyId: target.policyId, siteId: target.siteId };
}

/** Makes `wanted` all that is there; an entry that is the same stays as it is, with its id. */
function keepExactly<A extends { readonly id?: string }, R extends ResourceRecord>(
  run: ApplyRun,
  { name, where }: Stated,
  kind: Kind<A, R> & { readonly field: string },
  present: readonly R[],
  wanted: readonly A[],
  specOf: (record: R) => Spec,
): readonly R[] {
  const { tx, caller, nowMs } = run;
  const change: Change = { tx, caller, nowMs, document: { where, warn: run.warn } };
  const atEntry = <T>(at: number, decide: () => T): T =>
    atField(`spec.${name}[${at}]`, kind.field, decide);
  const known = wanted.map((one, at) => atEntry(at, () => kind.placed?.(change, one)?.id));
  for (const one of present.filter(({ id }) => !known.includes(id))) drop(tx, caller, kind, one);
  const kept: R[] = [];
  for (const [at, asked] of wanted.entries()) {
    const before = kind.placed?.(change, asked) ?? null;
    if (kept.some(({ id }) => id === before?.id)) {
      throw refusal('invalid_argument', `spec.${name}[${at}]: is there twice`);
    }
    const { id = '' } = asked;
    const isFree = id !== '' && tx.get(kind.collection, id) === undefined;
    const base = baseOf(change, kind, before, isFree ? id : '');
    const { record } = atEntry(at, () => kind.settle(change, asked, before, base));
    if (before === null) kind.refuseMore?.(tx, caller);
    const same = before !== null && canonicalJson(specOf(before)) === canonicalJson(specOf(record));
    kept.push(same ? before : keep(tx, caller, kind, before, record, { action: 'upsert' }));
  }
  return kept;
}
