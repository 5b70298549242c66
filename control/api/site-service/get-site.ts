/** SiteService/GetSite. */

import { BodyInspectionSchema } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { SiteSchema, type SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { bodyInspectionOf } from '../../domain/policy/body-inspection.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { policyOfSite } from '../log-service/explain-event.ts';
import { storedSite } from './stored-site.ts';

/** One site. */
export function getSite(parts: Uses<'store'>): Method<typeof SiteService, 'getSite'> {
  return (request, context) => {
    const caller = callerOf(context);
    const site = storedSite(parts.store, caller, request.id, 'id');
    const inspection = bodyInspectionOf(policyOfSite(parts.store, caller.tenantId, site.id));
    return {
      site: toMessage(SiteSchema, site),
      ...(inspection && { bodyInspection: toMessage(BodyInspectionSchema, inspection) }),
    };
  };
}
