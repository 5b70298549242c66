/** How policies look in a list. */

import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { PolicySchema } from '../../../proto/gen/waf/v1/policy_pb.ts';
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
