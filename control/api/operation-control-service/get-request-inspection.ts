/** OperationControlService/GetRequestInspection: what is saved of how an operation is inspected. */

import {
  GetRequestInspectionResponseSchema,
  type OperationControlService,
} from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import { schemaLimits } from '../../../base/schema-limits.ts';
import type { InheritedBody } from '../../domain/documents/body-inheritance.ts';
import type { BodySpec } from '../../domain/documents/body-spec.ts';
import { policyOfSite } from '../../publish/parts/site-body.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { base64Json } from './body-preview.ts';
import { readBodyState } from './body-state.ts';

/** Reads the policy of the site and the body control of one operation; no node is asked. */
export function getRequestInspection(
  parts: Uses<'store'>,
): Method<typeof OperationControlService, 'getRequestInspection'> {
  return ({ siteId, apiAssetId }, context) => {
    const { store } = parts;
    const site = storedSite(store, callerOf(context), siteId, 'siteId');
    const { asset, wanted, body, inherited } = readBodyState(store, site, apiAssetId, 'apiAssetId');
    const policy = policyOfSite(store, site);
    const [effective, candidate] = [body?.effective?.spec, body?.candidate?.spec];
    return toMessage(GetRequestInspectionResponseSchema, {
      ...(policy === null
        ? {}
        : {
            policyId: policy.id,
            policyName: policy.name,
            policyRevision: policy.revision,
            crsCore: policy.crsCore ?? {},
            engineState: policy.engineState ?? 'ENGINE_STATE_ON',
            argLimits: policy.argLimits ?? {},
          }),
      wafEnabled: inherited.wafEnabled,
      allowedFamilies: [...(effective?.allowedFamilies ?? [])],
      mismatchAction: effective?.mismatchAction ?? '',
      // A body that does not match and still passes is inspected by the rules up to this size.
      mismatchBodyLimit: String(inherited.wafEnabled ? inherited.requestBodyLimit : 0),
      operationPath: asset.path,
      candidatePresent: candidate !== undefined,
      controlSnapshotSha256: wanted.snapshotSha256,
      schemaBodyLimit: String(schemaLimits.bodyBytesMax),
      schemaParameterLimit: String(schemaLimits.pairsMax),
      defaultUploadJson: base64Json(capacityOf(inherited)),
      ...(effective === undefined
        ? {}
        : {
            effectiveSpecJson: base64Json(effective),
            effectiveScopeJson: base64Json(effective.scope),
            effectiveUploadJson: base64Json(uploadOf(effective, inherited)),
          }),
      ...(candidate === undefined
        ? {}
        : {
            candidateSpecJson: base64Json(candidate),
            candidateScopeJson: base64Json(candidate.scope),
          }),
    });
  };
}

function capacityOf({ fileBytes, totalFileBytes, bodyBytes }: InheritedBody) {
  return { format: 'waf.upload_capacity.v1', fileBytes, totalFileBytes, bodyBytes };
}

/** Requirements with the capacities that they inherit. */
function uploadOf({ upload }: BodySpec, inherited: InheritedBody) {
  return { ...capacityOf(inherited), requirements: upload };
}
