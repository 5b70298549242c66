/**
 * Measures what a front thread waits for, and gives it to the controller: how late a timer is, what
 * operations wait in the pool, how much is held. Never decides.
 */

import type { Clock } from '../../base/clock.ts';
import { overloadLimits } from '../base/limits.ts';
import type { OverloadController } from './controller.ts';

/** Where the other figures come from. */
export interface PressureSources {
  /** Shortest wait in the pool since the last call, milliseconds. */
  readonly poolWaitMs: () => number;
  /** Share of the budget of held bytes in use, 0..1. */
  readonly heldShare: () => number;
}

/** A timer with its measurements; `tick` is what it calls. */
export class PressureProbe {
  private readonly clock: Clock;
  private readonly controller: OverloadController;
  private readonly sources: PressureSources;
  private readonly onChange: () => void;
  private timer: NodeJS.Timeout | null = null;
  private expectedUs = 0;
  private sampleEndUs = 0;
  /** The shortest lateness of this sample; Infinity before the first. */
  private shortestUs = Infinity;

  constructor(
    clock: Clock,
    controller: OverloadController,
    sources: PressureSources,
    onChange: () => void,
  ) {
    this.clock = clock;
    this.controller = controller;
    this.sources = sources;
    this.onChange = onChange;
    this.begin();
  }

  /** Measures from now on: what the thread did before it served is no pressure. */
  start(): void {
    if (this.timer !== null) return;
    this.begin();
    this.wait();
  }

  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  /** One measurement; a sample ends when its time is over. */
  tick(): void {
    const nowUs = this.clock.monotonicUs();
    this.shortestUs = Math.min(this.shortestUs, Math.max(0, nowUs - this.expectedUs));
    this.expectedUs = nowUs + overloadLimits.tickMs * 1000;
    if (nowUs < this.sampleEndUs) return;
    const changed = this.controller.sample({
      loopDelayMs: this.shortestUs / 1000,
      poolWaitMs: this.sources.poolWaitMs(),
      heldShare: this.sources.heldShare(),
    });
    this.shortestUs = Infinity;
    this.sampleEndUs = nowUs + overloadLimits.sampleMs * 1000;
    if (changed) this.onChange();
  }

  private begin(): void {
    const nowUs = this.clock.monotonicUs();
    this.expectedUs = nowUs + overloadLimits.tickMs * 1000;
    this.sampleEndUs = nowUs + overloadLimits.sampleMs * 1000;
    this.shortestUs = Infinity;
  }

  private wait(): void {
    this.timer = setTimeout(() => this.onTimer(), overloadLimits.tickMs).unref();
  }

  private onTimer(): void {
    this.tick();
    this.wait();
  }
}
