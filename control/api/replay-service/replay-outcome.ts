/** What two policies make of the same requests, compared and counted. Pure. */

import type { EvaluateResponse } from '../../../proto/gen/waf/runtime/v1/engine_pb.ts';
import { replayLimits } from '../../limits/replay-limits.ts';

/** What a policy makes of a request. */
export interface Verdict {
  readonly blocked: boolean;
  readonly status: number;
  readonly inboundScore: number;
  readonly ruleIds: readonly string[];
}

/** What a run has found so far. */
export class ReplayCounts {
  replayed = 0;
  newlyBlocked = 0;
  newlyPassed = 0;
  blockedBefore = 0;
  blockedAfter = 0;
  readonly #skipped = new Map<string, number>();
  readonly #rules = new Map<string, { newlyBlocked: number; newlyPassed: number }>();

  /** Notes a request that could not be tried. */
  skip(reason: string): void {
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1);
  }

  /** Notes what both made of a request; the rules that made a difference, null for none. */
  add(before: Verdict, after: Verdict): readonly string[] | null {
    this.replayed++;
    if (before.blocked) this.blockedBefore++;
    if (after.blocked) this.blockedAfter++;
    if (before.blocked === after.blocked) return null;
    const [more, less] = after.blocked ? [after, before] : [before, after];
    const kind = after.blocked ? 'newlyBlocked' : 'newlyPassed';
    this[kind]++;
    const others = new Set(less.ruleIds);
    const rules = more.ruleIds.filter((id) => !others.has(id) && !comparesScores(id));
    for (const id of rules) {
      const known = this.#rules.get(id) ?? { newlyBlocked: 0, newlyPassed: 0 };
      known[kind]++;
      this.#rules.set(id, known);
    }
    return rules;
  }

  /** The counts as the summary has them. */
  summary() {
    const { replayed, newlyBlocked, newlyPassed, blockedBefore, blockedAfter } = this;
    const rules = [...this.#rules]
      .map(([ruleId, counts]) => ({ ruleId, ...counts }))
      .sort(
        (left, right) =>
          right.newlyBlocked + right.newlyPassed - left.newlyBlocked - left.newlyPassed ||
          Number(left.ruleId) - Number(right.ruleId),
      )
      .slice(0, replayLimits.rulesNamedMax);
    return {
      ...{ replayed: BigInt(replayed), newlyBlocked: BigInt(newlyBlocked) },
      ...{ newlyPassed: BigInt(newlyPassed), blockedBefore: BigInt(blockedBefore) },
      blockedAfter: BigInt(blockedAfter),
      skipped: [...this.#skipped].map(([reason, count]) => ({ reason, count: BigInt(count) })),
      rules: rules.map((one) => ({
        ruleId: one.ruleId,
        newlyBlocked: BigInt(one.newlyBlocked),
        newlyPassed: BigInt(one.newlyPassed),
      })),
    };
  }
}

/** Rules of CRS that compare sums follow from others. */
function comparesScores(ruleId: string): boolean {
  return /^(?:949|959|980)\d{3}$/.test(ruleId);
}

/** The verdict in an engine's answer. */
export function verdictOf(answer: EvaluateResponse): Verdict {
  const blocked = answer.blocked || answer.refusal !== '';
  return {
    blocked,
    status: blocked ? answer.status : 0,
    inboundScore: answer.inboundScore,
    ruleIds: [...new Set(answer.matches.map(({ ruleId }) => String(ruleId)))],
  };
}
