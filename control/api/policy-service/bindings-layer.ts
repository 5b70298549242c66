/** The layer of a policy that is no field of it: where IP lists decide. */

import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import {
  IpListBindingRecordSchema,
  type IpListBindingRecordJson,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import { invalidField } from '../../domain/errors.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { ipListBindings } from '../../store/collections.ts';
import { toRecord } from '../convert.ts';
import { bindingKind, checkedBinding, type AskedBinding } from '../ip-list-service/binding.ts';
import { drop } from '../resource/owned.ts';
import type { Change } from '../resource/resource.ts';
import { upsertIn } from '../resource/serve.ts';
import { atField } from '../rethrown-at.ts';
import { storedList } from '../ip-list-service/stored-list.ts';

/**
 * The bindings that a layer's content states, `{bindings: [...]}` or nothing, for a policy. Errors:
 * invalid_argument under `config.bindings`.
 */
export function readBindingsLayer(config: JsonObject, policyId: string): AskedBinding[] {
  const { bindings = [], ...rest } = config;
  if (!Array.isArray(bindings)) throw invalidField('config.bindings', 'must be a list');
  if (Object.keys(rest).length > 0) {
    throw invalidField('config', 'takes bindings alone, for example {"bindings": []}');
  }
  if (bindings.length > accessLimits.targetsMax) {
    throw invalidField('config.bindings', `has at most ${accessLimits.targetsMax} entries`);
  }
  return bindings.map((one, at) => readBinding(one, `config.bindings[${at}]`, policyId));
}

function readBinding(value: unknown, at: string, policyId: string): AskedBinding {
  let asked: IpListBindingRecordJson;
  try {
    const message = fromJson(IpListBindingRecordSchema, value as JsonObject);
    asked = toRecord<IpListBindingRecordJson>(IpListBindingRecordSchema, message);
  } catch {
    throw invalidField(at, 'must be a binding as ListIpListBindings shows it');
  }
  if ((asked.siteId ?? '') !== '') throw invalidField(`${at}.siteId`, 'must be empty here');
  if (![undefined, '', policyId].includes(asked.policyId)) {
    throw invalidField(`${at}.policyId`, 'must be empty or this policy');
  }
  return atField(at, 'binding', () => checkedBinding({ ...asked, scope: 'policy', policyId }));
}

/**
 * Makes `wanted` all bindings of the policy itself; those of its sites stay. Errors: not_found for
 * a list that is gone, by its place under `at`.
 */
export function replaceBindings(
  change: Change,
  policy: PolicyRecord,
  wanted: readonly AskedBinding[],
  at = 'config',
): void {
  const { tx, caller } = change;
  for (const [index, { ipListId = '' }] of wanted.entries()) {
    storedList(tx, caller, ipListId, `${at}.bindings[${index}].ipListId`);
  }
  const kept = new Set(wanted.map((one) => upsertIn(change, bindingKind, one).id));
  const before = tx.find(ipListBindings, 'policy', policy.id).filter((one) => one.siteId === '');
  for (const binding of before) {
    if (!kept.has(binding.id)) drop(tx, caller, bindingKind, binding);
  }
}
