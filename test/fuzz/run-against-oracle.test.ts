/**
 * Random rule sets over random requests: the fast path against the oracle. The seed is printed;
 * WAF_FUZZ_SEED repeats a run, WAF_FUZZ_RUNS sets the number of rule sets.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import type { Program } from '../../engine/rules/transaction/types.ts';
import { loadText } from '../../engine/rules/language/include.ts';
import { buildProgram } from '../../engine/rules/program/build-program.ts';
import { compareEngines, fastEngine } from './compare-engines.ts';
import { randomExchanges, toExchange } from './random-requests.ts';
import { ruleTexts } from './rule-texts.ts';
import { standingTexts } from './standing-texts.ts';

const seed = Number(process.env['WAF_FUZZ_SEED'] ?? Date.now() % 0x7fffffff);
const runs = Number(process.env['WAF_FUZZ_RUNS'] ?? 150);
const requestsPerRuleSet = 12;
const progressEvery = 500;

test('random rule sets: fast path and oracle agree', { timeout: runs * 1000 + 60_000 }, () => {
  console.log(`WAF_FUZZ_SEED=${seed} WAF_FUZZ_RUNS=${runs}`);
  let ruleSets = 0;
  let transactions = 0;
  const requests = fc.array(randomExchanges, {
    minLength: requestsPerRuleSet,
    maxLength: requestsPerRuleSet,
  });
  const texts = fc.oneof(ruleTexts, ruleTexts, standingTexts);
  const property = fc.property(texts, requests, (text, list) => {
    const program = link(text);
    const engine = fastEngine(program);
    try {
      for (const request of list) {
        transactions++;
        const differences = compareEngines(program, engine, toExchange(request));
        if (differences.length > 0) {
          throw new Error(`${JSON.stringify(request)}\n${text}\n${differences.join('\n')}`);
        }
      }
    } finally {
      engine.retire();
    }
    if (++ruleSets % progressEvery === 0) {
      console.log(`${ruleSets} rule sets, ${transactions} transactions agree`);
    }
  });
  const details = fc.check(property, { seed, numRuns: runs });
  if (details.failed) throw details.errorInstance;
  console.log(`${ruleSets} rule sets, ${transactions} transactions agree`);
  expect(ruleSets).toBe(runs);
  expect(transactions).toBe(runs * requestsPerRuleSet);
});

function link(text: string): Program {
  const { program, diagnostics } = buildProgram(loadText(text, 't.conf'), fullCatalog, () => null);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (!program) throw new Error(`${text}\n${errors.map((one) => one.message).join('\n')}`);
  return program;
}
