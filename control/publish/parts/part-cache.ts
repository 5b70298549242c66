/**
 * The pieces of the latest bundles: builds what is stale, keeps the rest, finds contents by hash.
 */

import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { RuntimeBundleSchema } from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { AppError, toAppError } from '../../../base/errors.ts';
import { publishLimits } from '../../limits/store-limits.ts';
import type { Steps } from '../../../base/steps.ts';
import type { ReadStore, Store } from '../../store/store.ts';
import type { PartKind, PartPlan } from './part-kind.ts';

/** A piece that was built. */
export interface BuiltPart {
  readonly kind: string;
  readonly id: string;
  readonly sha256: Uint8Array;
  readonly content: Uint8Array;
  readonly inputs: readonly unknown[];
  /** Why it could not be built; it has no content then and must not be published. */
  readonly failure?: string;
}

/** What pieces are made from, and whether it changed. */
export type PartSource = ReadStore & Pick<Store, 'changesOf'>;

/** The pieces of a kind, and how often its collections had changed when they were planned. */
interface KindParts {
  readonly parts: ReadonlyMap<string, BuiltPart>;
  readonly changes: number;
}

/** The pieces of a bundle, by kind and id. */
export class PartCache {
  private readonly kinds: readonly PartKind[];
  private readonly byKind = new Map<string, KindParts>();
  /** Contents of the latest bundles, newest first; what they have in common is there once. */
  private offered: ReadonlyMap<string, Uint8Array>[] = [];

  constructor(kinds: readonly PartKind[]) {
    this.kinds = kinds;
  }

  /**
   * Brings the pieces up to date and returns them by kind and id. All kinds are planned in one go,
   * from what the store shows at that moment, so that pieces name nothing that others lack;
   * contents are read later. Errors: AppError part_unbuildable; the pieces stay as they were. A
   * kind whose pieces may fail marks them itself. Cost: that of the pieces that are stale, one a
   * step, and microseconds for each of the others of a changed kind.
   */
  *refresh(store: PartSource): Steps<BuiltPart[]> {
    const plans = this.kinds.filter((kind) => this.isStale(kind, store)).map(planOf(store));
    const fresh = new Map<string, KindParts>();
    for (const { kind, planned, changes } of plans) {
      const before = this.byKind.get(kind.name)?.parts;
      fresh.set(kind.name, { parts: yield* rebuild(kind, planned, before), changes });
    }
    for (const [name, parts] of fresh) this.byKind.set(name, parts);
    return [...this.byKind].flatMap(([, { parts }]) => [...parts.values()]).sort(byName);
  }

  /** Whether everything is as it was when the pieces were planned. */
  isFresh(store: PartSource): boolean {
    return !this.kinds.some((kind) => this.isStale(kind, store));
  }

  private isStale(kind: PartKind, store: PartSource): boolean {
    return this.byKind.get(kind.name)?.changes !== store.changesOf(kind.collections);
  }

  /** Makes these pieces the ones that nodes may fetch, beside those of the bundles before. */
  offer(parts: readonly BuiltPart[]): void {
    const contents = new Map(parts.map((part) => [hex(part.sha256), part.content]));
    this.offered = [contents, ...this.offered].slice(0, publishLimits.bundlesOffered);
  }

  /** Content by hash; undefined when it belongs to none of the latest bundles. */
  content(sha256: Uint8Array): Uint8Array | undefined {
    const name = hex(sha256);
    for (const contents of this.offered) {
      const content = contents.get(name);
      if (content !== undefined) return content;
    }
    return undefined;
  }
}

function planOf(store: PartSource) {
  return (kind: PartKind): { kind: PartKind; planned: PartPlan[]; changes: number } => {
    const changes = store.changesOf(kind.collections);
    return { kind, planned: [...kind.plan(store)], changes };
  };
}

function* rebuild(
  kind: PartKind,
  plans: readonly PartPlan[],
  before: ReadonlyMap<string, BuiltPart> | undefined,
): Steps<Map<string, BuiltPart>> {
  const parts = new Map<string, BuiltPart>();
  for (const plan of plans) {
    const known = before?.get(plan.id);
    // What failed may fail for a reason that its inputs do not show: it is tried again.
    const built = known !== undefined && known.failure === undefined;
    const same = built && identical(known.inputs, plan.inputs);
    parts.set(plan.id, same ? known : build(kind, plan));
    if (!same) yield;
  }
  return parts;
}

function build({ name: kind, mayFail }: PartKind, plan: PartPlan): BuiltPart {
  const { id, inputs, build: make } = plan;
  try {
    const content = toBinary(RuntimeBundleSchema, create(RuntimeBundleSchema, make()));
    const sha256 = new Uint8Array(createHash('sha256').update(content).digest());
    return { kind, id, sha256, content, inputs };
  } catch (cause) {
    const reason = toAppError(cause).message;
    if (mayFail === true) {
      const sha256 = new Uint8Array(createHash('sha256').update(reason).digest());
      return { kind, id, sha256, content: new Uint8Array(), inputs, failure: reason };
    }
    const message = `the piece ${kind} ${id} cannot be published: ${reason}`;
    throw new AppError('part_unbuildable', message, { source: 'config', cause });
  }
}

function identical(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((input, at) => input === right[at]);
}

function byName(left: BuiltPart, right: BuiltPart): number {
  const order = left.kind === right.kind ? left.id < right.id : left.kind < right.kind;
  return order ? -1 : 1;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
