/** The pieces of a bundle that say which endpoints learn: one for each site that has some. */

import { learningJson } from '../../documents/assemble-learning.ts';
import type { ApiLearningRecord } from '../../domain/documents/api-learning.ts';
import { apiAssets, apiLearning, sites } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { PartKind, PartPlan } from './part-kind.ts';

/** Endpoints that learn. */
export const apiLearningKind: PartKind = {
  name: 'api-learning',
  collections: ['api-learning', 'api-assets', 'sites'],
  plan: (store) => [...planLearning(store)],
};

function* planLearning(store: ReadStore): Generator<PartPlan> {
  const bySite = new Map<string, ApiLearningRecord[]>();
  for (const one of store.list(apiLearning)) {
    if (one.enabled) bySite.set(one.siteId, [...(bySite.get(one.siteId) ?? []), one]);
  }
  for (const [siteId, learning] of bySite) {
    if (store.get(sites, siteId) === undefined) continue;
    const assets = store.find(apiAssets, 'site', siteId);
    const json = (): Uint8Array => Buffer.from(learningJson(siteId, learning, assets), 'utf8');
    const build = () => ({ apiLearning: [{ siteId, learningJson: json() }] });
    yield { id: siteId, inputs: [...learning, ...assets], build };
  }
}
