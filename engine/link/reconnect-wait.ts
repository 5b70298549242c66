/** How long a link waits before it connects again. */

import { linkLimits } from '../base/observation-limits.ts';

/** The waits of one link, one after the other. */
export class ReconnectWait {
  private readonly spreadMs: number;
  private readonly random: () => number;
  private waitMs: number = linkLimits.reconnectMinMs;

  /** `spreadMs`: within which nodes come back whose controller ended; 0 for a node of its own. */
  constructor(spreadMs: number, random: () => number = Math.random) {
    this.spreadMs = spreadMs;
    this.random = random;
  }

  /** The wait in milliseconds after a stream that lasted `livedMs`. */
  next(livedMs: number): number {
    const { reconnectMinMs, reconnectMaxMs } = linkLimits;
    const lived = livedMs > reconnectMaxMs;
    this.waitMs = lived ? reconnectMinMs : Math.min(this.waitMs * 2, reconnectMaxMs);
    // Nodes that lost their controller together must not come back together.
    const spreadMs = lived ? this.spreadMs * this.random() : 0;
    return spreadMs + this.waitMs * (0.5 + this.random() / 2);
  }
}
