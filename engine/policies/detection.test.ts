/** Tests that each detector is a rule where a policy asks for a score, and that weights exist. */

import { expect, test } from 'vitest';
import { detectors } from '../detect/list.ts';
import { detectorRules } from '../detect/detector-rules.ts';
import { detectionWith, detectorFacts, weightNames } from './detection.ts';
import { linkPolicy } from './policy-build.ts';

const policy = (seclangEntry: string) => {
  return { id: 'p', name: 'p', revision: '1', seclangEntry, files: new Map() };
};

test('a policy that asks for a score has a rule for each detector', () => {
  const { program, diagnostics } = linkPolicy(policy('Include waf/detectors.conf\n'));
  expect(diagnostics).toEqual([]);
  const rules = program!.rules.filter(({ operatorText }) => operatorText.startsWith('@detected'));
  expect(rules.map(({ id }) => id)).toEqual(detectors.map(({ id }) => id));
  for (const { id, disruption, message } of rules) {
    expect([id, disruption.kind, message?.source === '']).toEqual([id, 'pass', false]);
  }
  expect(detectorRules.split('\n').length).toBe(detectors.length + 1);
});

test('a policy that does not ask has none', () => {
  expect(linkPolicy(policy('SecRuleEngine On\n')).program!.rules).toEqual([]);
});

test.each(weightNames)('the weights %s score with every detector', (name) => {
  const { weights, proves } = detectionWith(name);
  expect(weights.version.startsWith(name)).toBe(true);
  for (const { id, strong, confirmedBy } of detectors) {
    expect(proves(id)).not.toBe('');
    expect([detectorFacts.isStrong(id), detectorFacts.confirmedBy(id)]).toEqual([
      strong,
      confirmedBy,
    ]);
  }
  expect([proves(1), detectorFacts.isStrong(1), detectorFacts.confirmedBy(1)]).toEqual([
    '',
    false,
    [],
  ]);
});

test('weights without a file are named', () => {
  expect(() => detectionWith('crs5')).toThrow(/SecScoreWeights crs5: expected crs4, crs3 or none/);
});
