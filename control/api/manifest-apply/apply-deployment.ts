/** Applies a Deployment document: what decides everywhere, and who may name the client. */

import { invalid, known } from '../../publish/manifests/manifest-fields.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import { applyAccess } from './apply-access.ts';
import type { ApplyRun, DocumentChange } from './context.ts';

/** Name of the one document of this kind. */
export const deploymentName = 'default';

/** Applies what the document states. Errors: AppError naming the field. */
export function applyDeployment(run: ApplyRun, document: ManifestDocument): DocumentChange {
  const { name, spec, where } = document;
  if (name !== deploymentName) throw invalid(where, `metadata.name: must be ${deploymentName}`);
  known(spec, ['ipListBindings', 'trustProfile'], where, 'spec.');
  const start: DocumentChange = {
    kind: document.kind,
    name,
    id: deploymentName,
    action: 'unchanged',
    revision: '0',
    before: {},
    after: {},
    changedPaths: [],
  };
  return applyAccess(run, document, start, { scope: 'global', policyId: '', siteId: '' });
}
