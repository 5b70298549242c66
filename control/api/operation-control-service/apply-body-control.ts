/** OperationControlService/ApplyBodyControl: publishes a body control as it was previewed. */

import {
  ApplyBodyControlResponseSchema,
  BodyControlApprovalSchema,
  OperationControlService,
  type BodyControlApprovalJson,
} from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import type { BodyDraft } from '../../domain/documents/body-control.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { callerOf, type Uses } from '../context.ts';
import { requireText, toMessage, toRecord } from '../convert.ts';
import { writeOnce } from '../idempotency.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { requireCurrent } from './approvals.ts';
import { addBodyIntent, requireEnforcer } from './body-intent.ts';
import { previewDraft } from './body-preview.ts';

/** Publishes. What it returns is a durable intent, not what nodes serve. */
export function applyBodyControl(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof OperationControlService, 'applyBodyControl'> {
  const rpc = OperationControlService.method.applyBodyControl;
  return (request, context) => {
    const caller = callerOf(context);
    const { approval, reason } = request;
    if (approval?.draft === undefined) throw invalidField('approval.draft', 'is required');
    const { draft } = approval;
    requireText(request.idempotencyKey, 'idempotencyKey');
    requireText(reason, 'reason');
    const sent = toRecord<BodyControlApprovalJson>(BodyControlApprovalSchema, approval);
    return writeOnce(parts, caller, rpc, request, (tx) => {
      const site = storedSite(tx, caller, draft.siteId, 'approval.draft.siteId');
      const preview = previewDraft(parts, tx, site, draft, 'approval.draft');
      if (changesEffect(preview.draft)) requireEnforcer(caller);
      requireCurrent(sent, preview.approval);
      const { after: controls, review: now, resources, slot } = preview;
      if (resources.unsupported !== '') throw refusal('failed_precondition', resources.unsupported);
      const { assetRevision = '0', specSha256 = '' } = preview.approval;
      const { rawReservationBytes } = resources;
      const { action, mode } = preview.draft;
      const answer = addBodyIntent(parts, tx, caller, {
        ...{ site, controls, reason, approval: sent, now },
        review: {
          ...{ apiAssetId: draft.apiAssetId, action, mode, assetRevision },
          ...{ specRevision: slot?.specRevision ?? '', specSha256, rawReservationBytes },
        },
      });
      return toMessage(ApplyBodyControlResponseSchema, answer);
    });
  };
}

/** Whether a draft changes what requests get. */
function changesEffect({ action, mode }: BodyDraft): boolean {
  return action === 'inherit' || (action === 'set' && mode === 'enforce');
}
