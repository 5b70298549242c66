/**
 * CRS as its users change it: random knobs, removals, updates, exclusions and own rules around a
 * part of its rules; the fast path against the oracle over requests of the corpora. The seed is
 * printed; WAF_FUZZ_SEED repeats a run, WAF_FUZZ_RUNS sets the number of policies. A policy that
 * tells the engines apart is printed with as few rules as still do.
 */

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { toByteString } from '../../base/byte-string.ts';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import type { Program } from '../../engine/rules/transaction/types.ts';
import { loadSourceSet } from '../../engine/rules/language/include.ts';
import type { Exchange } from '../../engine/rules/oracle/evaluate.ts';
import type { DatabaseCache } from '../../engine/rules/plan/databases.ts';
import { buildProgram } from '../../engine/rules/program/build-program.ts';
import { startDice } from '../agree/random-changes.ts';
import { corpusRoot, readCorpus } from '../seclang/corpus.ts';
import { crsSuites, type CrsStage } from '../seclang/crs-run.ts';
import { compareEngines, fastEngine } from './compare-engines.ts';
import { drawExchange, makePool } from './crs-exchanges.ts';
import { readCrsFiles } from './crs-pieces.ts';
import { drawPolicy, type PolicyPieces } from './crs-policies.ts';
import { reducePolicy } from './reduce-policy.ts';
import { draws } from '../support/soak.ts';

const seed = Number(process.env['WAF_FUZZ_SEED'] ?? Date.now() % 0x7fffffff);
const runs = draws(12, 200, 'WAF_FUZZ_RUNS');
const requestsPerPolicy = 40;
const cachedBytesMax = 256 * 1024 * 1024;
const reduceMs = 120_000;
/** In long runs, one policy in this number takes all of CRS; it compiles for some ten seconds. */
const wholeEvery = 400;
const longRun = 100;

const versions = ['4280', '334'];
const suites = crsSuites.filter(({ place }) => existsSync(place.setup));
const stages =
  suites.length === crsSuites.length ? readCorpus<CrsStage>(crsSuites[0]!.corpus) : null;
const attacks = existsSync(path.join(corpusRoot, 'crs'))
  ? readCorpus<{ readonly payload: string }>('gotestwaf.jsonl')
  : null;
if (stages === null || attacks === null) console.log('skipped: no corpus for variants of CRS');

describe.skipIf(stages === null || attacks === null)('CRS as its users change it', () => {
  test('fast path and oracle agree', { timeout: runs * 10_000 + reduceMs + 60_000 }, () => {
    console.log(`WAF_FUZZ_SEED=${seed} WAF_FUZZ_RUNS=${runs}`);
    const pool = makePool(
      stages ?? [],
      (attacks ?? []).map(({ payload }) => payload),
    );
    const parts = crsSuites.map(({ place }, n) => {
      return { files: readCrsFiles(place.rules), version: versions[n]!, rules: place.rules };
    });
    let transactions = 0;
    let unlinked = 0;
    for (let n = 0; n < runs; n++) {
      const own = seed + n;
      // CRS 3 is what Debian ships; CRS 4 has more to fold.
      const part = parts[own % 4 === 3 ? 1 : 0]!;
      const pieces = drawPolicy(own, part, runs >= longRun && own % wholeEvery === 0);
      const dice = startDice(own ^ 0x5bd1e995);
      const exchanges = Array.from({ length: requestsPerPolicy }, () => drawExchange(dice, pool));
      const found = firstDifference(pieces, part.rules, exchanges);
      if (found === null) unlinked++;
      else if (found.differences.length > 0) throw tell(own, pieces, part.rules, found);
      else transactions += exchanges.length;
    }
    console.log(
      `${runs - unlinked} policies, ${transactions} transactions agree; ${unlinked} refused`,
    );
    expect(unlinked).toBeLessThan(runs / 2);
    expect(transactions).toBe((runs - unlinked) * requestsPerPolicy);
  });
});

interface Found {
  readonly differences: readonly string[];
  readonly exchange: Exchange | null;
}

/** The first exchange that tells the engines apart; null where the policy does not link. */
function firstDifference(
  pieces: PolicyPieces,
  rules: string,
  exchanges: readonly Exchange[],
): Found | null {
  const program = link(pieces, rules);
  if (program === null) return null;
  const engine = fastEngine(program, cache);
  try {
    for (const exchange of exchanges) {
      const differences = compareEngines(program, engine, exchange);
      if (differences.length > 0) return { differences, exchange };
    }
    return { differences: [], exchange: null };
  } finally {
    engine.retire();
  }
}

function tell(own: number, pieces: PolicyPieces, rules: string, { exchange }: Found): Error {
  const asked = exchange === null ? [] : [exchange];
  const fails = (fewer: PolicyPieces): boolean => {
    return (firstDifference(fewer, rules, asked)?.differences.length ?? 0) > 0;
  };
  // What earlier exchanges left in the engine's memory may be part of it.
  if (!fails(pieces)) return new Error(`seed ${own}: differs, but not for one exchange alone`);
  const fewest = reducePolicy(pieces, fails, Date.now() + reduceMs);
  const { differences } = firstDifference(fewest, rules, asked)!;
  const { head } = asked[0]!.request;
  const body = Buffer.from(asked[0]!.requestBody?.bytes ?? []).toString('latin1');
  const wire = `${Buffer.from(head.bytes).toString('latin1')}${body}`;
  return new Error(`seed ${own}\n${fewest.join('\n')}\n\n${wire}\n\n${differences.join('\n')}`);
}

function link(pieces: PolicyPieces, rules: string): Program | null {
  // As in a policy, rules of the rule set lie in its folder, and others do not.
  const files = pieces.map((text, at) => {
    const folder = /\bid:9\d{5}\b/.test(text) ? 'crs/' : '';
    return { path: `${folder}${at}.conf`, text: `${text}\n` };
  });
  const source = loadSourceSet(files, () => []);
  const { program } = buildProgram(source, fullCatalog, (name) => {
    return toByteString(readFileSync(path.join(rules, name)));
  });
  return program;
}

const entries = new Map<string, Uint8Array>();
let cachedBytes = 0;
/** Of this run alone: most policies are seen once. */
const cache: DatabaseCache = {
  get: (key) => entries.get(key) ?? null,
  put: (key, bytes) => {
    if (cachedBytes > cachedBytesMax) {
      entries.clear();
      cachedBytes = 0;
    }
    entries.set(key, bytes);
    cachedBytes += bytes.length;
  },
};
