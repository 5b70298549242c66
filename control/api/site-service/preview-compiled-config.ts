/** SiteService/PreviewCompiledConfig. */

import { toJson, type JsonObject } from '@bufbuild/protobuf';
import {
  RuntimeSiteSchema,
  RuntimeUpstreamSchema,
  type RuntimeSite,
} from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { SiteSchema, type SiteJson, type SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { hideHeaderSecrets } from '../../domain/site/header-secrets.ts';
import { checkSite } from '../../domain/site/site.ts';
import { buildBundle } from '../../publish/build-bundle.ts';
import { toBundleUpstream } from '../../publish/publisher.ts';
import { variantId } from '../../publish/parts/policy-variant.ts';
import { policies, upstreams } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { routingOf } from './routing.ts';
import { surroundingsIn } from './surroundings.ts';

/** What the data plane would be given for a site, saved or not. */
export function previewCompiledConfig(
  parts: Uses<'store' | 'clock'>,
): Method<typeof SiteService, 'previewCompiledConfig'> {
  return (request, context) => {
    const { tenantId } = callerOf(context);
    if (request.site === undefined) throw invalidField('site', 'is required');
    const asked = toRecord<SiteJson>(SiteSchema, request.site);
    const checked = checkSite(asked, surroundingsIn(parts.store, tenantId, parts.clock.nowMs()));
    const id = checked.id ?? 'preview';
    const standard = parts.store.list(policies).find((policy) => policy.isDefault === true);
    const chosen = checked.waf?.policyId || standard?.id || '';
    const policyId = checked.waf?.enabled === true ? variantId(parts.store, chosen, id) : '';
    const routing = routingOf(parts.store, id);
    const bundle = buildBundle({
      id: 'preview',
      revision: '0',
      createdAtMs: 0,
      sites: [
        {
          site: {
            ...checked,
            id,
            name: checked.name ?? '',
            primaryHost: checked.primaryHost ?? '',
          },
          policyId,
          failOpen: false,
          routing,
        },
      ],
      policies: [],
      upstreams: parts.store.list(upstreams).map(toBundleUpstream),
      responsesJson: '',
    });
    const warnings: string[] = [];
    if (asked.status === 'RESOURCE_STATUS_DISABLED') warnings.push('a disabled site is not served');
    if ((checked.upstreams ?? []).length === 0 && (routing.routes ?? []).length === 0) {
      warnings.push('site.upstreams: a site without an origin is not served');
    }
    const compiledJson: JsonObject = {
      site: bundle.sites.map(shownSite)[0] ?? {},
      upstream: bundle.upstreams.map((pool) => toJson(RuntimeUpstreamSchema, pool))[0] ?? {},
      upstreams: bundle.upstreams.map((pool) => toJson(RuntimeUpstreamSchema, pool)),
    };
    return { compiledJson: hideHeaderSecrets(compiledJson), warnings };
  };
}

/** The site as it travels, with what travels as JSON readable. */
function shownSite(site: RuntimeSite): JsonObject {
  const { deliveryJson, ...shown } = toJson(RuntimeSiteSchema, site) as JsonObject;
  if (deliveryJson === undefined) return shown;
  return {
    ...shown,
    delivery: JSON.parse(Buffer.from(site.deliveryJson).toString()) as JsonObject,
  };
}
