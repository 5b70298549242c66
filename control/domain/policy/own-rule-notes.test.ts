/** Holds every rule that a policy puts beside its ruleset to a note for those who want it out. */

import { expect, test } from 'vitest';
import { encodeUtf8 } from '../../../base/byte-string.ts';
import { describeRules } from './crs-rules.ts';
import { explainBlock } from './block-explanation.ts';
import { isOpenOwnRule, ownRuleNote } from './own-rule-notes.ts';
import { renderPolicy } from './policy-seclang.ts';
import { builtInTemplates } from './policy-templates.ts';

test('every rule that a template puts beside a ruleset says what to do instead', () => {
  const includes = { pluginConfigs: [], pluginsBefore: [], rules: [], pluginsAfter: [] };
  const ids = new Set<number>();
  for (const template of builtInTemplates) {
    for (const version of ['3.3.4', '4.28.0']) {
      const ruleset = { version, includes: { ...includes, unicodeMap: '' } };
      const { seclang } = renderPolicy(template, ruleset);
      const file = { path: 'policy.conf', text: encodeUtf8(seclang) };
      for (const { ruleId } of describeRules([file], 'r')) ids.add(ruleId);
    }
  }
  const own = [...ids].filter((id) => id > 199_000 && id < 201_000);
  expect(own.length).toBeGreaterThan(15);
  expect(own.filter((id) => ownRuleNote(id) === null && !isOpenOwnRule(id))).toEqual([]);
  expect(ownRuleNote(942_100)).toBeNull();
});

test.each(['200003', '200004', '199401', '199402', '199407', '199408', '199409'])(
  'an event of rule %s says why it cannot be excluded',
  (ruleId) => {
    const event = { siteId: 's', path: '/', detailAvailable: true, messages: [{ ruleId }] };
    const messages = [{ ruleId, disruptive: true }];
    const around = { policyId: 'p', ruleOf: () => undefined, isCustom: () => false };
    const { notes, exclusions } = explainBlock({ ...event, blocked: true, messages }, around);
    expect(exclusions).toEqual([]);
    expect(notes.join()).toMatch(/is the product's own and cannot be excluded: it .* Instead: /);
  },
);
