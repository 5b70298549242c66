/** How much of a body the rules and the checks of API documents hold together. */
import { expect, test } from 'vitest';
import type { BodyNeed } from '../contract/verdict.ts';
import type { RequestView } from '../guard/request-view.ts';
import type { ApiRun } from '../schema/api-run.ts';
import type { SiteChecks } from '../schema/site-checks.ts';
import { SchemaRun } from './schema-run.ts';

const nothing: BodyNeed = { inspect: false, limitBytes: 0, onExcess: 'prefix' };
const need = (limitBytes: number, onExcess: BodyNeed['onExcess']): BodyNeed => ({
  inspect: true,
  limitBytes,
  onExcess,
});

interface Row {
  readonly text: string;
  readonly checks: number;
  readonly rules: BodyNeed;
  readonly held: BodyNeed;
}

const rows: readonly Row[] = [
  { text: 'no checks', checks: 0, rules: need(100, 'prefix'), held: need(100, 'prefix') },
  { text: 'checks alone', checks: 1000, rules: nothing, held: need(1000, 'prefix') },
  {
    text: 'checks hold more',
    checks: 1000,
    rules: need(100, 'prefix'),
    held: need(1000, 'prefix'),
  },
  { text: 'rules hold more', checks: 100, rules: need(1000, 'prefix'), held: need(1000, 'prefix') },
  { text: 'a refusing limit', checks: 1000, rules: need(100, 'reject'), held: need(100, 'reject') },
];

test.each(rows)('$text', ({ checks, rules, held }) => {
  const run = new SchemaRun();
  const found = { bodyBytes: checks, verdicts: () => [] } as unknown as ApiRun;
  const site = { begin: () => found } as unknown as SiteChecks;
  run.begin(site, {} as RequestView, true, false);
  expect(run.joined(rules)).toEqual(held);
});
