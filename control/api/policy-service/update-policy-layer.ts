/** PolicyService/UpdatePolicyLayer. */

import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import {
  PolicyLayerKind,
  PolicySchema,
  type PolicyJson,
  type PolicyService,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import { warningsOf } from '../../domain/enforcement.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { checkPolicy, layerFields } from '../../domain/policy/policy.ts';
import { unreadableField } from '../../publish/manifests/manifest-message.ts';
import { ipListBindings } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { requireRevision, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { readBindingsLayer, replaceBindings } from './bindings-layer.ts';
import { checkPolicyPlugins } from './check-plugins.ts';
import { refuseUncompiled } from './compile.ts';
import { refuseTemplate, savePolicy, storedPolicy } from './stored-policy.ts';

/** Replaces one complete layer. */
export function updatePolicyLayer(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof PolicyService, 'updatePolicyLayer'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const before = storedPolicy(parts.store, caller, request.policyId, 'policyId');
    refuseTemplate(before);
    requireRevision(request.revision, before.revision);
    if (request.config === undefined) throw invalidField('config', 'is required');
    if (request.layer === PolicyLayerKind.IP_LIST_BINDINGS) {
      const wanted = readBindingsLayer(request.config, before.id);
      const nowMs = parts.clock.nowMs();
      const saved = await parts.store.write((tx) => {
        const current = storedPolicy(tx, caller, before.id, 'policyId');
        requireRevision(request.revision, current.revision);
        replaceBindings({ tx, caller, nowMs }, current, wanted);
        return savePolicy(tx, caller, current, current, nowMs, 'update_layer');
      });
      const warnings = wanted.length === 0 ? [] : warningsOf(ipListBindings.name);
      return { policy: toMessage(PolicySchema, saved), warnings };
    }
    const layer = readLayer(request.layer, request.config as JsonValue);
    const changed = { ...before, ...layer };
    checkPolicy(changed, 'config');
    if (layer.plugins !== undefined) checkPolicyPlugins(parts.store, changed, 'config.plugins');
    await refuseUncompiled(parts, changed, 'config');
    const saved = await parts.store.write((tx) => {
      const current = storedPolicy(tx, caller, before.id, 'policyId');
      requireRevision(request.revision, current.revision);
      return savePolicy(tx, caller, current, changed, parts.clock.nowMs(), 'update_layer');
    });
    return { policy: toMessage(PolicySchema, saved) };
  };
}

function readLayer(kind: PolicyLayerKind, config: JsonValue): PolicyJson {
  const name = Object.entries(PolicyLayerKind).find(([, value]) => value === kind)?.[0] ?? '';
  const field = layerFields[`POLICY_LAYER_KIND_${name}`];
  if (field === undefined) {
    throw invalidField(
      'layer',
      'must be CRS_CORE, HTTP_POLICY, ARG_LIMITS, IP_LIST_BINDINGS or PLUGINS',
    );
  }
  const isList = field === 'plugins';
  if (isList) refuseOtherNames(config);
  const value = isList ? ((config as { plugins?: JsonValue }).plugins ?? []) : config;
  try {
    const message = fromJson(PolicySchema, { [field]: value });
    // A list that is empty is absent in the record; here it empties the layer.
    return { [field]: toRecord<PolicyJson>(PolicySchema, message)[field] ?? (isList ? [] : {}) };
  } catch {
    const fault = unreadableField(PolicySchema, { [field]: value }, 'config');
    if (fault?.startsWith('config.') === true) throw refusal('invalid_argument', fault);
    throw invalidField('config', fault ?? 'does not fit the layer');
  }
}

/** A misspelled name would empty the layer. Errors: invalid_argument. */
function refuseOtherNames(config: JsonValue): void {
  const other = Object.keys(config as object).some((name) => name !== 'plugins');
  if (other) throw invalidField('config', 'takes plugins alone, for example {"plugins": []}');
}
