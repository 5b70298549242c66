/** OperationControlService/ChangeBodyControl: carries out a change of slots as it was previewed. */

import {
  BodyChangeApprovalSchema,
  ChangeBodyControlResponseSchema,
  OperationControlService,
  type BodyChangeApprovalJson,
} from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { callerOf, type Uses } from '../context.ts';
import { requireText, toMessage, toRecord } from '../convert.ts';
import { writeOnce } from '../idempotency.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { requireCurrent } from './approvals.ts';
import { previewSlotChange } from './body-change-preview.ts';
import { addBodyIntent, requireEnforcer } from './body-intent.ts';

/** Changes one slot. Other controls, and the other slot, stay. */
export function changeBodyControl(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof OperationControlService, 'changeBodyControl'> {
  const rpc = OperationControlService.method.changeBodyControl;
  return (request, context) => {
    const caller = callerOf(context);
    const { approval, reason } = request;
    const selection = approval?.selection;
    if (selection === undefined) throw invalidField('approval.selection', 'is required');
    const { action, apiAssetId, sourceIntentId } = selection;
    requireText(request.idempotencyKey, 'idempotencyKey');
    requireText(reason, 'reason');
    const sent = toRecord<BodyChangeApprovalJson>(BodyChangeApprovalSchema, approval!);
    return writeOnce(parts, caller, rpc, request, (tx) => {
      const at = 'approval.selection.';
      const site = storedSite(tx, caller, selection.siteId, `${at}siteId`);
      const preview = previewSlotChange(parts, tx, site, selection, at);
      // It puts a body control into effect, as enforcing one does.
      if (action === 'rollback_effective') requireEnforcer(caller);
      requireCurrent(sent, preview.approval);
      const { after: controls, review: now, slot, recovery } = preview;
      if (now.unsupported !== '') throw refusal('failed_precondition', now.unsupported);
      const { assetRevision = '0', afterRawReservationBytes = '0' } = preview.approval;
      const { specRevision, specSha256 } = slot;
      const answer = addBodyIntent(parts, tx, caller, {
        ...{ site, controls, reason, approval: sent, now },
        review: {
          ...{ apiAssetId, action, mode: '', specRevision, specSha256, assetRevision },
          rawReservationBytes: afterRawReservationBytes,
        },
        rollbackSourceIntentId: recovery === null ? '' : sourceIntentId,
        rollbackSourceConfigRevisionId: recovery?.revision ?? '',
      });
      return toMessage(ChangeBodyControlResponseSchema, answer);
    });
  };
}
