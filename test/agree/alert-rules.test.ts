/** The rules of alerts that ship as a manifest. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { alertKinds, readCondition } from '../../control/domain/alert/alert-condition.ts';

interface Rule {
  readonly kind: string;
  readonly spec: { readonly enabled: boolean; readonly condition: object };
}

test('the rules of alerts that ship are valid, disabled, and cover every kind', () => {
  const file = path.resolve(import.meta.dirname, '../../deploy/alerts/rules.yaml');
  const rules = parseAllDocuments(readFileSync(file, 'utf8')).map((one) => one.toJS() as Rule);
  const conditions = rules.map(({ spec }) => readCondition(JSON.stringify(spec.condition), 'c'));
  expect(conditions.map(({ kind }) => kind).toSorted()).toEqual([...alertKinds].toSorted());
  expect(rules.every(({ kind, spec }) => kind === 'AlertRule' && !spec.enabled)).toBe(true);
});
