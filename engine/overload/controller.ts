/**
 * Whether a front thread is overloaded, and which requests it inspects meanwhile. It says only that
 * a request is not inspected; what follows is the site's fail policy. Never measures: samples come
 * from outside. A wait is the shortest of a sample, so that one slow request, or a burst that
 * drains, is no overload. Source: RFC 8289 (CoDel) section 3.2.
 */

import { overloadLimits } from '../base/limits.ts';
import { notOverloaded, type OverloadCause, type OverloadStatus } from '../contract/overload.ts';
import { nextOverloadState, type OverloadEvent } from './states.ts';

/** What was measured since the sample before. */
export interface PressureSample {
  /** Shortest lateness of the event loop, milliseconds. */
  readonly loopDelayMs: number;
  /** Shortest wait in the pool's queues, milliseconds; 0 where nothing waited. */
  readonly poolWaitMs: number;
  /** Share of the budget of held bytes in use, 0..1. */
  readonly heldShare: number;
}

/** What is above its bound; '' for nothing. */
export function causeOf({ loopDelayMs, poolWaitMs, heldShare }: PressureSample): OverloadCause {
  if (loopDelayMs >= overloadLimits.loopDelayMs) return 'event_loop';
  if (poolWaitMs >= overloadLimits.poolWaitMs) return 'pool_queue';
  return heldShare >= overloadLimits.heldShare ? 'held_bytes' : '';
}

/** The controller of one front thread; see the header. */
export class OverloadController {
  status: OverloadStatus = notOverloaded;
  /** Requests that were not inspected. */
  shed = 0;
  /** Samples of the same kind in a row, and their kind. */
  private run = 0;
  private wasHot = false;
  /** Hundredths of a request that may be inspected. */
  private credit = 0;

  /** True when the next request is inspected. Cost: a comparison while nothing is shed. */
  admits(): boolean {
    const { probePercent } = this.status;
    if (probePercent === 100) return true;
    this.credit += probePercent;
    if (this.credit >= 100) {
      this.credit -= 100;
      return true;
    }
    this.shed++;
    return false;
  }

  /** Takes a sample; true when the status changed. */
  sample(sample: PressureSample): boolean {
    const cause = causeOf(sample);
    const hot = cause !== '';
    this.run = hot === this.wasHot ? this.run + 1 : 1;
    this.wasHot = hot;
    const before = this.status;
    const event = this.eventOf(hot);
    const state = nextOverloadState(before.state, event);
    const probePercent = percentOf(before, state, event);
    this.status = {
      state,
      action: probePercent === 100 ? 'none' : 'fail_policy',
      probePercent,
      cause: state === 'normal' ? '' : cause === '' ? before.cause : cause,
    };
    // A state that is kept for long enough has its say, and counts anew.
    if (event === 'hot_long' || event === 'calm_long') this.run = 0;
    if (probePercent === 100) this.credit = 0;
    return before.state !== state || before.probePercent !== probePercent;
  }

  private eventOf(hot: boolean): OverloadEvent {
    if (hot) return this.run >= overloadLimits.hotSamples ? 'hot_long' : 'hot';
    const { state, probePercent } = this.status;
    if (state === 'probing' && probePercent === 100) return 'whole';
    return this.run >= overloadLimits.calmSamples ? 'calm_long' : 'calm';
  }
}

/** The share halves while the waits stay long, and grows while they stay short. */
function percentOf(
  { state: from, probePercent }: OverloadStatus,
  to: OverloadStatus['state'],
  event: OverloadEvent,
): number {
  const { firstPercent, growth, leastPercent } = overloadLimits;
  if (to === 'normal' || to === 'pressed') return 100;
  if (to === 'probing') {
    return from === 'shedding' ? probePercent : Math.min(100, probePercent * growth);
  }
  if (from === 'shedding' && event !== 'hot_long') return probePercent;
  if (from === 'normal' || from === 'pressed') return firstPercent;
  return Math.max(leastPercent, Math.floor(Math.min(probePercent, firstPercent * 2) / 2));
}
