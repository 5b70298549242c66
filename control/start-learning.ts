/** The clock of sites that act on what they learned by themselves (`detection.learning`). */

import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { learnedByItself, withDecisions } from './domain/policy/detection-learning.ts';
import { chosenFor, detectionLearning as option } from './domain/site/site-choices.ts';
import { detectionLearningLimits } from './limits/detection-learning-limits.ts';
import type { CounterStore } from './observe/counter-store.ts';
import { detectionLearning, settingsId, sites, systemSettings } from './store/collections.ts';
import type { Store } from './store/store.ts';

/** What it works with. */
export interface LearningParts {
  readonly store: Store;
  readonly counters: Pick<CounterStore, 'clients'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
}

/** Looks every minute until it is closed. */
export function startLearning(
  parts: LearningParts,
  tickMs: number = detectionLearningLimits.tickMs,
): { close(): void } {
  const look = (): void => {
    learnOnce(parts).catch((thrown: unknown) => {
      parts.logger.error('sites could not learn which signs are content', {
        reason: thrown instanceof Error ? thrown.message : String(thrown),
      });
    });
  };
  const timer = setInterval(look, tickMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

/** One look at all sites with `auto`; the number of contents that came into force. */
export async function learnOnce({ store, counters, clock }: LearningParts): Promise<number> {
  const values = store.get(systemSettings, settingsId)?.values ?? {};
  const learning = store.list(sites).filter(({ id }) => chosenFor(values, option, id) === 'auto');
  let learned = 0;
  for (const { id, tenantId, name } of learning) {
    const nowMs = clock.nowMs();
    const present = store.get(detectionLearning, id);
    const rows = counters.clients(id, present?.generation ?? 0);
    const record = present ?? { id, tenantId, generation: 0, decisions: [] };
    if (learnedByItself(rows, record, nowMs).length === 0) continue;
    learned += await store.write((tx) => {
      const before = tx.get(detectionLearning, id) ?? record;
      if (before.generation !== record.generation) return 0;
      const made = learnedByItself(rows, before, nowMs);
      tx.put(detectionLearning, withDecisions(before, made, nowMs));
      for (const one of made) {
        tx.audit({
          ...{ actorId: 'system', actorName: 'system', tenantId, action: 'learn' },
          ...{ resourceType: 'detection_learning', resourceId: id, resourceName: name },
          after: one,
        });
      }
      return made.length;
    });
  }
  return learned;
}
