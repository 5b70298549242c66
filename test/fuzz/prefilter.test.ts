/**
 * The scan programs of CRS's plans against the exact operators, transformations included: a rule
 * that matches a value must be hit there, and where the plan takes a hit for a match it must be
 * one. The seed is printed; WAF_FUZZ_SEED repeats a run, WAF_FUZZ_VALUES sets the number of values
 * for each version of CRS.
 */

import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { Transaction } from '../../engine/rules/transaction/transaction.ts';
import type { Prefilter, Program, Rule } from '../../engine/rules/transaction/types.ts';
import { sourceCount } from '../../engine/rules/transaction/values.ts';
import { buildPlan } from '../../engine/rules/plan/build-plan.ts';
import type { RulePlan } from '../../engine/rules/plan/rule-plan.ts';
import { DatabaseFiles } from '../../engine/state/database-files.ts';
import { readCorpus } from '../seclang/corpus.ts';
import { crsSuites, loadCrs } from '../seclang/crs-run.ts';
import { compileAlone, databaseFolder } from '../support/databases.ts';
import { fixedPorts } from './compare-engines.ts';
import { mutatedValues } from './mutated-values.ts';
import { draws } from '../support/soak.ts';

const seed = Number(process.env['WAF_FUZZ_SEED'] ?? Date.now() % 0x7fffffff);
const valueCount = draws(600, 20_000, 'WAF_FUZZ_VALUES');
const payloadBytesMax = 300;
const reportedMax = 10;
const log = createLogger('fuzz', 'error');

/** One kind of value: the classes that look at it, and the rules that must be hit. */
interface RowPart {
  readonly classes: readonly number[];
  readonly rules: readonly Rule[];
}

interface Totals {
  comparisons: number;
  matches: number;
  toConfirm: number;
}

interface AttackCase {
  readonly payload: string;
}

for (const { name, place } of crsSuites) {
  describe.skipIf(!existsSync(place.setup))(`${name}: scans`, () => {
    test('a match implies a hit, a trusted hit a match', { timeout: 600_000 }, async () => {
      console.log(`WAF_FUZZ_SEED=${seed} WAF_FUZZ_VALUES=${valueCount}`);
      const program = loadCrs(place);
      const cache = new DatabaseFiles(databaseFolder, log);
      const plan = await compileAlone(`${name} level 4`, () =>
        buildPlan(program, { cache, log, ports: fixedPorts }),
      );
      const rowParts = rowPartsOf(program, plan);
      const batches = fc.sample(batchesOf(program), {
        seed,
        numRuns: Math.ceil(valueCount / batchValues),
      });
      const totals: Totals = { comparisons: 0, matches: 0, toConfirm: 0 };
      const problems: string[] = [];
      batches.forEach((values, i) => {
        const rowPart = rowParts[i % rowParts.length]!;
        problems.push(...compareBatch(plan, rowPart, values, totals));
      });
      plan.close();
      console.log(
        `${name}: ${totals.comparisons} comparisons on ${rowParts.length} kinds of values, ` +
          `${totals.matches} matches, ${totals.toConfirm} hits to confirm, ` +
          `${problems.length} differences`,
      );
      expect(totals.matches).toBeGreaterThan(batches.length);
      expect(problems.slice(0, reportedMax)).toEqual([]);
    });
  });
}

/** Values that are scanned in one call. */
const batchValues = 8;

function batchesOf(program: Program): fc.Arbitrary<string[]> {
  const filters = program.rules.flatMap((rule) => rule.operator?.prefilter ?? []);
  const patterns = [...new Set(filters.flatMap(textsOf))];
  const payloads = (readCorpus<AttackCase>('gotestwaf.jsonl') ?? []).map(({ payload }) =>
    Buffer.from(payload.slice(0, payloadBytesMax)).toString('latin1'),
  );
  const value = mutatedValues(patterns, payloads);
  return fc.array(value, { minLength: batchValues, maxLength: batchValues });
}

function textsOf(filter: Prefilter): readonly string[] {
  if (filter.kind === 'pattern') return [filter.pattern];
  return filter.kind === 'words' ? filter.words : [];
}

/** Every row part that rules look at whatever the key is; the one with most rules comes often. */
function rowPartsOf(program: Program, plan: RulePlan): RowPart[] {
  const rowParts: RowPart[] = [];
  for (let id = 0; id < sourceCount * 2; id++) {
    const { anyKey } = plan.rowParts[id]!;
    if (anyKey.length === 0) continue;
    const rules = program.rules.filter((rule) => {
      // A chain may be searched for by another link: that is compared with whole transactions.
      return plan.onRows[plan.targetIdOfRule[rule.index]!] === 1 && looksAt(rule, id);
    });
    rowParts.push({ classes: anyKey, rules });
  }
  const byRules = rowParts.sort((a, b) => b.rules.length - a.rules.length);
  return byRules.flatMap((rowPart, i) => (i % 2 === 1 ? [byRules[0]!, rowPart] : [rowPart]));
}

function looksAt(rule: Rule, rowPartId: number): boolean {
  return rule.targets.some(({ variable, selector }) => {
    if (selector?.kind === 'key' || !variable.rows) return false;
    const rowPart = variable.rows.rowPart === 'key' ? 1 : 0;
    return (
      rowPart === (rowPartId & 1) && variable.rows.sources.some((one) => one === rowPartId >> 1)
    );
  });
}

const transaction = new Transaction();

function compareBatch(
  plan: RulePlan,
  { classes, rules }: RowPart,
  values: readonly string[],
  totals: Totals,
): string[] {
  // Macros whose values are the same everywhere are searched for as such.
  transaction.tx.reset(plan.txBase);
  const hits = scanAll(plan, classes, values);
  const problems: string[] = [];
  values.forEach((value, at) => {
    for (const rule of rules) {
      const targetId = plan.targetIdOfRule[rule.index]!;
      const hit = hits.has(`${targetId}/${at}`);
      const match = matches(rule, value);
      totals.comparisons++;
      if (match) totals.matches++;
      if (hit === match) continue;
      if (hit && plan.hitIsMatch[targetId] !== 1) totals.toConfirm++;
      else problems.push(describeDifference(rule, hit, value));
    }
  });
  return problems;
}

/** The hits of all classes on all values, as `target id/value`. */
function scanAll(
  plan: RulePlan,
  classes: readonly number[],
  values: readonly string[],
): Set<string> {
  const slab = Buffer.from(values.join(''), 'latin1');
  const rows: number[] = [];
  const valueOfRow: number[] = [];
  let start = 0;
  values.forEach((value, at) => {
    for (const id of classes) {
      rows.push(start, start + value.length, id);
      valueOfRow.push(at);
    }
    start += value.length;
  });
  const hits = new Int32Array(2 * plan.targetIdOfRule.length * valueOfRow.length);
  const count = plan.scan!.scan(slab, Int32Array.from(rows), valueOfRow.length, hits);
  const found = new Set<string>();
  for (let i = 0; i < count; i++) found.add(`${hits[2 * i]!}/${valueOfRow[hits[2 * i + 1]!]!}`);
  return found;
}

/** With multiMatch any stage counts. */
function matches(rule: Rule, value: string): boolean {
  const stages = [value];
  for (const one of rule.transformations) stages.push(one.apply(stages.at(-1)!));
  const tested = rule.multiMatch ? stages : stages.slice(-1);
  return tested.some((text) => {
    return rule.operator!.evaluate(text, transaction, null) !== rule.negated;
  });
}

function describeDifference(rule: Rule, hit: boolean, value: string): string {
  const what = hit ? 'trusted hit without a match' : 'match without a hit';
  return `rule ${rule.id} (line ${rule.location.line}): ${what} on ${JSON.stringify(value)}`;
}
