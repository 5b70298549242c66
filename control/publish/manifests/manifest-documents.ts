/**
 * Manifests as documents: YAML, several in one text, each with a kind, a name and a spec. Never
 * looks into a spec.
 */

import { resourceLimits } from '../../limits/resource-limits.ts';
import { invalid, known, object, text, type Spec } from './manifest-fields.ts';
import { walkYaml } from '../../documents/yaml-text.ts';

/** Version that every document states. */
export const manifestApiVersion = 'waf.io/v1';

/** What documents may be, in the order in which they depend on each other. */
export const manifestKinds = [
  'Role',
  'User',
  'DnsProvider',
  'AgentGroup',
  'Upstream',
  'IpList',
  'Policy',
  'Site',
  'Settings',
  'CountryRule',
  'AlertChannel',
  'AlertRule',
  'Deployment',
] as const;

/** What a document is. */
export type ManifestKind = (typeof manifestKinds)[number];

/** One document, checked for its frame. */
export interface ManifestDocument {
  readonly kind: ManifestKind;
  readonly name: string;
  /** The stated id, else the name. */
  readonly id: string;
  /** The stated id; '' when there is none. */
  readonly statedId: string;
  readonly spec: Spec;
  /** For messages, for example `document 2 (Site shop)`. */
  readonly where: string;
}

const shownNameMax = 64;

/** Parses the documents and checks their frames. `file` names the text in messages. */
export function readManifest(text: string, file = 'manifest'): ManifestDocument[] {
  if (text.length > resourceLimits.manifestBytesMax) {
    throw invalid('manifest', 'is larger than 16 MiB');
  }
  const seen = new Set<string>();
  const found: ManifestDocument[] = [];
  for (const { value, number } of walkYaml(text, file)) {
    if (number > resourceLimits.manifestDocumentsMax) {
      throw invalid('manifest', `has at most ${resourceLimits.manifestDocumentsMax} documents`);
    }
    // An empty document is none.
    if (value === null || value === undefined) continue;
    const framed = readFrame(value, `document ${number}`);
    const key = `${framed.kind} ${framed.name}`;
    if (seen.has(key)) throw invalid(framed.where, 'metadata.name: another document has it');
    seen.add(key);
    found.push(framed);
  }
  return found;
}

function readFrame(value: unknown, where: string): ManifestDocument {
  const document = object(value, where, 'document');
  known(document, ['apiVersion', 'kind', 'metadata', 'spec'], where, '');
  if (document['apiVersion'] !== manifestApiVersion) {
    throw invalid(where, `apiVersion: must be ${manifestApiVersion}`);
  }
  const kind = document['kind'];
  const found = manifestKinds.find((one) => one === kind);
  if (found === undefined) throw invalid(where, `kind: must be one of ${manifestKinds.join(', ')}`);
  const metadata = object(document['metadata'], where, 'metadata');
  known(metadata, ['name', 'id'], where, 'metadata.');
  const name = text(metadata, 'name', where, 'metadata.');
  if (name === '') throw invalid(where, 'metadata.name: is required');
  const statedId = text(metadata, 'id', where, 'metadata.');
  const shown = name.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ').slice(0, shownNameMax);
  const spec = object(document['spec'], where, 'spec');
  return {
    kind: found,
    name,
    id: statedId || name,
    statedId,
    spec,
    where: `${where} (${found} ${shown})`,
  };
}
