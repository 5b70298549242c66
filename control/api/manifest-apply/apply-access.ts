/**
 * Applies what decides access at a place: bindings of IP lists and rate limits of a policy, a site
 * or the deployment, uses of exclusion plugins by a policy, trust profiles. Where a document states
 * a list, the place has exactly these afterwards; where it is silent, it keeps what it has.
 */

import { randomUUID } from 'node:crypto';
import { accessLimits } from '../../limits/access-limits.ts';
import type { IpListBindingRecordJson } from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import type { RateLimitEndpointRecordJson } from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { issuesOf, savedTrust } from '../../access/resolve-trust.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import type { CountryTarget } from '../../domain/access/country-access.ts';
import { warningsOf } from '../../domain/enforcement.ts';
import { refusal } from '../../domain/errors.ts';
import {
  checkAccessChoice,
  checkPathPrefix,
  checkSortOrder,
} from '../../domain/access/ip-list-checks.ts';
import type { IpListBinding } from '../../domain/access/ip-list.ts';
import {
  checkRateLimit,
  signatureOf,
  sortLimits,
  type RateLimitRecord,
} from '../../domain/access/rate-limit.ts';
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
import { ipListBindings, pluginBindings, rateLimits } from '../../store/collections.ts';
import { pluginUseKind } from '../crs-service/policy-plugins.ts';
import { bindingKind, requirePlaceOf, sortBindings } from '../ip-list-service/bindings.ts';
import { limitKind } from '../rate-limit-service/rate-limit.ts';
import { drop, keep, type Kept } from '../resource/owned.ts';
import { baseOf } from '../resource/resource.ts';
import { atField } from '../rethrown-at.ts';
import { nextUpdate } from '../unchanged.ts';
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
  const { tx, caller } = run;
  const present = bindingsOf(tx, change.id);
  const wanted = new Set(asked.map((one) => `${one.pluginSlug}\n${one.pathPrefix ?? ''}`));
  for (const gone of present) {
    if (wanted.has(`${gone.pluginSlug}\n${gone.pathPrefix ?? ''}`)) continue;
    drop(tx, caller, pluginUseKind, gone);
  }
  asked.forEach(({ id = '', ...one }, at) => {
    const field = `spec.exclusionPlugins[${at}]`;
    const use = { ...one, policyId: change.id };
    const before = pluginUseKind.placed?.(run, use) ?? null;
    const isFree = id !== '' && tx.get(pluginBindings, id) === undefined;
    const base = baseOf(run, pluginUseKind, before, isFree ? id : '');
    const { record } = atField(field, 'binding', () =>
      pluginUseKind.settle(run, use, before, base),
    );
    const same =
      before !== null &&
      canonicalJson(pluginUseSpec(before)) === canonicalJson(pluginUseSpec(record));
    if (same) return;
    keep(tx, caller, pluginUseKind, before, record, { action: 'upsert' });
  });
  const after = bindingsOf(tx, change.id);
  const stated = {
    name: 'exclusionPlugins',
    before: present.map(pluginUseSpec),
    after: after.map(pluginUseSpec),
  };
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
  const name = 'ipListBindings';
  const show = (all: readonly IpListBinding[]): Spec[] =>
    sortBindings(all).map((one) => bindingSpec(one, run.references, place.siteId !== ''));
  const present =
    place.scope === 'global'
      ? tx.find(ipListBindings, 'scope', 'global').filter((one) => one.tenantId === caller.tenantId)
      : atPlace(tx.find(ipListBindings, place.scope, place.siteId || place.policyId), place);
  const fresh = asked.map((one, at) => {
    const field = `spec.${name}[${at}]`;
    const target = placeOf(place, one.policyId ?? '', `${field}.policyRef`);
    requirePlaceOf({ tx, caller, document: { where, warn: run.warn } }, target, field);
    return {
      ...checkAccessChoice(one, `${field}.`),
      ...target,
      kind: one.kind ?? '',
      id: one.id ?? '',
      tenantId: caller.tenantId,
      ipListId: one.ipListId ?? '',
      pathPrefix: checkPathPrefix(one.pathPrefix ?? '', `${field}.pathPrefix`),
      sortOrder: checkSortOrder(one.sortOrder, `${field}.sortOrder`),
    };
  });
  const keyOf = (one: (typeof fresh)[number] | IpListBinding): string =>
    canonicalJson([one.ipListId, one.policyId, one.pathPrefix ?? '', one.addressSource ?? '']);
  const { gone, kept } = keepExactly(run, bindingKind, present, fresh, {
    name,
    prefix: 'binding',
    keyOf,
    specOf: (one) => bindingSpec(one, run.references, place.siteId !== ''),
    finish: (one, before): IpListBinding => ({ ...one, createdAt: before?.createdAt ?? now }),
  });
  if (tx.count(ipListBindings) > accessLimits.bindingsMax) {
    throw refusal('resource_exhausted', `there are at most ${accessLimits.bindingsMax} bindings`);
  }
  if (kept.length > 0) run.warn(...warningsOf(ipListBindings.name));
  const before = show(present);
  const after = show(kept);
  const changed = gone.length > 0 || canonicalJson(before) !== canonicalJson(after);
  if (place.scope === 'policy' && changed) {
    keepBindingsVersion(tx, place.policyId, caller.username, now);
  }
  return { name, before, after };
}

function applyRateLimits(
  run: ApplyRun,
  place: CountryTarget,
  asked: readonly RateLimitEndpointRecordJson[],
  where: string,
): StatedList {
  const { tx, caller, now } = run;
  const name = 'rateLimits';
  if (place.scope === 'global') {
    throw refusal('invalid_argument', `spec.${name}: stand in a Policy or a Site`);
  }
  const present = atPlace(tx.find(rateLimits, place.scope, place.siteId || place.policyId), place);
  const fresh = asked.map((one, at) => {
    const field = `spec.${name}[${at}]`;
    const target = placeOf(place, one.policyId ?? '', `${field}.policyRef`);
    requirePlaceOf({ tx, caller, document: { where, warn: run.warn } }, target, field);
    const { policyId, siteId } = target;
    const checked = atField(field, 'endpoint', () => checkRateLimit(one));
    return { ...checked, id: one.id ?? '', tenantId: caller.tenantId, policyId, siteId };
  });
  const specOf = (one: RateLimitRecord): Spec =>
    rateLimitSpec(one, run.references, place.siteId !== '');
  const { kept } = keepExactly(run, limitKind, present, fresh, {
    name,
    prefix: 'ratelimit',
    keyOf: (one) => canonicalJson([one.policyId, signatureOf(one)]),
    specOf,
    finish: (one, before): RateLimitRecord => ({
      ...one,
      createdAt: before?.createdAt ?? now,
      updatedAt: nextUpdate(before, { nowMs: () => run.nowMs }),
    }),
  });
  if (tx.count(rateLimits) > accessLimits.rateLimitsMax) {
    throw refusal('resource_exhausted', `there are at most ${accessLimits.rateLimitsMax} limits`);
  }
  if (kept.some(({ action }) => action === 'challenge')) run.warn(...warningsOf(rateLimits.name));
  return { name, before: sortLimits(present).map(specOf), after: sortLimits(kept).map(specOf) };
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

/** The place of an entry: in a site, a policy may stand beside it. */
function placeOf(place: CountryTarget, policyId: string, field: string): CountryTarget {
  if (policyId === '' || policyId === place.policyId) return place;
  if (place.scope === 'site') return { ...place, policyId };
  throw refusal('invalid_argument', `${field}: goes with entries of a Site only`);
}

interface Entry {
  readonly id: string;
}

interface Keeping<F extends Entry, R extends Entry> {
  /** Of the list in the document. */
  readonly name: string;
  /** Of ids that are made. */
  readonly prefix: string;
  /** What makes two entries the same. */
  readonly keyOf: (one: F | R) => string;
  readonly specOf: (one: R) => Spec;
  readonly finish: (one: F, before: R | undefined) => R;
}

/** Makes `fresh` all that is there; an entry that is the same stays as it is, with its id. */
function keepExactly<F extends Entry, R extends Entry>(
  { tx, caller }: ApplyRun,
  kind: Kept<R>,
  present: readonly R[],
  fresh: readonly F[],
  { name, prefix, keyOf, specOf, finish }: Keeping<F, R>,
): { readonly gone: readonly R[]; readonly kept: readonly R[] } {
  const keys = fresh.map(keyOf);
  const twice = keys.findIndex((key, at) => keys.indexOf(key) !== at);
  if (twice >= 0) throw refusal('invalid_argument', `spec.${name}[${twice}]: is there twice`);
  const known = new Map(present.map((one) => [keyOf(one), one]));
  const gone = present.filter((one) => !keys.includes(keyOf(one)));
  for (const one of gone) drop(tx, caller, kind, one);
  const kept = fresh.map((one) => {
    const before = known.get(keyOf(one));
    const free = one.id !== '' && tx.get(kind.collection, one.id) === undefined;
    const id = before?.id ?? (free ? one.id : `${prefix}-${randomUUID()}`);
    const record = finish({ ...one, id }, before);
    if (before !== undefined && canonicalJson(specOf(before)) === canonicalJson(specOf(record))) {
      return before;
    }
    return keep(tx, caller, kind, before, record, { action: 'upsert' });
  });
  return { gone, kept };
}
