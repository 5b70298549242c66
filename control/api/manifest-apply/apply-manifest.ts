/**
 * Applies a manifest: all of its documents in one transaction, or none. A dry run is the same
 * transaction, taken back.
 */

import { createHash } from 'node:crypto';
import { AppError } from '../../../base/errors.ts';
import type { Steps } from '../../../base/steps.ts';
import type { Caller } from '../../auth/permissions.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { refusal } from '../../domain/errors.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import {
  manifestKinds,
  type ManifestDocument,
} from '../../publish/manifests/manifest-documents.ts';
import { policies } from '../../store/collections.ts';
import type { Uses } from '../context.ts';
import { findRuleFaults, type RuleFault } from '../custom-rule-service/rule-findings.ts';
import { refuseFaultyRules } from '../custom-rule-service/rule-trial.ts';
import { refuseUncompiled } from '../policy-service/compile.ts';
import { applyAccess, applyPluginUses } from './apply-access.ts';
import { applyPolicyRules } from './apply-policy-rules.ts';
import type { ApplyRun, DocumentChange } from './context.ts';
import { applyDocument, openRun } from './stated-kinds.ts';

/** What a manifest changes, in the order of its documents. */
export interface AppliedManifest {
  readonly changes: readonly DocumentChange[];
  readonly warnings: readonly string[];
}

/** A fault of a custom rule of a manifest. */
export interface ManifestRuleFault extends RuleFault {
  /** The name in the document of its policy. */
  readonly policyName: string;
}

/** What a manifest would change, with every fault of its custom rules. */
export interface PreviewedManifest extends AppliedManifest {
  readonly ruleFaults: readonly ManifestRuleFault[];
}

/**
 * Says what applying the documents would change, and what is wrong with their custom rules. Errors:
 * AppError as those of `applyManifest`, but for faults of custom rules.
 */
export async function previewManifest(
  parts: Uses<'store' | 'clock' | 'engine' | 'readManifest'>,
  caller: Caller,
  bytes: Uint8Array,
): Promise<PreviewedManifest> {
  const documents = await read(parts, bytes);
  const { run, changes } = await tryOut(parts, caller, documents);
  const ruleFaults: ManifestRuleFault[] = [];
  try {
    for (const policy of policiesWithRules(parts, run)) {
      const policyName = policy.name ?? '';
      const rules = run.rulesChanged.flatMap(({ policyId, changed }) =>
        policyId === policy.id ? changed : [],
      );
      const found = await findRuleFaults(
        parts,
        policy,
        rules.map(({ rule }) => rule),
      );
      ruleFaults.push(...found.map((fault) => ({ ...fault, policyName })));
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
    run.warn('no engine answers: custom rules were not compiled; what serves them will check them');
  }
  return { changes, warnings: [...run.warnings], ruleFaults };
}

/** Policies with new or changed custom rules, as they would be. */
function policiesWithRules(parts: Uses<'store'>, run: ApplyRun): PolicyRecord[] {
  const ids = new Set(run.rulesChanged.map(({ policyId }) => policyId));
  return [...ids].flatMap(
    (id) => run.policiesChanged.get(id)?.policy ?? parts.store.get(policies, id) ?? [],
  );
}

/**
 * Applies the documents, or with `dryRun` says what applying them would change. Errors: AppError
 * whose message names document and field; nothing is changed then.
 */
export async function applyManifest(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine' | 'readManifest'>,
  caller: Caller,
  bytes: Uint8Array,
  dryRun: boolean,
  expectedPlanId = '',
): Promise<AppliedManifest> {
  const documents = await read(parts, bytes);
  const preview = await tryOut(parts, caller, documents);
  await refuseUncompilable(parts, preview.run);
  const nothingStated = 'the manifest has no documents: nothing is changed';
  const warnings = documents.length === 0 ? [nothingStated] : [...preview.run.warnings];
  requirePlan(preview.changes, expectedPlanId);
  const nothing = preview.changes.every(({ action }) => action === 'unchanged');
  if (dryRun || nothing) return { changes: preview.changes, warnings };
  const changes = await parts.store.writeInSteps(function* (tx) {
    const run = openRun(tx, parts.store, caller, parts.clock.nowMs());
    const made = yield* applyAll(run, documents);
    // Somebody may have changed something since it was tried out: this takes all of it back.
    requirePlan(made, expectedPlanId);
    return made;
  });
  return { changes, warnings };
}

/** Errors: aborted where the plan is not the one that was looked at. */
function requirePlan(changes: readonly DocumentChange[], expectedPlanId: string): void {
  if (expectedPlanId === '' || planIdOf(changes) === expectedPlanId) return;
  throw refusal('aborted', 'expectedPlanId: the plan is another one now; look at it again');
}

/** Names what changes, from what to what; the ids of what is new are not known before. */
export function planIdOf(changes: readonly DocumentChange[]): string {
  const facts = changes.map((one) => ({
    ...{ kind: one.kind, name: one.name, action: one.action, changedPaths: one.changedPaths },
    ...(one.action !== 'create' && { id: one.id }),
    ...(one.action !== 'unchanged' && {
      ...{ before: one.before, after: one.after, revision: one.revision },
    }),
  }));
  return createHash('sha256').update(canonicalJson(facts)).digest('hex');
}

/** Carries the result out of a transaction that is taken back. */
class TakenBack extends Error {
  readonly result: { readonly run: ApplyRun; readonly changes: readonly DocumentChange[] };

  constructor(result: TakenBack['result']) {
    super('taken back');
    this.result = result;
  }
}

async function tryOut(
  parts: Uses<'store' | 'clock'>,
  caller: Caller,
  documents: readonly ManifestDocument[],
): Promise<TakenBack['result']> {
  try {
    return await parts.store.writeInSteps(function* (tx) {
      const run = openRun(tx, parts.store, caller, parts.clock.nowMs());
      throw new TakenBack({ run, changes: yield* applyAll(run, documents) });
    });
  } catch (error) {
    if (error instanceof TakenBack) return error.result;
    throw error;
  }
}

/** One step is one document. */
function* applyAll(run: ApplyRun, documents: readonly ManifestDocument[]): Steps<DocumentChange[]> {
  const changes = new Map<ManifestDocument, DocumentChange>();
  for (const kind of manifestKinds) {
    for (const document of documents.filter((one) => one.kind === kind)) {
      changes.set(
        document,
        named(document, () => applyDocument(run, document)),
      );
      yield;
    }
  }
  for (const document of documents.filter((one) => one.kind === 'Policy')) {
    const change = changes.get(document);
    if (change === undefined) continue;
    changes.set(
      document,
      named(document, () => applyPolicyExtras(run, document, change)),
    );
    yield;
  }
  for (const document of documents.filter((one) => one.kind === 'Site')) {
    const change = changes.get(document);
    if (change === undefined) continue;
    const place = { scope: 'site', policyId: '', siteId: change.id } as const;
    changes.set(
      document,
      named(document, () => applyAccess(run, document, change, place)),
    );
    yield;
  }
  return documents.flatMap((document) => changes.get(document) ?? []);
}

/** What stands in a Policy document and may name sites of the same manifest. */
function applyPolicyExtras(
  run: ApplyRun,
  document: ManifestDocument,
  change: DocumentChange,
): DocumentChange {
  const place = { scope: 'policy', policyId: change.id, siteId: '' } as const;
  const ruled = applyPolicyRules(run, document, change);
  return applyAccess(run, document, applyPluginUses(run, document, ruled), place);
}

/** Errors: what the engine says against a changed policy or rule; without an engine none. */
async function refuseUncompilable(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
  run: ApplyRun,
): Promise<void> {
  const withRules = new Set(run.rulesChanged.map(({ policyId }) => policyId));
  for (const { policy, where } of run.policiesChanged.values()) {
    if (withRules.has(policy.id)) continue;
    await namedLater(where, () => refuseUncompiled(parts, policy, 'policy'));
  }
  const policyOf = (id: string): PolicyRecord | undefined =>
    run.policiesChanged.get(id)?.policy ?? parts.store.get(policies, id);
  for (const { policyId, overrides, where } of run.overridesChanged) {
    const policy = policyOf(policyId);
    if (policy === undefined) continue;
    const field = 'spec.ruleOverrides';
    await namedLater(where, () => refuseUncompiled(parts, policy, field, { overrides }));
  }
  for (const { policyId, bindings, where } of run.pluginsChanged) {
    const policy = policyOf(policyId);
    if (policy === undefined) continue;
    const field = 'spec.exclusionPlugins';
    await namedLater(where, () => refuseUncompiled(parts, policy, field, { bindings }));
  }
  for (const { policyId, changed, rules, where } of run.rulesChanged) {
    const policy = policyOf(policyId);
    if (policy === undefined) continue;
    const places = new Map(changed.map(({ rule, at }) => [rule.id, `spec.customRules[${at}].`]));
    const changedRules = changed.map(({ rule }) => rule);
    await refuseFaultyRules(parts, policy, rules, changedRules, (rule, check) =>
      namedLater(where, check, (message) =>
        rule === null
          ? specField(message)
          : message.replace(/^rule\./, places.get(rule.id) ?? 'rule.'),
      ),
    );
  }
}

async function read(parts: Uses<'readManifest'>, bytes: Uint8Array): Promise<ManifestDocument[]> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return await parts.readManifest(text);
  } catch (error) {
    if (error instanceof TypeError) throw refusal('invalid_argument', 'manifest: is not UTF-8');
    throw asRefusal(error, '');
  }
}

function named<T>({ where }: ManifestDocument, apply: () => T): T {
  try {
    return apply();
  } catch (error) {
    throw asRefusal(error, where);
  }
}

async function namedLater(
  where: string,
  check: () => Promise<void>,
  toField: (message: string) => string = specField,
): Promise<void> {
  try {
    await check();
  } catch (error) {
    throw asRefusal(error, where, toField);
  }
}

/** The same error, with the document in front and its fields as documents call them. */
function asRefusal(error: unknown, where: string, toField = specField): unknown {
  if (!(error instanceof AppError)) return error;
  const { code, message } = error;
  const unread = code === 'manifest_invalid' || code === 'yaml_invalid';
  const place = unread || where === '' ? '' : `${where}: `;
  const asked = unread ? 'invalid_argument' : code;
  const text = place === '' ? message : toField(message);
  return new AppError(asked, `${place}${text}`, { source: error.source, cause: error });
}

/** Names of API fields in front of a message, as documents call them. */
function specField(message: string): string {
  return message
    .replace(
      /^(?:(?:site|upstream|ipList|policy|role|group)\.name:|user\.username:)/,
      'metadata.name:',
    )
    .replace(/^(?:site|upstream|ipList|policy|role|group|user)\./, 'spec.')
    .replace(
      /^(?:routing|override)\b/,
      (name) => `spec.${name === 'override' ? 'policyOverride' : name}`,
    )
    .replace(/^spec\.upstreams\[(\d+)\]\.inline\./, 'spec.upstreams[$1].')
    .replace(/^spec\.upstreams\[0\]\.upstreamId/, 'spec.upstreamRef')
    .replace(/^spec\.waf\.policyId/, 'spec.policyRef')
    .replace(/^spec\.tls\.certId/, 'spec.certRef')
    .replace(
      /^(spec\.entries\[\d+\])\.(value|note|expiresAt)/,
      (_all, entry: string, field: string) => {
        const names: Record<string, string> = {
          value: 'cidr',
          note: 'description',
          expiresAt: 'expireAt',
        };
        return `${entry}.${names[field] ?? field}`;
      },
    );
}
