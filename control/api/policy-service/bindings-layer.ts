/** The layer of a policy that is no field of it: where IP lists decide. */

import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import {
  IpListBindingRecordSchema,
  type IpListBindingRecordJson,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField } from '../../domain/errors.ts';
import {
  checkAccessChoice,
  checkPathPrefix,
  checkSortOrder,
} from '../../domain/access/ip-list-checks.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { ipListBindings } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { toRecord } from '../convert.ts';
import { bindingKind, keepBinding, type NewBinding } from '../ip-list-service/bindings.ts';
import { drop } from '../resource/owned.ts';
import { storedList } from '../ip-list-service/stored-list.ts';

/**
 * The bindings that a layer's content states, `{bindings: [...]}` or nothing, for a policy. Errors:
 * invalid_argument under `config.bindings`.
 */
export function readBindingsLayer(config: JsonObject, policyId: string): NewBinding[] {
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

function readBinding(value: unknown, at: string, policyId: string): NewBinding {
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
  const choice = checkAccessChoice(asked, `${at}.`);
  return {
    ...choice,
    scope: 'policy',
    policyId,
    siteId: '',
    ipListId: asked.ipListId ?? '',
    pathPrefix: checkPathPrefix(asked.pathPrefix ?? '', `${at}.pathPrefix`),
    sortOrder: checkSortOrder(asked.sortOrder, `${at}.sortOrder`),
  };
}

/**
 * Makes `wanted` all bindings of the policy itself; those of its sites stay. Errors: not_found for
 * a list that is gone, by its place under `at`.
 */
export function replaceBindings(
  tx: WriteStore,
  caller: Caller,
  policy: PolicyRecord,
  wanted: readonly NewBinding[],
  now: string,
  at = 'config',
): void {
  for (const [index, { ipListId }] of wanted.entries()) {
    storedList(tx, caller, ipListId, `${at}.bindings[${index}].ipListId`);
  }
  const kept = new Set(wanted.map((one) => keepBinding(tx, caller, one, now).id));
  const before = tx.find(ipListBindings, 'policy', policy.id).filter((one) => one.siteId === '');
  for (const binding of before) {
    if (!kept.has(binding.id)) drop(tx, caller, bindingKind, binding);
  }
}
