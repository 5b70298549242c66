/**
 * Faults in counting and reporting requests. The request has been served by then: such a
 * fault is counted and reported, and ends nothing.
 */

import { toAppError } from '../../../base/errors.ts';
import type { FactFault, FactPart } from '../../contract/fact-fault.ts';

/** Gathers faults of one thread. */
export class FactFaults {
  private readonly kept = new Map<FactPart, { count: number; message: string }>();

  /** Notes a fault; never throws. */
  note(part: FactPart, thrown: unknown): void {
    const known = this.kept.get(part);
    if (known !== undefined) known.count++;
    else this.kept.set(part, { count: 1, message: textOf(thrown) });
  }

  /** What was noted since the last call. */
  drain(): FactFault[] {
    if (this.kept.size === 0) return [];
    const found = [...this.kept].map(([part, fault]) => ({ part, ...fault }));
    this.kept.clear();
    return found;
  }
}

function textOf(thrown: unknown): string {
  try {
    return toAppError(thrown, 'facts').message;
  } catch {
    return 'unknown';
  }
}
