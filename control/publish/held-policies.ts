/**
 * Holds back policies that do not compile: which artifact of each a node accepted last, which it
 * refused, and what is published in place of a refused one. A policy that is held back keeps its
 * last good artifact; one that never had any is left out, and its sites get 503.
 */

import { createHash } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import { RuntimeBundleSchema, type RuntimePart } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { publishLimits } from '../limits/store-limits.ts';
import { goodPolicies, heldPolicies, type GoodPolicyRecord } from '../store/collections.ts';
import type { ReadStore, WriteStore } from '../store/store.ts';
import type { BuiltPart } from './parts/part-cache.ts';
import { policyKind, rulesetKind } from './parts/policy-parts.ts';

/** A policy that is held back. */
export interface HeldPolicy {
  readonly id: string;
  /** What is wrong, with file and line. */
  readonly error: string;
  /** Whether its sites keep an earlier artifact; else they get 503. */
  readonly served: boolean;
}

/** What a node says against one policy of a configuration. */
export interface RefusedPolicy {
  readonly id: string;
  readonly text: string;
}

/** Pieces as they are published. */
export interface SettledParts {
  readonly parts: readonly BuiltPart[];
  readonly held: readonly HeldPolicy[];
}

/** Finds the content of a piece by its hash. */
export type ContentOf = (sha256: Uint8Array) => Uint8Array | undefined;

/** Puts last good artifacts in place of those that are refused or cannot even be built. */
export function settleParts(store: ReadStore, parts: readonly BuiltPart[]): SettledParts {
  const held: HeldPolicy[] = [];
  const settled = new Map<string, BuiltPart>();
  const put = (part: BuiltPart): unknown => settled.set(`${part.kind} ${part.id}`, part);
  for (const part of parts) {
    const error = part.kind === policyKind.name ? refusalOf(store, part) : null;
    if (error === null) {
      put(part);
      continue;
    }
    const good = goodParts(store, part.id);
    held.push({ id: part.id, error, served: good !== null });
    good?.filter(({ kind, id }) => !settled.has(`${kind} ${id}`)).forEach(put);
  }
  // The usual case: nobody sorts anew what is sorted.
  if (held.length === 0) return { parts, held };
  // A ruleset that is built anew stands over one that was kept; both have the same content.
  for (const part of parts) if (part.kind === rulesetKind.name) put(part);
  return { parts: [...settled.values()].sort(byName), held };
}

/** Notes which artifacts a node refused. Shape: how many of the named policies it is about. */
export function noteRefused(
  tx: WriteStore,
  index: readonly RuntimePart[],
  revision: string,
  refused: readonly RefusedPolicy[],
  now: string,
): number {
  const parts = new Map(policiesIn(index).map((part) => [part.id, part]));
  let count = 0;
  for (const { id, text } of refused) {
    const part = parts.get(id);
    if (part === undefined) continue;
    const sha256 = hex(part.sha256);
    const error = text.slice(0, publishLimits.heldNoteCharactersMax);
    tx.put(heldPolicies, { id, sha256, revision, error, since: now });
    // What was accepted once and is refused now is nothing to fall back to.
    const good = tx.get(goodPolicies, id);
    if (good?.sha256 === sha256) {
      tx.remove(goodPolicies, id);
      dropBlobs(tx, [good]);
    }
    count++;
  }
  return count;
}

/** Whether a node that accepted this configuration accepted artifacts that are not noted yet. */
export function hasNewGood(store: ReadStore, index: readonly RuntimePart[]): boolean {
  const policies = policiesIn(index);
  const known = store.count(goodPolicies);
  return (
    known !== policies.length ||
    policies.some(({ id, sha256 }) => store.get(goodPolicies, id)?.sha256 !== hex(sha256))
  );
}

/** Notes the artifacts of a configuration that a node accepted; forgets those of other policies. */
export function noteGood(
  tx: WriteStore,
  index: readonly RuntimePart[],
  contentOf: ContentOf,
): void {
  const rulesets = new Map(index.filter(isRuleset).map((part) => [part.id, part]));
  const policies = policiesIn(index);
  const named = new Set(policies.map(({ id }) => id));
  const gone = tx.list(goodPolicies).filter(({ id }) => !named.has(id));
  for (const { id } of gone) tx.remove(goodPolicies, id);
  for (const part of policies) {
    const sha256 = hex(part.sha256);
    const before = tx.get(goodPolicies, part.id);
    if (before?.sha256 === sha256) continue;
    const content = contentOf(part.sha256);
    if (content === undefined) continue;
    const rulesetId = fromBinary(RuntimeBundleSchema, content).policies[0]?.rulesetId ?? '';
    const ruleset = rulesets.get(rulesetId);
    const rulesetBlob = ruleset === undefined ? '' : keepBlob(tx, ruleset.sha256, contentOf);
    const policyBlob = keepBlob(tx, part.sha256, contentOf);
    if (before !== undefined) gone.push(before);
    tx.put(goodPolicies, { id: part.id, sha256, policyBlob, rulesetId, rulesetBlob });
  }
  dropBlobs(tx, gone);
}

/** Forgets what was said against artifacts that are no longer wanted. */
export function forgetSettled(tx: WriteStore, held: readonly HeldPolicy[]): void {
  const stays = new Set(held.map(({ id }) => id));
  for (const { id } of tx.list(heldPolicies)) if (!stays.has(id)) tx.remove(heldPolicies, id);
}

/** What operators read of policies that are held back; '' when none is. */
export function heldNote(held: readonly HeldPolicy[]): string {
  const texts = held.map(({ id, error, served }) => {
    const what = served ? 'its sites keep the version before' : 'its sites answer 503';
    return `held back: ${id}; ${what}\n${error}`;
  });
  return texts.join('\n').slice(0, publishLimits.heldNoteCharactersMax);
}

function refusalOf(store: ReadStore, part: BuiltPart): string | null {
  if (part.failure !== undefined) return part.failure;
  const record = store.get(heldPolicies, part.id);
  return record?.sha256 === hex(part.sha256) ? record.error : null;
}

function goodParts(store: ReadStore, id: string): BuiltPart[] | null {
  const good = store.get(goodPolicies, id);
  const policy = good === undefined ? null : keptPart(store, policyKind.name, id, good.policyBlob);
  if (good === undefined || policy === null) return null;
  if (good.rulesetId === '') return [policy];
  const ruleset = keptPart(store, rulesetKind.name, good.rulesetId, good.rulesetBlob);
  return ruleset === null ? null : [policy, ruleset];
}

function keptPart(store: ReadStore, kind: string, id: string, blob: string): BuiltPart | null {
  const kept = store.blob(blob);
  if (kept === undefined) return null;
  // What the store hands out is valid for a while only.
  const content = new Uint8Array(kept);
  const sha256 = new Uint8Array(createHash('sha256').update(content).digest());
  return { kind, id, sha256, content, inputs: [] };
}

function keepBlob(tx: WriteStore, sha256: Uint8Array, contentOf: ContentOf): string {
  const content = contentOf(sha256);
  if (content === undefined) return '';
  const name = `good-${hex(sha256)}`;
  if (tx.blob(name) === undefined) tx.putBlob(name, content);
  return name;
}

/** Removes what records that are gone named, unless others name it too. */
function dropBlobs(tx: WriteStore, gone: readonly GoodPolicyRecord[]): void {
  if (gone.length === 0) return;
  const inUse = new Set(tx.list(goodPolicies).flatMap(blobsOf));
  for (const blob of gone.flatMap(blobsOf)) if (!inUse.has(blob)) tx.removeBlob(blob);
}

function blobsOf({ policyBlob, rulesetBlob }: GoodPolicyRecord): string[] {
  return [policyBlob, rulesetBlob].filter((name) => name !== '');
}

function policiesIn(index: readonly RuntimePart[]): RuntimePart[] {
  return index.filter(({ kind }) => kind === policyKind.name);
}

function isRuleset({ kind }: RuntimePart): boolean {
  return kind === rulesetKind.name;
}

function byName(left: BuiltPart, right: BuiltPart): number {
  const order = left.kind === right.kind ? left.id < right.id : left.kind < right.kind;
  return order ? -1 : 1;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
