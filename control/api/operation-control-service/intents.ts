/**
 * Reading and adding the intents of a site: the controls that are wanted, their history, and the
 * configurations that carried each. An intent is added in the transaction that checked its review.
 */

import { randomUUID } from 'node:crypto';
import type { OperationControlIntentJson } from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { refusal } from '../../domain/errors.ts';
import {
  jsonSha256,
  movedSince,
  noControls,
  type BodyReview,
  type ControlReview,
  type OperationIntentRecord,
  type SiteControls,
} from '../../domain/documents/operation-control.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { operationIntents, orderOf } from '../../store/api-collections.ts';
import { publications, type PublicationRecord } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { actorNote } from '../context.ts';

/** What is wanted of a site: its newest intent and the controls that it made. */
export interface WantedControls {
  readonly intent: OperationIntentRecord | null;
  readonly controls: SiteControls;
  readonly controlRevision: number;
  readonly snapshotSha256: string;
}

/** The controls that are wanted of a site; empty ones where nobody set any. */
export function wantedControls(store: ReadStore, siteId: string): WantedControls {
  const [intent = null] = store.find(operationIntents, 'wanted', siteId);
  const controls = intent?.controls ?? noControls(siteId);
  return {
    intent,
    controls,
    controlRevision: intent?.controlRevision ?? 0,
    snapshotSha256: intent?.snapshotSha256 ?? jsonSha256(controls),
  };
}

/** What an intent is made of. */
export interface NewIntent {
  readonly site: Pick<SiteRecord, 'id' | 'name' | 'tenantId'>;
  readonly controls: SiteControls;
  readonly domain: OperationIntentRecord['domain'];
  readonly reason: string;
  /** The approval as it was handed back, or what stands for it. */
  readonly approval: unknown;
  readonly reviewed: OperationIntentRecord['reviewed'];
  /** The state that the review is compared with, read in this transaction. */
  readonly now: ControlReview;
  readonly rollbackSourceIntentId?: string;
  readonly rollbackSourceConfigRevisionId?: string;
  readonly bodyReview?: BodyReview;
}

/**
 * Adds an intent that supersedes the wanted one. Errors: aborted where the review does not hold any
 * more or the approval was used before.
 */
export function addIntent(
  tx: WriteStore,
  caller: Caller,
  asked: NewIntent,
  nowIso: string,
): OperationIntentRecord {
  const { site, controls, now } = asked;
  const approvalSha256 = jsonSha256(asked.approval);
  if (tx.find(operationIntents, 'approval', approvalSha256).length > 0) {
    throw refusal('aborted', 'approval: was used before; each publication needs its own preview');
  }
  const moved = movedSince(asked.reviewed, now.state);
  if (moved !== '') throw refusal('aborted', moved);
  const before = wantedControls(tx, site.id);
  const record: OperationIntentRecord = {
    id: `intent-${randomUUID()}`,
    tenantId: site.tenantId,
    siteId: site.id,
    controlRevision: before.controlRevision + 1,
    controls,
    snapshotSha256: jsonSha256(controls),
    reason: asked.reason,
    createdAt: nowIso,
    createdBy: caller.username,
    domain: asked.domain,
    supersededByIntentId: '',
    rollbackSourceIntentId: asked.rollbackSourceIntentId ?? '',
    rollbackSourceConfigRevisionId: asked.rollbackSourceConfigRevisionId ?? '',
    reviewed: asked.reviewed,
    requiredTargets: now.requiredTargets,
    dependencies: now.dependencies,
    approvalSha256,
    ...(asked.bodyReview === undefined ? {} : { bodyReview: asked.bodyReview }),
  };
  if (before.intent !== null) {
    tx.put(operationIntents, { ...before.intent, supersededByIntentId: record.id });
  }
  tx.put(operationIntents, record);
  forgetOldest(tx, site.id);
  const { id, controlRevision, snapshotSha256, domain, reason } = record;
  tx.audit({
    ...actorNote(caller),
    resourceType: 'operation_control',
    resourceId: site.id,
    resourceName: site.name,
    action: 'publish',
    before: { controlRevision: before.controlRevision, snapshotSha256: before.snapshotSha256 },
    after: { id, controlRevision, snapshotSha256, domain, reason },
  });
  return record;
}

function forgetOldest(tx: WriteStore, siteId: string): void {
  const range = { valuePrefix: `${siteId} ` };
  const all = [...tx.walkIndex(operationIntents, 'site', range)];
  for (const { id } of all.slice(0, -apiDocumentLimits.intentsPerSiteMax)) {
    tx.remove(operationIntents, id);
  }
}

/** Intents of a site before a revision (0 for all), the newest first. */
export function intentsBefore(
  store: ReadStore,
  siteId: string,
  beforeRevision: number,
  limit: number,
): OperationIntentRecord[] {
  const after =
    beforeRevision === 0
      ? {}
      : { after: { value: orderOf(siteId, String(beforeRevision)), id: '' } };
  const range = { valuePrefix: `${siteId} `, reverse: true, limit, ...after };
  return [...store.walkIndex(operationIntents, 'site', range)];
}

/** An intent of a site. Errors: not_found. */
export function intentOf(store: ReadStore, siteId: string, id: string): OperationIntentRecord {
  const intent = store.get(operationIntents, id);
  if (intent?.siteId === siteId) return intent;
  throw refusal('not_found', 'No intent with this id on this site.');
}

/** The configurations that carried an intent and are still known, the newest first. */
export function publicationsOf(store: ReadStore, intentId: string): PublicationRecord[] {
  return store
    .list(publications)
    .filter(({ intents }) => intents?.includes(intentId) === true)
    .reverse();
}

/** An intent as the API shows it. */
export function intentJson(store: ReadStore, intent: OperationIntentRecord) {
  const json = (value: unknown): string =>
    Buffer.from(canonicalJson(value), 'utf8').toString('base64');
  const shown: OperationControlIntentJson = {
    id: intent.id,
    siteId: intent.siteId,
    controlRevision: String(intent.controlRevision),
    snapshotSha256: intent.snapshotSha256,
    snapshotJson: json(intent.controls),
    supersededByIntentId: intent.supersededByIntentId,
    applyClaimed: publicationsOf(store, intent.id).length > 0,
    rollbackSourceIntentId: intent.rollbackSourceIntentId,
    rollbackSourceConfigRevisionId: intent.rollbackSourceConfigRevisionId,
    reviewed: intent.reviewed,
    requiredTargets: [...intent.requiredTargets],
    dependenciesJson: json(intent.dependencies),
    ...(intent.bodyReview === undefined ? {} : { bodyReviewJson: json(intent.bodyReview) }),
  };
  return shown;
}
