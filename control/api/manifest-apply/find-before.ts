/** Finds the resource that a document is about: by its id where it states one, else by name. */

import { refusal } from '../../domain/errors.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import type { ReferenceKind } from '../../publish/manifests/manifest-references.ts';
import { ours } from '../resource/owned.ts';
import type { ApplyRun } from './context.ts';

interface Owned {
  readonly id: string;
  readonly tenantId: string;
}

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** The resource as it is; null when the document makes a new one. */
export function findBefore<T extends Owned>(
  run: ApplyRun,
  kind: ReferenceKind,
  { name, statedId }: ManifestDocument,
  get: (id: string) => T | undefined,
): T | null {
  const stated = ours(statedId === '' ? undefined : get(statedId), run.caller);
  if (stated !== undefined) return stated;
  const id = run.references.find(kind, name);
  return ours(id === undefined ? undefined : get(id), run.caller) ?? null;
}

/** Errors: invalid_argument for an id that cannot be, already_exists for one of somebody else. */
export function refuseTakenId({ statedId }: ManifestDocument, found: Owned | undefined): void {
  if (statedId === '') return;
  if (!idPattern.test(statedId)) {
    throw refusal('invalid_argument', 'metadata.id: has letters, digits, dots, - and _ only');
  }
  if (found !== undefined) throw refusal('already_exists', 'metadata.id: is taken');
}
