/** Notices that a stream is dead though nothing ended it: no message for too long. */

import { linkLimits } from '../base/observation-limits.ts';

/** Calls back once when nothing was heard for `linkLimits.silenceMs`. */
export class Silence {
  readonly #timer: NodeJS.Timeout;

  constructor(onSilent: () => void, silenceMs: number = linkLimits.silenceMs) {
    this.#timer = setTimeout(onSilent, silenceMs).unref();
  }

  /** Something came. */
  heard(): void {
    this.#timer.refresh();
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
