/** Makes what engines get of a site's endpoints that learn. Pure. */

import {
  apiLearningFormat,
  type ApiLearning,
  type EndpointPlace,
  type LearningEndpoint,
} from '../../engine/contract/api-learning.ts';
import type { ApiLearningRecord } from '../domain/documents/api-learning.ts';
import type { ApiAssetRecord } from '../domain/documents/api-records.ts';
import { parsePath, pathsOverlap } from './path-template.ts';

/**
 * The endpoints of one site that learn, and those of its catalog that their templates take, too.
 * Endpoints whose path cannot be matched are left out.
 */
export function learningJson(
  siteId: string,
  learning: readonly ApiLearningRecord[],
  assets: readonly ApiAssetRecord[],
): string {
  const declared = new Set(assets.filter(({ cataloged }) => cataloged).map(({ id }) => id));
  const endpoints = learning.flatMap((one): LearningEndpoint[] => {
    const place = placeOf(one);
    if (place === null) return [];
    const observed = !declared.has(one.id);
    return [{ ...place, assetId: one.id, generation: one.generation, observed }];
  });
  const learns = new Set(endpoints.map(({ assetId }) => assetId));
  const others = assets.flatMap((asset): EndpointPlace[] => {
    if (!asset.cataloged || learns.has(asset.id)) return [];
    const place = placeOf(asset);
    return place !== null && endpoints.some((one) => meets(one, place)) ? [place] : [];
  });
  const made: ApiLearning = { format: apiLearningFormat, siteId, endpoints, others };
  return JSON.stringify(made);
}

function placeOf({
  method,
  host,
  path,
}: Pick<ApiAssetRecord, 'method' | 'host' | 'path'>): EndpointPlace | null {
  const parsed = parsePath(path);
  return 'problem' in parsed ? null : { method, host, path: parsed.segments };
}

function meets(one: EndpointPlace, other: EndpointPlace): boolean {
  if (one.method !== other.method || one.host !== other.host) return false;
  return pathsOverlap(one.path, other.path);
}
