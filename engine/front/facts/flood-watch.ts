/**
 * Which clients had an HTTP/2 connection ended for what they did on it, and how often they may
 * connect meanwhile: else a flood continues on new connections, at the price of a handshake each.
 */

import { floodLimits } from '../../../base/delivery-limits.ts';
import type { Deadlines } from '../../base/deadlines.ts';
import { clientNetwork } from '../../../base/ip-address.ts';

interface Offender {
  untilMs: number;
  /** Connections that it may open now, and when that was reckoned. */
  room: number;
  atMs: number;
}

/** The offenders of one thread; see the header. Cost while there are none: one comparison. */
export class FloodWatch {
  private readonly deadlines: Pick<Deadlines, 'nowMs'>;
  /** By client, the one that offended first in front. */
  private readonly offenders = new Map<string, Offender>();

  constructor(deadlines: Pick<Deadlines, 'nowMs'>) {
    this.deadlines = deadlines;
  }

  /** A connection of this client was ended for what it did. */
  note(clientIp: string): void {
    const { nowMs } = this.deadlines;
    const key = clientNetwork(clientIp);
    const untilMs = nowMs + floodLimits.rememberedMs;
    const known = this.offenders.get(key);
    this.offenders.delete(key);
    const { room, atMs } = known ?? { room: floodLimits.connectionsMax, atMs: nowMs };
    this.offenders.set(key, { untilMs, room, atMs });
    if (this.offenders.size <= floodLimits.clientsMax) return;
    this.offenders.delete(this.offenders.keys().next().value!);
  }

  /** True for a client that offended a short while ago. */
  remembers(clientIp: string): boolean {
    return this.find(clientIp) !== null;
  }

  /** Whether a client may open one more connection; counts it. */
  admits(clientIp: string): boolean {
    const offender = this.find(clientIp);
    if (offender === null) return true;
    const { nowMs } = this.deadlines;
    const more = ((nowMs - offender.atMs) * floodLimits.connectionsPerSecond) / 1000;
    offender.room = Math.min(offender.room + more, floodLimits.connectionsMax);
    offender.atMs = nowMs;
    if (offender.room < 1) return false;
    offender.room--;
    return true;
  }

  private find(clientIp: string): Offender | null {
    if (this.offenders.size === 0) return null;
    const key = clientNetwork(clientIp);
    const offender = this.offenders.get(key);
    if (offender === undefined) return null;
    if (offender.untilMs > this.deadlines.nowMs) return offender;
    this.offenders.delete(key);
    return null;
  }
}
