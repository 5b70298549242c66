/** Rules without which nothing is blocked stay, by whatever directive or control one asks. */

import { expect, test } from 'vitest';
import { encodeUtf8 } from '../../../base/byte-string.ts';
import { parseSecLang } from '../../../engine/rules/language/parse.ts';
import { pluginFault } from './crs-plugin-files.ts';
import { evaluationInDirective } from './evaluation-rules.ts';

const reasonsOf = (text: string): (string | null)[] =>
  parseSecLang(encodeUtf8(text), 'rule').directives.map(evaluationInDirective);
const control = (text: string): string => `SecAction "id:1,phase:1,pass,nolog,ctl:${text}"`;

test.each([
  'SecRuleRemoveById 949110',
  'SecRuleRemoveById 942100 "949000-949999"',
  'SecRuleRemoveById 900000-999999',
  'SecRuleRemoveById 959100 980130',
  'SecRuleRemoveById 901100',
  'SecRuleRemoveByTag anomaly-evaluation',
  'SecRuleRemoveByTag attack-generic',
  'SecRuleRemoveByMsg "Inbound Anomaly Score"',
  'SecRuleUpdateActionById 949110 "pass"',
  'SecRuleUpdateTargetById 949110 "!TX:ANOMALY_SCORE"',
  'SecRuleUpdateOperatorById 949111:1 "@eq 9999"',
  control('ruleRemoveById=949111'),
  control('ruleRemoveById=949000-959999'),
  control('ruleRemoveByTag=event-correlation'),
  control("'ruleRemoveByMsg=Inbound Anomaly Score Exceeded'"),
  control('ruleRemoveTargetById=949110;TX:anomaly_score'),
])('rules without which nothing is blocked are not taken out: %s', (text) => {
  expect(reasonsOf(text)).toEqual([expect.stringContaining('without it nothing is blocked')]);
  expect(pluginFault([{ path: 'p/a.conf', text: encodeUtf8(text) }])).toContain('a.conf:1');
});

test.each([
  'SecRuleRemoveById 942100 941000-941999',
  'SecRuleRemoveByTag attack-sqli',
  'SecRuleRemoveByTag OWASP_CRS',
  control('ruleRemoveByTag=OWASP_CRS'),
  control('ruleRemoveTargetById=942100;ARGS:q'),
  control('ruleRemoveById=9599100-9599199'),
  control('ruleEngine=DetectionOnly'),
])('other rules can be taken out: %s', (text) => {
  expect(reasonsOf(text)).toEqual([null]);
});
