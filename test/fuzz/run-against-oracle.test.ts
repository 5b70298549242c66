/**
 * Random rule sets over random requests: the fast path against the oracle. The seed is printed;
 * WAF_FUZZ_SEED repeats a run, WAF_FUZZ_RUNS sets the number of rule sets, WAF_FUZZ_REQUESTS the
 * number of requests to each.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import type { Program } from '../../engine/rules/transaction/types.ts';
import { loadSourceSet, type SourceFile } from '../../engine/rules/language/include.ts';
import { buildProgram } from '../../engine/rules/program/build-program.ts';
import { compareEngines, fastEngine } from './compare-engines.ts';
import { randomExchanges, toExchange } from './random-requests.ts';
import { ruleTexts } from './rule-texts.ts';
import { standingTexts } from './standing-texts.ts';
import { draws } from '../support/soak.ts';

const seed = Number(process.env['WAF_FUZZ_SEED'] ?? Date.now() % 0x7fffffff);
const runs = draws(150, 5_000, 'WAF_FUZZ_RUNS');
const requestsPerRuleSet = Number(process.env['WAF_FUZZ_REQUESTS'] ?? 12);
const progressEvery = 100;

test(
  'random rule sets: fast path and oracle agree',
  { timeout: runs * requestsPerRuleSet * 100 + 60_000 },
  () => {
    const requestsKnob = `WAF_FUZZ_REQUESTS=${requestsPerRuleSet}`;
    console.log(`WAF_FUZZ_SEED=${seed} WAF_FUZZ_RUNS=${runs} ${requestsKnob}`);
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
  },
);

function link(text: string): Program {
  const source = loadSourceSet(filesOf(text), () => []);
  const { program, diagnostics } = buildProgram(source, fullCatalog, () => null);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (!program) throw new Error(`${text}\n${errors.map((one) => one.message).join('\n')}`);
  return program;
}

/** About half of the rules as a rule set's, the others as a policy's own, some of both removed. */
function filesOf(text: string): SourceFile[] {
  const lines = text.split('\n');
  const half = Math.floor(lines.length / 2);
  const cut = lines.findIndex((_, at) => at >= half && !/\bchain\b|\\$/.test(lines[at - 1] ?? ''));
  const ids = [...text.matchAll(/\bid:(\d+)/g)].map(([, id]) => id);
  const removed = ids.filter((_, at) => (text.length + at) % 9 === 0);
  const removal = removed.length === 0 ? '' : `SecRuleRemoveById ${removed.join(' ')}`;
  const [first, rest] = cut < 0 ? [lines, []] : [lines.slice(0, cut), lines.slice(cut)];
  return [
    { path: 'crs/t.conf', text: `${first.join('\n')}\n` },
    { path: 't.conf', text: `${rest.join('\n')}\n${removal}\n` },
  ];
}
