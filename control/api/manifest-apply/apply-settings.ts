/**
 * Applies a Settings document: the settings that it names. Others stay; null returns one to its
 * standard value.
 */

import { refusal } from '../../domain/errors.ts';
import {
  hideIdentitySecrets,
  keepIdentitySecrets,
  missingSecrets,
} from '../../domain/settings/identity-settings.ts';
import { checkSettings } from '../../domain/settings/settings.ts';
import { readSettingsSpec, settingsSpec } from '../../publish/manifests/manifest-accounts.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import { invalid, type Spec } from '../../publish/manifests/manifest-fields.ts';
import { settingsId, systemSettings } from '../../store/collections.ts';
import { checkIdentityChange } from '../auth-service/identity-change.ts';
import { keepSettings } from '../system-service/keep-settings.ts';
import { atField } from '../rethrown-at.ts';
import { nextUpdate } from '../unchanged.ts';
import { deploymentName } from './apply-deployment.ts';
import { requireCode } from './apply-resource.ts';
import { changeOf, type ApplyRun, type DocumentChange } from './context.ts';

/** Applies what the document states. Errors: AppError naming the setting. */
export function applySettings(run: ApplyRun, document: ManifestDocument): DocumentChange {
  const { tx, caller, references, nowMs } = run;
  const { name, where } = document;
  requireCode(run, document, 'system:write');
  if (name !== deploymentName) throw invalid(where, `metadata.name: must be ${deploymentName}`);
  const values = readSettingsSpec(document, references);
  atField('spec', 'values', () => checkSettings(values));
  const stored = tx.get(systemSettings, settingsId);
  const before = stored?.values ?? {};
  const [missing] = missingSecrets(values, before);
  if (missing !== undefined) {
    throw refusal(
      'failed_precondition',
      `spec.${missing}: no secret is stored that configured could stand for: write it here once`,
    );
  }
  const kept = keepIdentitySecrets(values, before);
  atField('spec', 'values', () => {
    checkSettings(kept);
    checkIdentityChange(tx, caller, values);
  });
  const named = Object.keys(values);
  const show = (all: Readonly<Record<string, unknown>>): Spec =>
    settingsSpec(
      Object.fromEntries(
        named.flatMap((key) =>
          all[key] === undefined || all[key] === null ? [] : [[key, all[key]]],
        ),
      ),
      references,
    );
  // Compared with secrets, shown without.
  const compared = changeOf(document, settingsId, '0', show(before), show(kept));
  const shown = {
    before: show(hideIdentitySecrets(before)),
    after: show(hideIdentitySecrets(kept)),
  };
  if (compared.action === 'unchanged') return { ...compared, ...shown };
  keepSettings(tx, caller, kept, nextUpdate(stored, { nowMs: () => nowMs }));
  return { ...compared, ...shown };
}
