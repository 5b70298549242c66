/**
 * The detectors of the score as rules that people exclude, and what an event says of a score: which
 * detectors and rules it is made of. Pure.
 */

import { detectorFile, detectorRules } from '../../../engine/detect/detector-rules.ts';
import type { SecurityMessageJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import { describeRules, type DescribedRule } from './crs-rules.ts';

/** Under this number events tell of a score. */
export const scoreRuleId = '198000';

let described: ReadonlyMap<number, DescribedRule> | undefined;

/** A detector by its number. Cost: reads their rules the first time. */
export function describedDetector(id: number): DescribedRule | undefined {
  described ??= new Map(
    describeRules([{ path: detectorFile, text: detectorRules }], '').map((rule) => [
      rule.ruleId,
      rule,
    ]),
  );
  return described.get(id);
}

/** True for the numbers that detectors have. */
export function isDetector(id: number): boolean {
  return id >= 198_100 && id <= 198_999;
}

/** What made a score. */
export interface ToldScore {
  /** `score`, `both` or `scoreConfirms`. */
  readonly decision: string;
  /** It reached the threshold of refusal. */
  readonly reached: boolean;
  /** Numbers of the detectors and rules that brought points. */
  readonly ruleIds: ReadonlySet<string>;
}

/** The score that an event names; null for none. */
export function toldScore(messages: readonly SecurityMessageJson[]): ToldScore | null {
  const told = messages.find(({ ruleId }) => ruleId === scoreRuleId);
  if (told === undefined) return null;
  const { tags = [], severity } = told;
  const ruleIds = tags.flatMap((tag) => /^points\/(\d+)(?:\+rule)?=/.exec(tag)?.[1] ?? []);
  const decision = tags.find((tag) => tag.startsWith('decision/'))?.slice('decision/'.length);
  return {
    decision: decision ?? '',
    reached: severity === 'critical',
    ruleIds: new Set(ruleIds),
  };
}
