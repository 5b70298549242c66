/** How policies look in a list. */

import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { BlockingMode, Decision, PolicySchema } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { policyTable } from './policy-table.ts';

test('a template and the built-in policy made of it have names of their own', () => {
  const policies = [
    create(PolicySchema, { name: 'Light', isTemplate: true, builtin: true }),
    create(PolicySchema, { name: 'Light', builtin: true }),
    create(PolicySchema, { name: 'shop' }),
  ];
  const names = policyTable(policies).rows.map(([, name]) => name);
  expect(names).toEqual(['Light (template)', 'Light (built in)', 'shop']);
});

test.each([
  [BlockingMode.ANOMALY, Decision.UNSPECIFIED, 'anomaly'],
  [BlockingMode.ANOMALY, Decision.CRS, 'anomaly'],
  [BlockingMode.ANOMALY, Decision.SCORE, 'score'],
  [BlockingMode.ANOMALY, Decision.BOTH, 'both'],
  [BlockingMode.ANOMALY, Decision.SCORE_CONFIRMS, 'score-confirms'],
  [BlockingMode.SELF_CONTAINED, Decision.SCORE, 'self-contained'],
])('what refuses a request is in the list, mode %i and decision %i', (mode, decision, shown) => {
  const { columns, rows } = policyTable([
    create(PolicySchema, { blockingMode: mode, crsCore: { decision } }),
  ]);
  expect(rows[0]?.[columns.indexOf('BLOCKING')]).toBe(shown);
});
