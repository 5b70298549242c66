/**
 * What operation controls are as they are kept: the snapshot of a site's controls, the intents that
 * made them, and the pure decisions on both. An intent never changes but for what supersedes it.
 */

import { createHash } from 'node:crypto';
import { controlFormat } from '../../../base/protocol-versions.ts';
import type {
  OperationControlRequiredTargetJson,
  OperationControlReviewJson,
} from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import type { BodySpec } from './body-spec.ts';
import { canonicalJson } from '../canonical-json.ts';

/** Identifier of the form of snapshots. */
export const siteControlsFormat = controlFormat;

/** What requests get that no declared operation takes. */
export type UndeclaredAction = 'allow' | 'observe' | 'block';

/** The schema part of a site's controls: references to immutable objects only. */
export interface SchemaControl {
  readonly contractId: string;
  readonly contractSha256: string;
  /** '' where the declaration alone is published. */
  readonly bindingId: string;
  readonly bindingSha256: string;
  /** '' where there is no binding. */
  readonly profileId: string;
  readonly artifactSha256: string;
  readonly undeclaredAction: UndeclaredAction;
}

/** The body control of one operation: a specification in one of two slots. */
export interface BodySlot {
  readonly specRevision: string;
  readonly specSha256: string;
  readonly spec: BodySpec;
}

/** Body controls of one catalog entry. */
export interface BodyControl {
  readonly apiAssetId: string;
  readonly effective?: BodySlot;
  readonly candidate?: BodySlot;
}

/** All controls of a site. Reference-only: nothing in it can run. */
export interface SiteControls {
  readonly format: typeof siteControlsFormat;
  readonly siteId: string;
  /** Null where no document is in use. */
  readonly schema: SchemaControl | null;
  /** By catalog entry, sorted. */
  readonly bodies: readonly BodyControl[];
}

/** Which part of the controls an intent changed. */
export type ControlDomain = 'schema' | 'body' | 'controls';

/** What was reviewed of a body control; no value of any request. */
export interface BodyReview {
  readonly format: 'waf.body_review.v1';
  readonly apiAssetId: string;
  /** What was asked for: an action of a draft or of a change. */
  readonly action: string;
  /** Of a draft: `observe` or `enforce`; '' for a change. */
  readonly mode: string;
  /** '' where no specification was selected. */
  readonly specRevision: string;
  readonly specSha256: string;
  readonly assetRevision: string;
  readonly rawReservationBytes: string;
}

/** An approved change of a site's controls. */
export interface OperationIntentRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly siteId: string;
  /** Counts the intents of the site from 1. */
  readonly controlRevision: number;
  readonly controls: SiteControls;
  /** SHA-256 of the canonical JSON of `controls`, hex. */
  readonly snapshotSha256: string;
  readonly reason: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly createdBy: string;
  readonly domain: ControlDomain;
  /** '' while it is the wanted one. */
  readonly supersededByIntentId: string;
  readonly rollbackSourceIntentId: string;
  readonly rollbackSourceConfigRevisionId: string;
  readonly reviewed: OperationControlReviewJson;
  readonly requiredTargets: readonly OperationControlRequiredTargetJson[];
  /** Fingerprints of what the review depended on, by resource; no values. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** SHA-256 of the approval that it was made from, hex: an approval is used once. */
  readonly approvalSha256: string;
  /** What was reviewed of a body control; absent for others. */
  readonly bodyReview?: BodyReview;
}

/** Controls of a site that has none. */
export function noControls(siteId: string): SiteControls {
  return { format: siteControlsFormat, siteId, schema: null, bodies: [] };
}

/** SHA-256 of a JSON value in its canonical form, hex. */
export function jsonSha256(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** The same controls with another schema part. Body controls stay as they are. */
export function withSchema(controls: SiteControls, schema: SchemaControl | null): SiteControls {
  return { ...controls, schema };
}

/** The same controls with other slots of one operation; null for none. */
export function withBody(
  controls: SiteControls,
  apiAssetId: string,
  body: BodyControl | null,
): SiteControls {
  const others = controls.bodies.filter((one) => one.apiAssetId !== apiAssetId);
  const bodies = body === null ? others : [...others, body];
  const order = (one: BodyControl, other: BodyControl): number =>
    one.apiAssetId < other.apiAssetId ? -1 : 1;
  return { ...controls, bodies: bodies.sort(order) };
}

/** What a caller has to send again for an approval to hold. */
export interface ReviewedState {
  readonly controlRevision: number;
  readonly baseGeneration: number;
  readonly inputRevision: number;
  readonly topologyRevision: number;
  readonly targetsSha256: string;
  readonly targetLocal: boolean;
  readonly dependenciesSha256: string;
}

/** The state that a review is made in, with what it was read from. */
export interface ControlReview {
  readonly state: ReviewedState;
  readonly requiredTargets: readonly OperationControlRequiredTargetJson[];
  /** SHA-256 by resource. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Fingerprint of the site's policy. */
  readonly policySha256: string;
  /** Why the nodes cannot carry out checks; '' where they can. */
  readonly unsupported: string;
}

/**
 * What moved since a review; '' where it still holds. The base generation rises with changes of
 * other sites, too: it is recorded, and what concerns the site is compared by its fingerprints.
 */
export function movedSince(
  reviewed: OperationControlReviewJson | undefined,
  now: ReviewedState,
): string {
  if (reviewed === undefined) return 'review: is required: send the one that you read';
  const changed = 'changed since the review; read it again and preview anew';
  if (Number(reviewed.controlRevision ?? 0) !== now.controlRevision) {
    return `review.controlRevision: the controls of the site ${changed}`;
  }
  if (Number(reviewed.inputRevision ?? 0) !== now.inputRevision) {
    return `review.inputRevision: the site ${changed}`;
  }
  if ((reviewed.targetsSha256 ?? '') !== now.targetsSha256) {
    return `review.targetsSha256: the nodes ${changed}`;
  }
  if ((reviewed.dependenciesSha256 ?? '') !== now.dependenciesSha256) {
    return `review.dependenciesSha256: what the controls depend on ${changed}`;
  }
  return '';
}
