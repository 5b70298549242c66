/** Counts in one thread how the decisions of two rulesets compare, with some examples. */

import { shadowLimits } from '../base/limits.ts';
import { SPAN, type RequestSnapshot } from '../contract/message.ts';
import type { ShadowDelta, ShadowExample, ShadowOutcome } from '../contract/shadow.ts';
import type { TransactionRecord } from '../contract/verdict.ts';

interface Counted {
  readonly siteId: string;
  readonly runId: string;
  readonly counts: Map<ShadowOutcome, number>;
  readonly examples: ShadowExample[];
}

/** Counts of one thread, by site and run. */
export class ShadowTally {
  private counted = new Map<string, Counted>();

  /** Counts a request; `found` is null where the other ruleset did not see all of it. */
  add(
    runId: string,
    request: RequestSnapshot,
    current: TransactionRecord,
    found: TransactionRecord | null,
  ): void {
    const one = this.find(request.siteId, runId);
    const outcome = outcomeOf(current, found);
    count(one, outcome);
    if (outcome !== 'only_current' && outcome !== 'only_new') return;
    if (one.examples.length >= shadowLimits.examplesMax) return;
    one.examples.push(exampleOf(request, outcome, outcome === 'only_new' ? found! : current));
  }

  /** Counts a request that was not drawn. */
  skip(runId: string, { siteId }: RequestSnapshot): void {
    count(this.find(siteId, runId), 'not_selected');
  }

  /** What was counted since the last call; [] when there was nothing. */
  drain(): ShadowDelta[] {
    if (this.counted.size === 0) return [];
    const deltas = [...this.counted.values()];
    this.counted = new Map();
    return deltas;
  }

  private find(siteId: string, runId: string): Counted {
    const id = `${siteId} ${runId}`;
    let one = this.counted.get(id);
    if (one === undefined) {
      one = { siteId, runId, counts: new Map(), examples: [] };
      this.counted.set(id, one);
    }
    return one;
  }
}

function count({ counts }: Counted, outcome: ShadowOutcome): void {
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
}

function outcomeOf(current: TransactionRecord, found: TransactionRecord | null): ShadowOutcome {
  if (found === null || current.failure !== undefined) return 'not_compared';
  const [blocks, wouldBlock] = [isRefused(current), isRefused(found)];
  if (blocks === wouldBlock) return blocks ? 'both_blocked' : 'both_passed';
  return blocks ? 'only_current' : 'only_new';
}

/** Whether the request is refused, or would be; answers are not compared. */
function isRefused({ verdict }: TransactionRecord): boolean {
  return verdict.action !== 'pass' && verdict.phase <= 2;
}

function exampleOf(
  { requestId, head }: RequestSnapshot,
  outcome: ShadowOutcome,
  { matchedRules, verdict }: TransactionRecord,
): ShadowExample {
  const text = (from: number, to: number): string =>
    Buffer.from(head.bytes.subarray(head.spans[from], head.spans[to])).toString('latin1');
  const path = text(SPAN.secondStart, SPAN.secondEnd).split('?', 1)[0]!;
  const scored = matchedRules.filter(({ score = 0 }) => score > 0).map(({ ruleId }) => ruleId);
  const ruleIds = scored.length > 0 ? scored : [verdict.ruleId];
  return {
    outcome,
    requestId,
    method: text(SPAN.firstStart, SPAN.firstEnd).slice(0, shadowLimits.methodCharactersMax),
    path: path.slice(0, shadowLimits.pathCharactersMax),
    ruleIds: [...new Set(ruleIds)].slice(0, shadowLimits.rulesMax),
  };
}
