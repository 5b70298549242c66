/**
 * A plan as an entry of the database cache, so that a policy is linked and planned once and not at
 * every start. An entry holds what one build made of one policy: the numbers in a plan are those of
 * the build. An entry that is cut, changed, or of another name is none.
 */

import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import { platformKey } from '../../match/scan.ts';
import type { Diagnostic } from '../language/diagnostic.ts';

/** What linking a policy found, and the plan as `plan-image.ts` wrote it. */
export interface PlanEntry {
  readonly diagnostics: readonly Diagnostic[];
  readonly plan: SharedArrayBuffer;
}

interface Written {
  readonly key: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly plan: Uint8Array;
}

const digestBytes = 32;

/** Names an entry by the build that plans (`build` stands for its code) and by the policy. */
export function planEntryKey(build: string, policyKey: string): string {
  const parts = [build, process.version, platformKey(), policyKey];
  return `plan-${createHash('sha256').update(parts.join('\n')).digest('hex')}`;
}

/** Layout: the entry as V8 serializes it, then SHA-256 over all before it. */
export function writePlanEntry(key: string, { diagnostics, plan }: PlanEntry): Uint8Array {
  const written: Written = { key, diagnostics, plan: new Uint8Array(plan).slice() };
  const body = serialize(written);
  return Buffer.concat([body, digestOf(body)]);
}

/** The entry again, its plan in shared memory; null where the bytes are not this entry's. */
export function readPlanEntry(key: string, bytes: Uint8Array): PlanEntry | null {
  const end = bytes.length - digestBytes;
  if (end <= 0) return null;
  const body = bytes.subarray(0, end);
  if (!digestOf(body).equals(bytes.subarray(end))) return null;
  const { key: own, diagnostics, plan } = deserialize(body) as Written;
  if (own !== key) return null;
  const shared = new SharedArrayBuffer(plan.length);
  new Uint8Array(shared).set(plan);
  return { diagnostics, plan: shared };
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
