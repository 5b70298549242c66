/** Tests the text that a policy's decision becomes, and what is said where it has no effect. */

import { expect, test } from 'vitest';
import type { CrsCoreSettingsJson, PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { inertScoring, renderScoring } from './policy-scoring.ts';
import { builtInTemplates } from './policy-templates.ts';

const policy = (crsCore: CrsCoreSettingsJson, more: PolicyJson = {}): PolicyJson => {
  return { ...more, crsCore };
};

test.each([
  ['nothing', policy({}), '4.28.0', ''],
  ['CRS', policy({ decision: 'DECISION_CRS' }), '4.28.0', ''],
  ['thresholds without a score', policy({ blockScore: 60 }), '4.28.0', ''],
  [
    'a score',
    policy({ decision: 'DECISION_SCORE' }),
    '4.28.0',
    'SecDecision score\nSecScoreWeights crs4\nInclude waf/detectors.conf\n',
  ],
  [
    'both, with thresholds, under CRS 3',
    policy({ decision: 'DECISION_BOTH', watchScore: 20, challengeScore: 30, blockScore: 60 }),
    '3.3.4',
    'SecDecision both\nSecScoreWeights crs3\nSecWatchScore 20\nSecChallengeScore 30\n' +
      'SecBlockScore 60\nInclude waf/detectors.conf\n',
  ],
  [
    'confirmation, without a ruleset',
    policy({ decision: 'DECISION_SCORE_CONFIRMS' }),
    '',
    'SecDecision scoreConfirms\nSecScoreWeights none\nInclude waf/detectors.conf\n',
  ],
  [
    'a score where each rule refuses by itself',
    policy({ decision: 'DECISION_SCORE' }, { blockingMode: 'BLOCKING_MODE_SELF_CONTAINED' }),
    '4.28.0',
    '',
  ],
])('%s becomes text', (_, given, version, text) => {
  expect(renderScoring(given, version)).toBe(text);
});

test('settings without effect beside a score or without one are named', () => {
  expect(inertScoring(policy({ blockScore: 60, watchScore: 1 }))).toEqual([
    'crsCore.watchScore has no effect: crsCore.decision leaves the anomaly score alone to decide',
    'crsCore.blockScore has no effect: crsCore.decision leaves the anomaly score alone to decide',
  ]);
  const selfContained = { blockingMode: 'BLOCKING_MODE_SELF_CONTAINED' } as const;
  expect(inertScoring(policy({ decision: 'DECISION_BOTH' }, selfContained))).toEqual([
    'crsCore.decision has no effect: blockingMode has each rule refuse by itself',
  ]);
  expect(inertScoring(policy({ decision: 'DECISION_BOTH', blockScore: 60 }))).toEqual([]);
  for (const decision of ['DECISION_SCORE', 'DECISION_BOTH', 'DECISION_SCORE_CONFIRMS'] as const) {
    expect(inertScoring(policy({ decision, earlyBlocking: true }))).toEqual([
      'crsCore.earlyBlocking has no effect: crsCore.decision has the score decide, after the body',
    ]);
  }
  expect(
    inertScoring(policy({ decision: 'DECISION_SCORE', crsXmlAttributeInspection: false })),
  ).toEqual([
    'crsCore.crsXmlAttributeInspection has no effect: ' +
      'crsCore.decision has the score decide, of XML as a whole',
  ]);
  const beside = { earlyBlocking: true, crsXmlAttributeInspection: false };
  expect(inertScoring(policy({ decision: 'DECISION_CRS', ...beside }))).toEqual([]);
});

test('templates without a decision have neither text nor warnings of one', () => {
  for (const template of builtInTemplates.filter(({ crsCore }) => !crsCore?.decision)) {
    expect(renderScoring(template, '4.28.0')).toBe('');
    expect(inertScoring(template)).toEqual([]);
  }
});

test('Light decides by score, the other templates by the anomaly score', () => {
  const decisions = builtInTemplates.map(({ name, crsCore }) => [name, crsCore?.decision]);
  expect(decisions).toEqual([
    ['Light', 'DECISION_SCORE'],
    ['Standard', undefined],
    ['Strict', undefined],
  ]);
});
