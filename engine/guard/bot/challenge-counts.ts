/**
 * What is counted of challenges for one site, in the table that all threads share: which were used,
 * what verifiers gave, wrong answers and waits by the client's network. With `dry` nothing is
 * counted: the answer is what counting would say.
 */

import { encodeUtf8 } from '../../../base/byte-string.ts';
import { botLimits } from '../../../base/guard-limits.ts';
import { clientNetwork } from '../../../base/ip-address.ts';
import { HalfSipHash } from '../../base/half-sip-hash.ts';
import type { RateTable } from '../rate-table.ts';
import type { RequestView } from '../request-view.ts';

/** The counts of one site; see the header. */
export class ChallengeCounts {
  private readonly table: RateTable;
  private readonly hash: HalfSipHash;

  constructor(table: RateTable, siteId: string) {
    this.table = table;
    const { low, high } = new HalfSipHash(table.seed).hash(`challenge\n${encodeUtf8(siteId)}`);
    this.hash = new HalfSipHash([low, high]);
  }

  /** A name that nodes with the same seed have in common. */
  name(of: string): string {
    const { low, high } = this.hash.hash(of);
    return `${low >>> 0}.${high >>> 0}`;
  }

  /** Uses a challenge up; false when it was used within `seconds` before. */
  use(id: string, seconds: number, { nowMs, trial }: RequestView): boolean {
    return this.ask(`used ${id}`, 1, seconds, nowMs, trial);
  }

  /** Takes what a verifier gave; false when it was handed in within `seconds` before. */
  takeResponse(response: string, seconds: number, nowMs: number): boolean {
    return this.ask(`response ${response}`, 1, seconds, nowMs, false);
  }

  /** Whether an answer is one of those that are right, and neither it nor its network is spoilt. */
  isAnswer(id: string, right: readonly string[], answer: string, view: RequestView): boolean {
    // A question that was answered wrongly is not asked again: a number is soon guessed.
    const wrong = (dry: boolean): boolean => {
      return this.ask(`wrong ${id}`, 1, botLimits.wrongAnswersWindowSeconds, view.nowMs, dry);
    };
    const guess = this.guessesOf(view);
    if (!wrong(true) || !guess(true)) return false;
    if (right.includes(answer)) return true;
    wrong(view.trial);
    guess(view.trial);
    return false;
  }

  /** Whether the client's network may answer wrongly once more; the view is not kept. */
  guessesOf({ facts, nowMs }: RequestView): (dry: boolean) => boolean {
    const { wrongAnswersPerNetwork, wrongAnswersWindowSeconds } = botLimits;
    const name = `wrong ${clientNetwork(facts.clientIp)}`;
    return (dry) => {
      return this.ask(name, wrongAnswersPerNetwork, wrongAnswersWindowSeconds, nowMs, dry);
    };
  }

  /** Whether the client's network may pass by waiting. */
  mayWait({ facts, nowMs }: RequestView, dry: boolean): boolean {
    const { waitsPerNetwork, waitsWindowSeconds } = botLimits;
    const name = `wait ${clientNetwork(facts.clientIp)}`;
    return this.ask(name, waitsPerNetwork, waitsWindowSeconds, nowMs, dry);
  }

  /** The hash holds its last result only, so that each question makes its own. */
  private ask(
    name: string,
    requests: number,
    windowSeconds: number,
    nowMs: number,
    dry: boolean,
  ): boolean {
    const key = this.hash.hash(name);
    return this.table.ask(key, { requests, windowSeconds }, 0, nowMs, dry) === 'pass';
  }
}
