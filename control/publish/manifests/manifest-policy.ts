/** The settings of a policy as manifests state them, and as they are exported. */

import { PolicySchema, type PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { builtInTemplates } from '../../domain/policy/policy-templates.ts';
import type { ManifestDocument } from './manifest-documents.ts';
import { choice, object } from './manifest-fields.ts';
import { readAsMessage } from './manifest-message.ts';

/** Settings of the document, over those of its template. Errors: manifest_invalid. */
export function readPolicySettings({ spec, where }: ManifestDocument, name: string): PolicyJson {
  const templates = builtInTemplates.map((template) => template.name.toLowerCase());
  const wanted = choice(spec, 'template', ['', ...templates], where, 'spec.');
  const template = builtInTemplates.find((one) => one.name.toLowerCase() === wanted);
  const state = choice(spec, 'engineState', ['on', 'detection-only', 'off'], where, 'spec.');
  const mode = choice(spec, 'blockingMode', ['anomaly', 'self-contained'], where, 'spec.');
  const layer = (field: 'crsCore' | 'httpPolicy' | 'argLimits'): object => ({
    ...template?.[field],
    ...object(spec[field] ?? {}, where, `spec.${field}`),
  });
  const upper = (value: string): string => value.toUpperCase().replace('-', '_');
  const settings = {
    name,
    engineState: `ENGINE_STATE_${upper(state)}`,
    blockingMode: `BLOCKING_MODE_${upper(mode)}`,
    crsCore: layer('crsCore'),
    httpPolicy: layer('httpPolicy'),
    argLimits: layer('argLimits'),
  };
  return readAsMessage(PolicySchema, settings, where, 'spec') as PolicyJson;
}
