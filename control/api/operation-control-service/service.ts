/** OperationControlService: approved changes of a site's controls, and what nodes serve of them. */

import type { OperationControlService } from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { applyBodyControl } from './apply-body-control.ts';
import { previewBodyChange } from './body-change-preview.ts';
import { previewBodyControl } from './body-preview.ts';
import { changeBodyControl } from './change-body-control.ts';
import { getRequestInspection } from './get-request-inspection.ts';
import { getOperationControlState } from './get-state.ts';
import { listOperationControlHistory } from './list-history.ts';
import { replaceOperationControls, rollbackOperationControls } from './replace-controls.ts';

/** OperationControlService. */
export function operationControlService(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Built<typeof OperationControlService> {
  return {
    getRequestInspection: getRequestInspection(parts),
    previewBodyControl: previewBodyControl(parts),
    applyBodyControl: applyBodyControl(parts),
    previewBodyChange: previewBodyChange(parts),
    changeBodyControl: changeBodyControl(parts),
    getOperationControlState: getOperationControlState(parts),
    listOperationControlHistory: listOperationControlHistory(parts),
    replaceOperationControls: replaceOperationControls(parts),
    rollbackOperationControls: rollbackOperationControls(parts),
  };
}
