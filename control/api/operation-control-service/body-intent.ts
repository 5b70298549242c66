/** An intent of body controls: who may put one into effect, and how it is added. */

import type {
  ApplyBodyControlResponseJson,
  BodyControlApprovalJson,
  BodyChangeApprovalJson,
} from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import { requirePermission, type Caller } from '../../auth/permissions.ts';
import type { BodyReview } from '../../domain/documents/operation-control.ts';
import type { WriteStore } from '../../store/store.ts';
import type { Uses } from '../context.ts';
import { isoNow } from '../convert.ts';
import { addIntent, intentJson, type NewIntent } from './intents.ts';

/** A reviewed change of body controls. */
export interface BodyIntent extends Omit<
  NewIntent,
  'domain' | 'approval' | 'reviewed' | 'bodyReview'
> {
  readonly approval: BodyControlApprovalJson | BodyChangeApprovalJson;
  readonly review: Omit<BodyReview, 'format'>;
}

/** Adds it; gives what both methods answer. Errors: those of `addIntent`. */
export function addBodyIntent(
  { clock }: Uses<'clock'>,
  tx: WriteStore,
  caller: Caller,
  { review, ...asked }: BodyIntent,
): ApplyBodyControlResponseJson {
  const intent = addIntent(
    tx,
    caller,
    {
      ...asked,
      domain: 'body',
      reviewed: asked.approval.review ?? {},
      bodyReview: { format: 'waf.body_review.v1', ...review },
    },
    isoNow(clock),
  );
  return { intent: intentJson(tx, intent), state: 'pending' };
}

/** Errors: permission_denied without what enforcing changes need. */
export function requireEnforcer(caller: Caller): void {
  const allPermission = ['api_inventory:block', 'policy:write'];
  requirePermission({ public: false, anyPermission: [], allPermission }, caller);
}
