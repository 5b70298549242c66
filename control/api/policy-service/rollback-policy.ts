/**
 * PolicyService/RollbackPolicy: a saved version becomes a new revision, with its IP-list
 * bindings. What the version needs must still be there; all that is missing is named at once.
 */

import { PolicySchema, type PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { AppError } from '../../../base/errors.ts';
import { countryCatalog } from '../../access/country-catalog.ts';
import type { Caller } from '../../auth/permissions.ts';
import { notFound, plainName, refusal } from '../../domain/errors.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { snapshotOf, type PolicySnapshot } from '../../publish/policy-versions.ts';
import { countryRules, customRules, ipLists, rulesets } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { AskedBinding } from '../ip-list-service/binding.ts';
import type { Method } from '../method.ts';
import { ours } from '../resource/owned.ts';
import { refuseTaken } from '../resource/resource.ts';
import { replaceBindings } from './bindings-layer.ts';
import { checkPolicyPlugins } from './check-plugins.ts';
import { refuseUncompiled } from './compile.ts';
import { policyResource } from './policy.ts';
import { refuseTemplate, savePolicy, storedPolicy } from './stored-policy.ts';
import { storedVersion } from './versions.ts';

/** Restores a saved version. Errors: failed_precondition naming what is missing. */
export function rollbackPolicy(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof PolicyService, 'rollbackPolicy'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const before = storedPolicy(parts.store, caller, request.policyId, 'policyId');
    refuseTemplate(before);
    const version = storedVersion(parts.store, caller, request.versionId, 'versionId');
    if (version.policyId !== before.id) throw notFound('version of this policy', version.id);
    const { ipListBindings: bindings, ...snapshot } = snapshotOf(version);
    const restored: PolicyRecord = {
      ...snapshot,
      id: before.id,
      tenantId: before.tenantId,
      createdAt: before.createdAt,
      isTemplate: false,
      isDefault: before.isDefault ?? false,
      builtin: before.builtin ?? false,
    };
    refuseTaken(parts.store, policyResource, restored);
    refuseMissing(parts.store, caller, restored, bindings);
    await refuseUncompiled(parts, restored, 'versionId');
    const nowMs = parts.clock.nowMs();
    const saved = await parts.store.write((tx) => {
      const current = storedPolicy(tx, caller, before.id, 'policyId');
      refuseTaken(tx, policyResource, restored);
      refuseMissing(tx, caller, restored, bindings);
      if (bindings !== undefined) {
        const wanted = bindings.map((one) => toBinding(one, current.id));
        replaceBindings({ tx, caller, nowMs }, current, wanted, 'versionId');
      }
      return savePolicy(tx, caller, current, restored, nowMs, 'rollback');
    });
    return { policy: toMessage(PolicySchema, saved) };
  };
}

type Bindings = PolicySnapshot['ipListBindings'];

/** The same place is the same binding: what is there keeps its id. */
function toBinding(saved: NonNullable<Bindings>[number], policyId: string): AskedBinding {
  const { id: _id, ipListName: _name, ...rest } = saved;
  return { ...rest, scope: 'policy', policyId, siteId: '' };
}

/** Errors: failed_precondition that names every ruleset, plugin, list and data set that is gone. */
function refuseMissing(
  store: ReadStore,
  caller: Caller,
  policy: PolicyRecord,
  bindings: Bindings,
): void {
  const missing = missingFor(store, caller.tenantId, policy, bindings);
  if (missing.length === 0) return;
  const named = missing.join(', ');
  throw refusal(
    'failed_precondition',
    `versionId: the version needs what is no longer there: ${named}; bring it back first`,
  );
}

/** What a policy and its bindings need and the store does not hold, in words. */
export function missingFor(
  store: ReadStore,
  tenantId: string,
  policy: PolicyRecord,
  bindings: Bindings,
): string[] {
  const lists = (bindings ?? [])
    .filter(({ ipListId }) => ours(store.get(ipLists, ipListId), { tenantId }) === undefined)
    .map(({ ipListName, ipListId }) => `the IP list ${plainName(ipListName, ipListId)}`);
  const blind = asksForCountries(store, policy.id) && countryCatalog(store).available !== true;
  const countries = blind ? ['the country data that its rules ask for'] : [];
  return [...new Set([...missingRules(store, policy), ...lists, ...countries])];
}

function missingRules(store: ReadStore, policy: PolicyRecord): string[] {
  const { crsRulesetId } = policy;
  if (crsRulesetId !== '' && store.get(rulesets, crsRulesetId) === undefined) {
    return [`the ruleset ${crsRulesetId}`];
  }
  const used = (policy.plugins ?? []).filter(({ enabled }) => enabled === true);
  return used.flatMap((plugin) => {
    try {
      checkPolicyPlugins(store, { crsRulesetId, plugins: [plugin] }, 'plugins');
      return [];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return [
        `the plugin ${plainName(plugin.pluginId ?? '', 'without a name')}, as the version sets it`,
      ];
    }
  });
}

/** Whether country rules decide at the policy, or its own rules look countries up. */
function asksForCountries(store: ReadStore, policyId: string): boolean {
  const decides = store
    .list(countryRules)
    .some(({ enabled, targets }) => enabled && targets.some((one) => one.policyId === policyId));
  if (decides) return true;
  const looksUp = /@geoLookup|\bGEO\b/i;
  return store
    .find(customRules, 'policy', policyId)
    .some(({ enabled, seclang }) => enabled === true && looksUp.test(seclang ?? ''));
}
