/**
 * Loads CRS with the settings that its tests assume, and judges what the oracle made of one stage
 * of a test. Reads no corpus.
 */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { toByteString, type ByteString } from '../../base/byte-string.ts';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import { formatErrorLogLine } from '../../engine/rules/transaction/report.ts';
import type { Program } from '../../engine/rules/transaction/types.ts';
import { loadSourceSet, type SourceFile } from '../../engine/rules/language/include.ts';
import {
  makeBody,
  makeConnection,
  makeResponse,
} from '../../engine/rules/oracle/conformance/exchange.ts';
import type { Exchange, OracleResult } from '../../engine/rules/oracle/evaluate.ts';
import { buildProgram } from '../../engine/rules/program/build-program.ts';
import { corpusRoot } from './corpus.ts';
import { readWire } from './wire.ts';

/** One stage of a test as the corpus writes it. */
export interface CrsStage {
  readonly title: string;
  readonly family: string;
  readonly rule_id: number;
  readonly test_id: number;
  readonly wire_b64: string;
  readonly enabled?: boolean;
  readonly expect: CrsExpectation;
  readonly overrides?: { readonly nginx?: { readonly expect: CrsExpectation } };
  readonly reflected_response?: {
    readonly status: number;
    readonly headers: readonly [string, string][];
    readonly body_b64: string;
  };
}

interface CrsExpectation {
  readonly expect_ids?: readonly number[];
  readonly no_expect_ids?: readonly number[];
  readonly expect_no_ids_at_all?: boolean;
  readonly log_regex?: string;
  readonly no_log_regex?: string;
  readonly status?: readonly number[];
  readonly expect_error?: boolean;
}

const settingsFile = path.join(import.meta.dirname, 'crs-settings.conf');
const settingsText = toByteString(readFileSync(settingsFile));

/** Where one version of CRS lies. */
export interface CrsPlace {
  readonly setup: string;
  readonly rules: string;
  readonly paranoia: string;
}

/** A version of CRS with its regression tests. */
export interface CrsSuite {
  readonly name: string;
  /** File of the corpus. */
  readonly corpus: string;
  readonly place: CrsPlace;
}

const crs4 = path.join(corpusRoot, 'crs/4.28.0');

/** Both versions that the corpora test, at the paranoia level that the tests ask for. */
export const crsSuites: readonly CrsSuite[] = [
  {
    name: 'CRS 4.28.0',
    corpus: 'crs4-regression.jsonl',
    place: {
      setup: path.join(crs4, 'crs-setup.conf.example'),
      rules: path.join(crs4, 'rules'),
      paranoia: 'setvar:tx.blocking_paranoia_level=4,setvar:tx.detection_paranoia_level=4',
    },
  },
  {
    name: 'CRS 3.3.4',
    corpus: 'crs334-regression.jsonl',
    place: {
      setup: '/etc/modsecurity/crs/crs-setup.conf',
      rules: '/usr/share/modsecurity-crs/rules',
      paranoia: 'setvar:tx.paranoia_level=4,setvar:tx.executing_paranoia_level=4',
    },
  },
];

/** Loads CRS; throws the diagnostics when it does not link. */
export function loadCrs(place: CrsPlace): Program {
  const settings: SourceFile = {
    path: 'settings.conf',
    text: `${settingsText}\nSecAction "id:900000,phase:1,pass,t:none,nolog,${place.paranoia}"\n`,
  };
  const files = readdirSync(place.rules)
    .filter((file) => file.endsWith('.conf'))
    .sort();
  const roots = [
    settings,
    readRules(place.setup),
    ...files.map((file) => readRules(path.join(place.rules, file))),
  ];
  const source = loadSourceSet(roots, () => []);
  const { program, diagnostics } = buildProgram(source, fullCatalog, (name, fromFile) =>
    toByteString(readFileSync(path.resolve(path.dirname(fromFile), name))),
  );
  if (program) return program;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').slice(0, 20);
  throw new Error(
    errors.map(({ message, span }) => `${span.file}:${span.line}: ${message}`).join('\n'),
  );
}

function readRules(file: string): SourceFile {
  return { path: file, text: toByteString(readFileSync(file)) };
}

/** What came of a stage. */
export interface StageOutcome {
  readonly result: 'pass' | 'fail';
  readonly detail: string;
}

/** What came of a stage by the oracle's run of it. */
export function judgeRun(
  stage: CrsStage,
  { matchedRules, transaction }: OracleResult,
): StageOutcome {
  const logged = matchedRules.filter(({ log }) => log);
  const ids = new Set(logged.map(({ ruleId }) => ruleId));
  const log = logged.map((rule) => formatErrorLogLine(rule, transaction)).join('\n');
  return judge(stage, ids, log);
}

/** A stage's request and the answer it would get, or why the parser would not take it. */
export function stageExchange(stage: CrsStage): Exchange | { readonly refusal: string } {
  const wire = readWire(Buffer.from(stage.wire_b64, 'base64'));
  if ('refusal' in wire) return wire;
  const reflected = stage.reflected_response;
  const headers = reflected?.headers ?? [];
  const typed = headers.some(([name]) => name.toLowerCase() === 'content-type');
  return {
    request: { ...wire.request, connection: makeConnection() },
    requestBody: makeBody(wire.body),
    response: makeResponse(reflected?.status ?? 200, 'HTTP/1.1', [
      ...(typed ? [] : [['Content-Type', 'text/plain; charset=utf-8'] as const]),
      ...headers,
    ]),
    responseBody: makeBody(Buffer.from(reflected?.body_b64 ?? '', 'base64')),
  };
}

function judge(stage: CrsStage, ids: ReadonlySet<number>, log: ByteString): StageOutcome {
  const { expect } = stage;
  const problems: string[] = [];
  for (const id of expect.expect_ids ?? []) if (!ids.has(id)) problems.push(`${id} missing`);
  for (const id of expect.no_expect_ids ?? []) if (ids.has(id)) problems.push(`${id} fired`);
  if (expect.expect_no_ids_at_all === true && ids.size > 0) problems.push('an id fired');
  if (expect.log_regex !== undefined && !new RegExp(expect.log_regex).test(log)) {
    problems.push(`log lacks ${expect.log_regex}`);
  }
  if (expect.no_log_regex !== undefined && new RegExp(expect.no_log_regex).test(log)) {
    problems.push(`log has ${expect.no_log_regex}`);
  }
  if (problems.length === 0) return { result: 'pass', detail: '' };
  const fired = [...ids].join(' ');
  return { result: 'fail', detail: `${stage.title}: ${problems.join('; ')} (fired: ${fired})` };
}
