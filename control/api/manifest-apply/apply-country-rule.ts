/** Owns applying a CountryRule document. */

import { warningsOf } from '../../domain/enforcement.ts';
import { countrySpec, readCountrySpec } from '../../publish/manifests/manifest-access.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import { countryRules } from '../../store/collections.ts';
import { keepCountryRule } from '../country-access-service/keep-country-rule.ts';
import { atField, warnOtherPolicy } from './apply-access.ts';
import { changeOf, type ApplyRun, type DocumentChange } from './context.ts';
import { findBefore, refuseTakenId } from './find-before.ts';

/** Makes the rule what the document says. Errors: AppError naming the field. */
export function applyCountryRule(run: ApplyRun, document: ManifestDocument): DocumentChange {
  const { tx, caller, now, references } = run;
  const before = findBefore(run, 'country rule', document, (id) => tx.get(countryRules, id));
  if (before === null) refuseTakenId(document, tx.get(countryRules, document.statedId));
  const asked = readCountrySpec(document, references);
  const id = before?.id ?? document.statedId;
  const checkPlace = warnOtherPolicy(run, document.where);
  const record = atField('spec', 'rule', () =>
    keepCountryRule(tx, caller, asked, before ?? undefined, id, now, true, checkPlace),
  );
  if (record.enabled === true) run.warn(...warningsOf(countryRules.name));
  const earlier = before === null ? null : countrySpec(before, references);
  const change = changeOf(document, record.id, '0', earlier, countrySpec(record, references));
  const renamed = before !== null && before.name !== record.name;
  if (change.action === 'unchanged' && !renamed) return change;
  const known = before ?? undefined;
  keepCountryRule(tx, caller, asked, known, record.id, now, false, checkPlace);
  references.add('country rule', record.id, record.name);
  return renamed ? { ...change, action: 'update', changedPaths: ['metadata.name'] } : change;
}
