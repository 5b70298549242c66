/** What previews of body controls read: the endpoint, its slots, and what the policy adds. */

import type { ApiAssetRecord } from '../../domain/documents/api-records.ts';
import { reservationOf, type InheritedBody } from '../../domain/documents/body-inheritance.ts';
import { refusal } from '../../domain/errors.ts';
import {
  jsonSha256,
  withBody,
  type BodyControl,
  type SiteControls,
} from '../../domain/documents/operation-control.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { compileBodyRule } from '../../documents/compile-body-controls.ts';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import { inheritedOfSite } from '../../publish/parts/site-body.ts';
import { apiAssets } from '../../store/api-collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { objectOfSite } from '../api-schema-service/objects.ts';
import { wantedControls, type WantedControls } from './intents.ts';

/** The state of one operation. */
export interface BodyState {
  readonly asset: ApiAssetRecord;
  readonly wanted: WantedControls;
  /** Null where the operation has no body control. */
  readonly body: BodyControl | null;
  readonly inherited: InheritedBody;
}

/** Reads the state of one operation. Errors: invalid_argument, not_found. */
export function readBodyState(
  store: ReadStore,
  site: SiteRecord,
  apiAssetId: string,
  field: string,
): BodyState {
  const asset = objectOfSite(store, apiAssets, 'API endpoint', site.id, apiAssetId, field);
  const wanted = wantedControls(store, site.id);
  const body = wanted.controls.bodies.find((one) => one.apiAssetId === asset.id) ?? null;
  return { asset, wanted, body, inherited: inheritedOfSite(store, site) };
}

/** The controls with other slots of the operation. Errors: failed_precondition for too many. */
export function controlsAfter(
  { asset, wanted }: BodyState,
  body: BodyControl | null,
): SiteControls {
  const after = withBody(wanted.controls, asset.id, body);
  const max = apiDocumentLimits.bodyControlsPerSiteMax;
  if (after.bodies.length <= max) return after;
  throw refusal('failed_precondition', `apiAssetId: a site has body controls for ${max} endpoints`);
}

/** SHA-256 of what nodes would carry out for the operation. */
export function runtimeSha256({ inherited }: BodyState, body: BodyControl | null): string {
  const slots = [body?.effective, body?.candidate].map((slot) =>
    slot === undefined ? null : compileBodyRule(slot, inherited),
  );
  return jsonSha256(['waf.api_body', slots, inherited.readings]);
}

/** What a change costs nodes, and why they cannot carry it out; '' where they can. */
export function resourcesOf(
  { body: before, inherited }: BodyState,
  after: BodyControl | null,
  unsupported: string,
) {
  const { fileBytes, totalFileBytes, bodyBytes } = inherited;
  return {
    format: 'waf.body_resources.v1',
    beforeRawReservationBytes: String(reservationOf(before, inherited)),
    rawReservationBytes: String(reservationOf(after, inherited)),
    capacity: { fileBytes, totalFileBytes, bodyBytes },
    unsupported,
  };
}
