/** Holds decoded steps of counts for windows that are looked at again and again. */

import type { CountStep } from '../domain/alert/alert-facts.ts';
import { alertLimits } from '../limits/alert-limits.ts';
import type { KvReader } from '../store/kv.ts';
import { walkAlertCounts } from './alert-series.ts';

/** Steps of all tenants, as far as they are held. */
export class HeldCounts {
  readonly #reader: KvReader;
  readonly #tenants = new Map<string, { fromMs: number; steps: CountStep[] }>();

  constructor(reader: KvReader) {
    this.#reader = reader;
  }

  /** Counts of a tenant changed from a step on. */
  changed(fromMs: number): void {
    for (const held of this.#tenants.values()) {
      const first = held.steps.findIndex(({ atMs }) => atMs >= fromMs);
      if (first >= 0) held.steps.length = first;
    }
  }

  /** Steps of a tenant that begin in a half-open span, oldest first. */
  read(tenantId: string, startMs: number, endMs: number): readonly CountStep[] {
    const held = this.#tenants.get(tenantId);
    const usable = held !== undefined && held.fromMs <= startMs ? held.steps : [];
    const kept = usable.filter(({ atMs }) => atMs >= startMs && atMs < endMs);
    const after = kept.at(-1)?.atMs;
    const fromMs = after === undefined ? startMs : after + alertLimits.countStepMs;
    const steps = [...kept, ...walkAlertCounts(this.#reader, tenantId, fromMs, endMs)];
    if (steps.length <= alertLimits.countStepsHeldMax) {
      this.#tenants.set(tenantId, { fromMs: startMs, steps: [...steps] });
    }
    return steps;
  }
}
