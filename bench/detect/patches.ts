/**
 * The virtual patches that the bench judges beside detection: those of `deploy/patches`, in a
 * policy without a ruleset that only records.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readYaml } from '../../control/documents/yaml-text.ts';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import {
  readVirtualPatch,
  renderPatch,
  type VirtualPatch,
} from '../../control/domain/policy/virtual-patch.ts';
import { buildEngine } from '../../engine/policies/policy-build.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { buildOptions } from '../micro/policy.ts';
import { parseRequest, type LabelledRequest } from './requests.ts';

/** Number of the first patch's rule. */
const firstId = 100_001;
/** Of the documents beside a patch: what the rule around it says. */
const ruleFields = new Set(['title', 'action', 'status']);

/** Patches, built. */
export interface BuiltPatches {
  readonly patches: readonly VirtualPatch[];
  /** Ids of those that stop a request. */
  stopping(request: LabelledRequest): readonly string[];
  retire(): void;
}

/** Builds those of a file. Errors: a patch that is none. */
export function buildPatches(root: string, cacheFolder: string): BuiltPatches {
  const file = join(root, 'deploy', 'patches', 'known-faults.yaml');
  const patches = readYaml(readFileSync(file, 'utf8'), file).map(({ value }, at) => {
    const document = Object.entries(value as object).filter(([name]) => !ruleFields.has(name));
    return readVirtualPatch(Object.fromEntries(document), `document ${at + 1}`);
  });
  const rules = patches.map((patch, at) => {
    const rule = { ruleId: String(firstId + at), phase: 2, message: patch.id };
    return renderPatch(patch, rule, 'pass,log');
  });
  const template = builtInTemplates.find(({ name }) => name === 'Standard')!;
  const { seclang } = renderPolicy(template, null, { beforeCrs: `${rules.join('\n')}\n` });
  const source = { id: 'patches', name: 'patches', revision: '1', seclangEntry: seclang };
  const engine = buildEngine({ ...source, files: new Map() }, buildOptions(cacheFolder));
  // Requests are asked for by several tables.
  const known = new WeakMap<LabelledRequest, readonly string[]>();
  const stopping = (request: LabelledRequest): readonly string[] => {
    const found = known.get(request) ?? matchesOf(engine, request, patches);
    known.set(request, found);
    return found;
  };
  return { patches, stopping, retire: () => engine.retire() };
}

function matchesOf(
  engine: PolicyEngine,
  { wire }: LabelledRequest,
  patches: readonly VirtualPatch[],
): string[] {
  const parsed = parseRequest(wire);
  if (parsed === null) return [];
  const session = engine.open(parsed.snapshot);
  if (session.requestHead().action === 'pass') session.requestBody(parsed.body);
  const { matchedRules } = session.finish();
  const ids = matchedRules.flatMap(({ ruleId }) => patches[ruleId - firstId]?.id ?? []);
  return [...new Set(ids)];
}
