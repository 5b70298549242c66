/**
 * OperationControlService/ReplaceOperationControls and RollbackOperationControls: a reviewed change
 * of all controls of a site at once. What they return is a durable intent, not what nodes serve.
 */

import {
  OperationControlService,
  ReplaceOperationControlsResponseSchema,
  RollbackOperationControlsResponseSchema,
  OperationControlReviewSchema,
  type OperationControlReview,
  type OperationControlReviewJson,
} from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import {
  jsonSha256,
  noControls,
  siteControlsFormat,
  type OperationIntentRecord,
  type SiteControls,
} from '../../domain/documents/operation-control.ts';
import type { SiteRecord } from '../../domain/records.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, requireText, toMessage, toRecord } from '../convert.ts';
import { writeOnce } from '../idempotency.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { attemptOf, supersededBy } from './attempts.ts';
import { addIntent, intentJson, intentOf, publicationsOf, wantedControls } from './intents.ts';
import { readReview } from './review.ts';

/** Replaces all controls. Populated slots are refused: they have RPCs of their own. */
export function replaceOperationControls(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof OperationControlService, 'replaceOperationControls'> {
  const rpc = OperationControlService.method.replaceOperationControls;
  return (request, context) => {
    const caller = callerOf(context);
    requireKey(request.idempotencyKey);
    requireText(request.reason, 'reason');
    const controls = readSnapshot(request.snapshotJson, request.siteId);
    return writeOnce(parts, caller, rpc, request, (tx) => {
      const site = storedSite(tx, caller, request.siteId, 'siteId');
      const { reason, review } = request;
      const intent = put(parts, tx, caller, { site, controls, reason, review });
      const answer = { intent: intentJson(tx, intent), state: 'pending' };
      return toMessage(ReplaceOperationControlsResponseSchema, answer);
    });
  };
}

/** Restores the controls of an intent that nodes applied. */
export function rollbackOperationControls(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof OperationControlService, 'rollbackOperationControls'> {
  const rpc = OperationControlService.method.rollbackOperationControls;
  return (request, context) => {
    const caller = callerOf(context);
    requireKey(request.idempotencyKey);
    requireText(request.reason, 'reason');
    requireText(request.sourceIntentId, 'sourceIntentId');
    requireText(request.sourceConfigRevisionId, 'sourceConfigRevisionId');
    return writeOnce(parts, caller, rpc, request, (tx) => {
      const site = storedSite(tx, caller, request.siteId, 'siteId');
      const source = appliedIntent(
        tx,
        site,
        request.sourceIntentId,
        request.sourceConfigRevisionId,
      );
      const { reason, review, sourceIntentId, sourceConfigRevisionId } = request;
      const from = { sourceIntentId, sourceConfigRevisionId };
      const { controls } = source;
      const intent = put(parts, tx, caller, { site, controls, reason, review, from });
      const answer = { intent: intentJson(tx, intent), state: 'pending' };
      return toMessage(RollbackOperationControlsResponseSchema, answer);
    });
  };
}

interface Change {
  readonly site: SiteRecord;
  readonly controls: SiteControls;
  readonly reason: string;
  readonly review: OperationControlReview | undefined;
  readonly from?: { readonly sourceIntentId: string; readonly sourceConfigRevisionId: string };
}

function put(
  parts: Uses<'clock' | 'publisher' | 'nodes'>,
  tx: WriteStore,
  caller: Caller,
  { site, controls, reason, review, from }: Change,
): OperationIntentRecord {
  if (review === undefined) throw invalidField('review', 'is required: send the one that you read');
  const reviewed = toRecord<OperationControlReviewJson>(OperationControlReviewSchema, review);
  const wanted = wantedControls(tx, site.id);
  // What is read by GetOperationControlState is fingerprinted with the controls that are wanted.
  const now = readReview(parts, tx, site, wanted.controls);
  const next = readReview(parts, tx, site, controls);
  if (next.unsupported !== '') throw refusal('failed_precondition', next.unsupported);
  const gone = Object.entries(next.dependencies).find(([, sha256]) => sha256 === '');
  if (gone !== undefined) {
    throw refusal('failed_precondition', `the ${gone[0]} of these controls is not kept any more`);
  }
  return addIntent(
    tx,
    caller,
    {
      site,
      controls,
      domain: 'controls',
      reason,
      approval: { siteId: site.id, reviewed, snapshotSha256: jsonSha256(controls), ...from },
      reviewed,
      now: { ...now, dependencies: next.dependencies },
      rollbackSourceIntentId: from?.sourceIntentId ?? '',
      rollbackSourceConfigRevisionId: from?.sourceConfigRevisionId ?? '',
    },
    isoNow(parts.clock),
  );
}

/** Errors: not_found, failed_precondition for an intent that is wanted or was not applied. */
function appliedIntent(
  tx: WriteStore,
  site: SiteRecord,
  intentId: string,
  configRevisionId: string,
): OperationIntentRecord {
  const intent = intentOf(tx, site.id, intentId);
  if (intent.supersededByIntentId === '') {
    throw refusal('failed_precondition', 'sourceIntentId: these controls are wanted already');
  }
  const publication = publicationsOf(tx, intent.id).find(
    ({ revision }) => revision === configRevisionId,
  );
  if (publication === undefined) {
    throw refusal('not_found', 'sourceConfigRevisionId: did not carry the intent');
  }
  if (attemptOf(publication, intent, supersededBy(tx)).status === 'applied') return intent;
  throw refusal(
    'failed_precondition',
    'sourceConfigRevisionId: was not applied by all nodes that the intent required',
  );
}

/** Reads a snapshot without populated slots. Errors: invalid_argument, failed_precondition. */
function readSnapshot(bytes: Uint8Array, siteId: string): SiteControls {
  let snapshot: unknown;
  try {
    snapshot = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalidField('snapshotJson', 'must be a JSON object in UTF-8');
  }
  if (typeof snapshot !== 'object' || snapshot === null || Array.isArray(snapshot)) {
    throw invalidField('snapshotJson', 'must be a JSON object in UTF-8');
  }
  const fields = snapshot as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(fields)) {
    if (!snapshotFields.includes(name)) {
      throw invalidField('snapshotJson', `allowed are ${snapshotFields.join(', ')}`);
    }
  }
  if (fields['format'] !== siteControlsFormat) {
    throw invalidField('snapshotJson.format', `must be ${siteControlsFormat}`);
  }
  if (fields['siteId'] !== siteId) {
    throw invalidField('snapshotJson.siteId', 'must be the site of the request');
  }
  const { bodies } = fields;
  if (fields['schema'] === undefined || !Array.isArray(bodies)) {
    throw invalidField('snapshotJson', 'must be complete: schema (null) and bodies (a list)');
  }
  if (fields['schema'] !== null || bodies.length > 0) {
    throw refusal(
      'failed_precondition',
      'snapshotJson: populated slots are not supported here; publish them by ChangeSchemaControl ' +
        'and ApplyBodyControl',
    );
  }
  return noControls(siteId);
}

const snapshotFields = ['format', 'siteId', 'schema', 'bodies'];

function requireKey(key: string): void {
  if (key === '') throw invalidField('idempotencyKey', 'is required');
}
