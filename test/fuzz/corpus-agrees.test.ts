/**
 * Every case of the rule corpora: the fast path against the oracle, in process. CRS's tests run as
 * they ask, in detection only, and the oracle must pass them; a share of them also with an engine
 * that acts (all of them with WAF_FUZZ_FULL=1, and in a soak).
 */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../base/log.ts';
import type { RequestSnapshot } from '../../engine/contract/message.ts';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import type { EngineMode, Program } from '../../engine/rules/transaction/types.ts';
import {
  prepareModsecCase,
  type ModsecCase,
} from '../../engine/rules/oracle/conformance/modsec-case.ts';
import type { Exchange, OracleResult } from '../../engine/rules/oracle/evaluate.ts';
import { DatabaseFiles } from '../../engine/state/database-files.ts';
import { corpusRoot, readCorpus } from '../seclang/corpus.ts';
import { crsSuites, judgeRun, loadCrs, stageExchange, type CrsStage } from '../seclang/crs-run.ts';
import { readWire } from '../seclang/wire.ts';
import { compileAlone, databaseFolder } from '../support/databases.ts';
import { compareEngines, fastEngine } from './compare-engines.ts';
import { soaks } from '../support/soak.ts';

interface GotestwafCase {
  readonly title: string;
  readonly requests: readonly { readonly wire_b64?: string }[];
}

interface DataFile {
  readonly path: string;
  readonly content_b64: string;
}

const reportedMax = 10;
const actingShare = process.env['WAF_FUZZ_FULL'] === '1' || soaks ? 1 : 16;
const log = createLogger('fuzz', 'error');

/** Tests whose expectation CRS itself gives anew for servers built like ours: title to reason. */
const overridden: ReadonlyMap<string, string> = new Map([
  ['920620-1', 'repeated Content-Type fields stay apart, as the override for nginx says'],
]);

for (const { name, corpus, place } of crsSuites) {
  const stages = existsSync(place.setup) ? readCorpus<CrsStage>(corpus) : null;
  describe.skipIf(stages === null)(name, () => {
    const exchanges = (stages ?? []).map((stage) => ({
      title: stage.title,
      exchange: stageExchange(stage),
      stage,
    }));
    /** What is wrong with what the oracle found, or '', stage by stage: both tests need one run. */
    const details: string[] = [];

    test('fast path and oracle agree on every test', { timeout: 900_000 }, async () => {
      const detecting = loadCrs(place);
      const what = `${name}, detection only`;
      const seen = await compareAll(detecting, name, exchanges, what, ({ stage }, result) => {
        const override = overridden.has(stage.title) ? stage.overrides?.nginx?.expect : undefined;
        const asked = override ? { ...stage, expect: override } : stage;
        details.push(judgeRun(asked, result).detail);
      });
      expect(seen).toEqual([]);
      // Transactions that end early must agree, too.
      const acting = exchanges.filter((_, i) => i % actingShare === 0);
      const program = withMode(loadCrs(place), 'on');
      expect(await compareAll(program, name, acting, `${name}, acting`)).toEqual([]);
    });

    test('every test of the shared corpus passes', () => {
      const refused = exchanges.flatMap(({ title, exchange }) =>
        'refusal' in exchange ? [`${title}: ${exchange.refusal}`] : [],
      );
      const failures = details.filter((detail) => detail !== '');
      console.log(refused.map((line) => `refused ${line}`).join('\n'));
      const passed = details.length - failures.length;
      console.log(
        `${name}: ${passed} passed, ${failures.length} failed, ${refused.length} refused`,
      );
      expect(failures).toEqual([]);
      expect(passed + refused.length).toBe(stages?.length);
    });
  });
}

const attacks = existsSync(path.join(corpusRoot, 'crs'))
  ? readCorpus<GotestwafCase>('gotestwaf.jsonl')
  : null;
describe.skipIf(attacks === null)('GoTestWAF payloads under CRS 4', () => {
  test('fast path and oracle agree', { timeout: 900_000 }, async () => {
    const exchanges = (attacks ?? []).flatMap(({ title, requests }) =>
      requests.map(({ wire_b64 = '' }) => ({ title, exchange: bareExchange(wire_b64) })),
    );
    const { name, place } = crsSuites[0]!;
    const program = withMode(loadCrs(place), 'on');
    expect(await compareAll(program, name, exchanges, 'GoTestWAF')).toEqual([]);
  });
});

const cases = readCorpus<ModsecCase>('modsec-regression.jsonl');
describe.skipIf(cases === null)('libmodsecurity regression cases', () => {
  test('fast path and oracle agree', () => {
    const data = readCorpus<DataFile>('modsec-regression-data.jsonl') ?? [];
    const files = new Map(
      data.map(({ path: file, content_b64 }) => [
        file,
        Buffer.from(content_b64, 'base64').toString('latin1'),
      ]),
    );
    const problems: string[] = [];
    let compared = 0;
    for (const one of cases ?? []) {
      const prepared = prepareModsecCase(one, fullCatalog, files);
      if (prepared === null) continue;
      const engine = fastEngine(prepared.program);
      const exchange = atFixedTime(prepared.exchange);
      const differences = compareEngines(prepared.program, engine, exchange);
      if (differences.length > 0) problems.push(`${one.title}: ${differences.join('; ')}`);
      engine.retire();
      compared++;
    }
    console.log(`libmodsecurity cases: ${compared} compared, ${problems.length} differ`);
    expect(compared).toBeGreaterThan(0);
    expect(problems).toEqual([]);
  });
});

interface TitledExchange {
  readonly title: string;
  readonly exchange: Exchange | { readonly refusal: string };
}

/**
 * Compares all exchanges; the first differences, at most `reportedMax`. `onResult` gets what the
 * oracle found, exchange by exchange.
 */
async function compareAll<T extends TitledExchange>(
  program: Program,
  rules: string,
  exchanges: readonly T[],
  what: string,
  onResult: (one: T, result: OracleResult) => void = () => undefined,
): Promise<string[]> {
  const engine = await compileAlone(`${rules} level 4`, () =>
    fastEngine(program, new DatabaseFiles(databaseFolder, log)),
  );
  const problems: string[] = [];
  let compared = 0;
  let refused = 0;
  for (const one of exchanges) {
    const { title, exchange } = one;
    if ('refusal' in exchange) {
      refused++;
      continue;
    }
    const differences = compareEngines(program, engine, atFixedTime(exchange), (result) =>
      onResult(one, result),
    );
    if (differences.length > 0) problems.push(`${title}: ${differences.join('; ')}`);
    compared++;
  }
  engine.retire();
  console.log(`${what}: ${compared} compared, ${problems.length} differ, ${refused} refused`);
  expect(compared + refused).toBe(exchanges.length);
  expect(compared).toBeGreaterThan(0);
  return problems.slice(0, reportedMax);
}

function withMode(program: Program, engine: EngineMode): Program {
  return { ...program, settings: { ...program.settings, engine } };
}

function bareExchange(wireBase64: string): Exchange | { readonly refusal: string } {
  const wire = readWire(Buffer.from(wireBase64, 'base64'));
  if ('refusal' in wire) return wire;
  const requestBody = wire.body && { bytes: wire.body, truncated: false };
  return { request: wire.request, requestBody, response: null, responseBody: null };
}

function atFixedTime(exchange: Exchange): Exchange {
  const request: RequestSnapshot = { ...exchange.request, receivedAtMs: 1_700_000_000_000 };
  return { ...exchange, request };
}
