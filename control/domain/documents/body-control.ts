/**
 * Body controls as they are decided: what a draft says, and how slots of an operation change. Pure.
 */

import { bodyFamilies, type BodyFamily } from '../../../base/body-family.ts';
import type { BodyControlDraftJson } from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import type { ApiAssetRecord } from './api-records.ts';
import type { BodyScope, BodySpec } from './body-spec.ts';
import { readJsonObject, readUpload } from './body-upload.ts';
import { invalidField, refusal } from '../errors.ts';
import type { BodyControl, BodySlot } from './operation-control.ts';

/** What a draft does to the slots of its operation. */
export interface BodyDraft {
  readonly action: 'set' | 'keep' | 'inherit';
  /** `observe` changes the candidate, `enforce` what is in effect. */
  readonly mode: 'observe' | 'enforce';
  /** Null but for `set`. */
  readonly spec: BodySpec | null;
}

const bodyFields = ['profile', 'mismatchAction', 'allowedFamilies', 'scopeJson'] as const;

/** Reads a draft. Errors: invalid_argument that names the field. */
export function readBodyDraft(draft: BodyControlDraftJson, asset: ApiAssetRecord): BodyDraft {
  const action = (draft.bodyAction || 'set') as BodyDraft['action'];
  const mode = (draft.controlMode || 'observe') as BodyDraft['mode'];
  if (action === 'set') return { action, mode, spec: readSpec(draft, asset) };
  for (const field of [...bodyFields, 'uploadRequirementsJson'] as const) {
    if ((draft[field]?.length ?? 0) === 0) continue;
    throw invalidField(`draft.${field}`, `must be empty: the action ${action} takes no body input`);
  }
  if (action === 'inherit' && mode === 'observe') {
    throw invalidField(
      'draft.controlMode',
      'must be enforce for the action inherit; a candidate is discarded by PreviewBodyChange',
    );
  }
  return { action, mode, spec: null };
}

function readSpec(draft: BodyControlDraftJson, asset: ApiAssetRecord): BodySpec {
  const allowedFamilies = readFamilies(draft);
  const upload = readUpload(draft.uploadRequirementsJson ?? '');
  if (upload !== null && !allowedFamilies.includes('multipart')) {
    throw invalidField('draft.uploadRequirementsJson', 'needs the family multipart');
  }
  return {
    format: 'waf.body_spec.v1',
    profile: draft.profile as BodySpec['profile'],
    mismatchAction: (draft.mismatchAction || 'observe') as BodySpec['mismatchAction'],
    allowedFamilies,
    scope: readScope(draft.scopeJson ?? '', asset),
    upload,
  };
}

/** A profile is one family; `custom` takes those that are listed. */
function readFamilies({ profile = '', allowedFamilies = [] }: BodyControlDraftJson): BodyFamily[] {
  const known: readonly string[] = bodyFamilies;
  if (profile !== 'custom' && !known.includes(profile)) {
    throw invalidField('draft.profile', `must be one of ${known.join(', ')} or custom`);
  }
  if (allowedFamilies.some((one) => !known.includes(one))) {
    throw invalidField('draft.allowedFamilies', `must be among ${known.join(', ')}`);
  }
  const listed = [...new Set(allowedFamilies)].sort() as BodyFamily[];
  if (profile === 'custom') {
    if (listed.length > 0) return listed;
    throw invalidField('draft.allowedFamilies', 'is required for the profile custom');
  }
  if (listed.length > 0 && listed.join() !== profile) {
    throw invalidField('draft.allowedFamilies', `must be empty or ${profile}: use profile custom`);
  }
  return [profile as BodyFamily];
}

/** The endpoint as the catalog has it; a scope that is sent must be that one. */
function readScope(base64: string, { method, host, path }: ApiAssetRecord): BodyScope {
  const scope: BodyScope = { format: 'waf.body_scope.v1', method, host, path };
  const sent = readJsonObject(base64, 'draft.scopeJson');
  for (const [name, value] of Object.entries(sent ?? {})) {
    if (name in scope && scope[name as keyof BodyScope] === value) continue;
    const problem = 'must name the endpoint as the catalog does: format, method, host and path';
    throw invalidField('draft.scopeJson', problem);
  }
  return scope;
}

/** What changes the slots of one operation. */
export type SlotChange =
  | { readonly action: 'observe' | 'enforce' | 'rollback_effective'; readonly slot: BodySlot }
  | { readonly action: 'keep' | 'discard_candidate' | 'remove_effective' };

/**
 * The slots after a change; null where none is left. A candidate that is put into effect is gone;
 * any other one stays. Errors: failed_precondition where there is nothing to change.
 */
export function changeSlots(apiAssetId: string, before: BodyControl | null, change: SlotChange) {
  const { effective, candidate } = before ?? {};
  const slots = (one: BodySlot | undefined, other: BodySlot | undefined): BodyControl | null => {
    if (one === undefined && other === undefined) return null;
    const first = one === undefined ? {} : { effective: one };
    return { apiAssetId, ...first, ...(other === undefined ? {} : { candidate: other }) };
  };
  switch (change.action) {
    case 'observe':
      return slots(effective, change.slot);
    case 'enforce':
    case 'rollback_effective': {
      const promoted = candidate?.specRevision === change.slot.specRevision;
      return slots(change.slot, promoted ? undefined : candidate);
    }
    case 'keep':
      if (before === null) throw nothing('there is no body control to keep');
      return before;
    case 'discard_candidate':
      if (candidate === undefined) throw nothing('the operation has no candidate');
      return slots(effective, undefined);
    case 'remove_effective':
      if (effective === undefined) throw nothing('the operation has no body control in effect');
      return slots(undefined, candidate);
  }
}

function nothing(problem: string) {
  return refusal('failed_precondition', `apiAssetId: ${problem}`);
}
