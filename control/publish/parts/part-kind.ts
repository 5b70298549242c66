/**
 * What a piece of the bundle is: where it comes from in the store, when it is stale, how it is
 * encoded. A piece is named by its hash, so that a change rebuilds and sends nothing but itself.
 */

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RuntimeBundleSchema } from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { ReadStore } from '../../store/store.ts';

/** Content of a piece: a RuntimeBundle of which only this piece's lists are set. */
export type PartContent = MessageInitShape<typeof RuntimeBundleSchema>;

/** One piece as it would be built now. */
export interface PartPlan {
  /** Unique among its kind. */
  readonly id: string;
  /**
   * All that its content depends on: records as the store gave them, or texts. The piece is built
   * anew when one of them is not identical (===) with that of the last time.
   */
  readonly inputs: readonly unknown[];
  /** Makes the content; called only when it is stale, or after a start. */
  readonly build: () => PartContent;
}

/** A kind of piece. */
export interface PartKind {
  /** For example `ip-list`. */
  readonly name: string;
  /** Names of the collections whose changes may make pieces of this kind stale. */
  readonly collections: readonly string[];
  /** A piece that cannot be built holds back itself only; see held-policies.ts. */
  readonly mayFail?: boolean;
  /** The pieces that there are now. Cost: must not read contents, only what names their state. */
  readonly plan: (store: ReadStore) => Iterable<PartPlan>;
}
