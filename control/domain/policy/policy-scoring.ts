/**
 * The SecLang text of what a policy says about the score of detection: the decision, its thresholds
 * and the detectors, which are rules like others. Pure.
 */

import { detectorFile } from '../../../engine/detect/detector-rules.ts';
import type { CrsCoreSettingsJson, PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { crsMajor } from './crs-setup.ts';

const decisions: Readonly<Record<string, string>> = {
  DECISION_SCORE: 'score',
  DECISION_BOTH: 'both',
  DECISION_SCORE_CONFIRMS: 'scoreConfirms',
};

/** Nothing where the anomaly score decides alone. `version`: of the ruleset, '' for none. */
export function renderScoring(policy: PolicyJson, version: string): string {
  const { crsCore = {} } = policy;
  const decision = decisions[crsCore.decision ?? ''];
  if (decision === undefined || isSelfContained(policy)) return '';
  const weights = version === '' ? 'none' : crsMajor(version) < 4 ? 'crs3' : 'crs4';
  return [
    `SecDecision ${decision}`,
    `SecScoreWeights ${weights}`,
    ...thresholds(crsCore).map(([, name, score]) => `Sec${name}Score ${score}`),
    `Include ${detectorFile}`,
    '',
  ].join('\n');
}

/** Settings for a score that nothing asks for, and those that have no effect beside a score. */
export function inertScoring(policy: PolicyJson): string[] {
  const { crsCore = {} } = policy;
  const scored = decisions[crsCore.decision ?? ''] !== undefined;
  if (scored && isSelfContained(policy)) {
    return ['crsCore.decision has no effect: blockingMode has each rule refuse by itself'];
  }
  if (scored) return besideScore(crsCore);
  const why = 'crsCore.decision leaves the anomaly score alone to decide';
  return thresholds(crsCore).map(([field]) => `crsCore.${field} has no effect: ${why}`);
}

function besideScore({
  earlyBlocking,
  crsXmlAttributeInspection: xml,
}: CrsCoreSettingsJson): string[] {
  const score = 'crsCore.decision has the score decide';
  const early = `crsCore.earlyBlocking has no effect: ${score}, after the body`;
  const attributes = `crsCore.crsXmlAttributeInspection has no effect: ${score}, of XML as a whole`;
  return [...(earlyBlocking === true ? [early] : []), ...(xml === false ? [attributes] : [])];
}

function isSelfContained({ blockingMode }: PolicyJson): boolean {
  return blockingMode === 'BLOCKING_MODE_SELF_CONTAINED';
}

function thresholds(crsCore: CrsCoreSettingsJson): (readonly [string, string, number])[] {
  const { watchScore, challengeScore, blockScore } = crsCore;
  const rows: readonly (readonly [string, string, number | undefined])[] = [
    ['watchScore', 'Watch', watchScore],
    ['challengeScore', 'Challenge', challengeScore],
    ['blockScore', 'Block', blockScore],
  ];
  return rows.flatMap(([field, name, score]) => {
    return score === undefined ? [] : [[field, name, score] as const];
  });
}
