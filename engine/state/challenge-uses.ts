/**
 * Records in Redis which challenges were used, so that a solution counts once among all nodes. What
 * was used while Redis was away is sent to it afterwards, bounded.
 */

import { rateExchangeLimits } from '../../base/guard-limits.ts';
import type { UseAnswer } from '../contract/bot.ts';
import type { RedisConnection } from './redis-connection.ts';

const { usesKept, useExtraSeconds } = rateExchangeLimits;

/** See the header. */
export class ChallengeUses {
  /** Challenges that were used without Redis being asked. */
  alone = 0;
  /** Those that Redis does not know of yet, with when they end. */
  private readonly untold = new Map<string, number>();

  /**
   * Uses a challenge up; `alone` where Redis cannot be asked, `connection` null included. Never
   * rejects. Cost: one command.
   */
  async use(
    connection: RedisConnection | null,
    id: string,
    seconds: number,
    nowMs: number,
  ): Promise<UseAnswer> {
    const keptS = seconds + useExtraSeconds;
    try {
      if (connection?.alive === true) {
        const [reply] = await connection.send([commandOf(id, keptS)]);
        return reply === 'OK' ? 'first' : 'again';
      }
    } catch {
      // The next exchange reports it.
    }
    this.alone++;
    if (this.untold.size < usesKept) this.untold.set(id, nowMs + keptS * 1000);
    return 'alone';
  }

  /** Tells Redis what it missed. Errors: `redis_unavailable`, `redis_refused`. */
  async tell(connection: RedisConnection, nowMs: number): Promise<void> {
    if (this.untold.size === 0) return;
    const told = [...this.untold];
    const left = told.filter(([, endsMs]) => endsMs > nowMs);
    await connection.send(
      left.map(([id, endsMs]) => commandOf(id, Math.ceil((endsMs - nowMs) / 1000))),
    );
    for (const [id] of told) this.untold.delete(id);
  }
}

function commandOf(id: string, seconds: number): string[] {
  return ['SET', `waf:challenge:${id}`, '1', 'NX', 'EX', String(seconds)];
}
