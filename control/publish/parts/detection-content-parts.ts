/** The pieces of a bundle that say which signs are content of a site: one for each that learned. */

import { inForce } from '../../domain/policy/detection-learning.ts';
import { detectionLearning, sites } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { PartKind, PartPlan } from './part-kind.ts';

/** What engines call the form of these objects. */
const format = 1;

/** Contents that are in force. */
export const detectionContentKind: PartKind = {
  name: 'detection-content',
  collections: ['detection-learning', 'sites'],
  plan: (store) => [...planContent(store)],
};

function* planContent(store: ReadStore): Generator<PartPlan> {
  for (const record of store.list(detectionLearning)) {
    if (store.get(sites, record.id) === undefined) continue;
    const { id: siteId, generation, decisions } = record;
    // Engines look at the end themselves: here the past is left out only to be short.
    const rules = decisions
      .filter((one) => inForce(one, one.atMs))
      .map(({ method, path, name, family, endsAtMs }) => ({
        ...{ method, path, name, family, endsAtMs },
      }));
    const text = JSON.stringify({ format, siteId, generation, rules });
    const build = () => ({
      detectionContent: [{ siteId, contentJson: Buffer.from(text, 'utf8') }],
    });
    yield { id: siteId, inputs: [text], build };
  }
}
