/** Starts what evaluates rules of alerts and what sends their messages. */

import { startDeliveries, type Deliveries, type DeliveryParts } from './alert/deliver.ts';
import { startEvaluator } from './alert/evaluator.ts';
import { alertFactsReader } from './api/alert-facts.ts';
import type { ApiParts } from './api/context.ts';
import type { Duties } from './store/duties.ts';
import type { Controllers } from './store/shared/write-log.ts';

/** How alerts are evaluated and sent where it differs; tests set it. */
export interface AlertingOptions extends Pick<DeliveryParts, 'pagerDutyUrl' | 'sendTimeoutMs'> {
  /** Time between rounds. */
  readonly everyMs?: number;
}

/** What alerting works with. */
export type AlertingParts = Pick<
  ApiParts,
  'store' | 'clock' | 'logger' | 'nodes' | 'publisher' | 'storage' | 'counters'
> & {
  readonly duties?: Duties;
  /** Those that share the store; null for one that is alone. */
  readonly controllers: Controllers | null;
};

/** Alerting while it runs. */
export interface Alerting {
  readonly deliveries: Deliveries;
  close(): Promise<void>;
}

/** Starts both. */
export function startAlerting(parts: AlertingParts, options: AlertingOptions = {}): Alerting {
  const { everyMs } = options;
  const deliveries = startDeliveries({ ...parts, ...options }, everyMs);
  const sharesStore = parts.controllers !== null;
  const facts = alertFactsReader({ ...parts, sharesStore }, parts.clock.nowMs());
  const evaluator = startEvaluator({ ...parts, facts }, everyMs);
  const close = async (): Promise<void> => {
    await evaluator.close();
    await deliveries.close();
  };
  return { deliveries, close };
}
