/**
 * Runs one libmodsecurity regression case: link its rules, run its exchange through the
 * oracle, compare what is portable. Cases and the files that rules name are handed in.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import { systemClock } from '../../../../base/clock.ts';
import type { BodySnapshot } from '../../../contract/message.ts';
import type { RuleCatalog } from '../../features/catalog.ts';
import type { RulePorts } from '../../transaction/ports.ts';
import { formatErrorLogLine } from '../../transaction/report.ts';
import type { Program, ProgramSettings } from '../../transaction/types.ts';
import { loadSourceSet, type ReadFiles, type SourceFile } from '../../language/include.ts';
import { buildProgram, closeProgram } from '../../program/build-program.ts';
import { evaluateTransaction, type Exchange, type OracleResult } from '../evaluate.ts';
import { makeBody, makeConnection, makeRequest, makeResponse } from './exchange.ts';

/** A case as the corpus writes it. */
export interface ModsecCase {
  readonly title: string;
  readonly file: string;
  readonly enabled: boolean;
  readonly client: { readonly ip?: string; readonly port?: number };
  readonly server: { readonly ip?: string; readonly port?: number };
  readonly request: {
    readonly method: string;
    readonly uri: string;
    readonly http_version: string;
    readonly headers: readonly [string, string][];
    readonly body_b64?: string;
  };
  readonly response: {
    readonly headers: readonly [string, string][];
    readonly body_b64?: string;
    readonly protocol?: string;
  };
  readonly rules: string;
  readonly expected: {
    readonly http_code?: number;
    readonly debug_log?: string;
    readonly error_log?: string;
    readonly parser_error?: string;
    readonly redirect_url?: string;
  };
  readonly needs?: readonly string[];
  readonly resource?: string;
}

/** What came of a case. */
export interface ModsecOutcome {
  readonly result: 'pass' | 'fail' | 'skip';
  /** Why it failed or is out of scope; empty when it passed. */
  readonly detail: string;
  /** False where a log text is libmodsecurity's own wording and only the status was judged. */
  readonly logsJudged: boolean;
}

/** Files that rules name, by path as written: content as bytes. */
export type ConformanceFiles = ReadonlyMap<string, ByteString>;

const ports: RulePorts = {
  clock: systemClock,
  collections: null,
  geo: null,
  rbl: null,
  env: new Map([['PATH', '/usr/bin']]),
};

/** Runs one case. Never throws for what rules or traffic hold. */
export function runModsecCase(
  test: ModsecCase,
  catalog: RuleCatalog,
  files: ConformanceFiles,
): ModsecOutcome {
  const outside = outOfScope(test);
  if (outside !== null) return { result: 'skip', detail: outside, logsJudged: false };
  const { program, problem } = linkRules(test, catalog, files);
  const refuses = (test.expected.parser_error ?? '') !== '';
  if (program === null) {
    return outcome(refuses ? [] : [`does not load: ${problem}`], true);
  }
  if (refuses) {
    closeProgram(program);
    return outcome([`loads, expected ${test.expected.parser_error}`], true);
  }
  const notes: ByteString[] = [];
  const { exchange, refused } = limitBodies(makeExchange(test), program.settings);
  const result = evaluateTransaction(program, exchange, ports, (level, text) =>
    notes.push(`[${level}] ${text()}`),
  );
  closeProgram(program);
  return judge(test, result, refused, notes.join('\n'));
}

/** A case's program and exchange, for engines that are compared; null where it has none. */
export function prepareModsecCase(
  test: ModsecCase,
  catalog: RuleCatalog,
  files: ConformanceFiles,
): { program: Program; exchange: Exchange } | null {
  if (outOfScope(test) !== null) return null;
  const { program } = linkRules(test, catalog, files);
  if (program === null) return null;
  return { program, exchange: limitBodies(makeExchange(test), program.settings).exchange };
}

/** What the product leaves out on purpose; null when the case counts. */
function outOfScope(test: ModsecCase): string | null {
  if (!test.enabled) return 'disabled in its source';
  const needs = test.needs ?? [];
  if (needs.includes('lua') || test.resource === 'lua') return 'Lua scripts';
  if (needs.includes('network') || test.resource === 'curl')
    return 'fetches rules over the network';
  if (needs.includes('geoip')) return 'needs a GeoIP City database';
  if (test.resource === 'ssdeep') return 'fuzzy hashes';
  if (/@(?:validateSchema|validateDTD)/i.test(test.rules)) return 'XML Schema and DTD validation';
  if (/@inspectFile/i.test(test.rules)) return 'runs a script over uploads';
  if (/SecXMLExternalEntity\s+On/i.test(test.rules)) return 'external XML entities';
  return null;
}

/** Where a case says nothing, libmodsecurity reads bodies, runs the rules and acts on nothing. */
const unstatedSettings = `
SecRuleEngine DetectionOnly
SecRequestBodyAccess On
SecRequestBodyLimitAction ProcessPartial
SecResponseBodyAccess On
SecResponseBodyLimitAction ProcessPartial
`;

function linkRules(
  test: ModsecCase,
  catalog: RuleCatalog,
  files: ConformanceFiles,
): { program: Program | null; problem: string } {
  const engine: SourceFile = { path: 'engine.conf', text: unstatedSettings };
  const rules: SourceFile = { path: `${test.file}.json`, text: encode(test.rules) };
  const source = loadSourceSet([engine, rules], findFiles(files));
  const read = (name: ByteString): ByteString | null => files.get(name) ?? null;
  const { program, diagnostics } = buildProgram(source, catalog, read);
  const error = diagnostics.find(({ severity }) => severity === 'error');
  return { program, problem: error ? `${error.code}: ${error.message}` : '' };
}

/** Files by the path as written, else beside the including file. */
function findFiles(files: ConformanceFiles): ReadFiles {
  return (pattern, fromFile) => {
    const folder = fromFile.slice(0, fromFile.lastIndexOf('/') + 1);
    for (const wanted of [pattern, folder + pattern]) {
      const escaped = wanted.replace(/[.+^${}()|[\]\\]/g, '\\$&');
      const regex = new RegExp(`^${escaped.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}$`);
      const found = [...files].filter(([path]) => regex.test(path));
      if (found.length > 0) return found.map(([path, text]) => ({ path, text }));
    }
    return [];
  };
}

function makeExchange(test: ModsecCase): Exchange {
  const { request, response, client, server } = test;
  const connection = makeConnection({
    ...(client.ip === undefined ? {} : { clientIp: client.ip, peerIp: client.ip }),
    ...(client.port === undefined ? {} : { clientPort: client.port }),
    ...(server.ip === undefined ? {} : { serverIp: server.ip }),
    ...(server.port === undefined ? {} : { serverPort: server.port }),
  });
  const protocol = `HTTP/${request.http_version}`;
  return {
    request: makeRequest(
      encode(request.method),
      encode(request.uri),
      protocol,
      encodePairs(request.headers),
      connection,
    ),
    requestBody: makeBody(decodeBody(request.body_b64)),
    response: makeResponse(200, response.protocol ?? 'HTTP/1.1', encodePairs(response.headers)),
    responseBody: makeBody(decodeBody(response.body_b64)),
  };
}

/** What the front does to bodies above their limit: cut them off, or refuse the message. */
function limitBodies(
  exchange: Exchange,
  settings: ProgramSettings,
): { exchange: Exchange; refused: boolean } {
  const request = limitBody(exchange.requestBody, settings.requestBodyLimitBytes);
  const response = limitBody(exchange.responseBody, settings.responseBodyLimitBytes);
  const refuses =
    (request?.truncated === true && settings.requestBodyLimitAction === 'reject') ||
    (response?.truncated === true && settings.responseBodyLimitAction === 'reject');
  return {
    exchange: { ...exchange, requestBody: request, responseBody: response },
    refused: refuses && settings.engine === 'on',
  };
}

function limitBody(body: BodySnapshot | null, limitBytes: number): BodySnapshot | null {
  if (body === null || body.bytes.length <= limitBytes) return body;
  return { bytes: body.bytes.subarray(0, limitBytes), truncated: true };
}

function judge(
  test: ModsecCase,
  result: OracleResult,
  refused: boolean,
  notes: ByteString,
): ModsecOutcome {
  const { expected } = test;
  const problems: string[] = [];
  // The front answers 413 or 502 to what is too large, libmodsecurity 403: both refuse.
  const status = refused ? 403 : statusOf(result);
  const wanted = expected.http_code ?? 200;
  if (status !== wanted) problems.push(`status ${status}, expected ${wanted}`);
  if (expected.redirect_url !== undefined && result.verdict.location !== expected.redirect_url) {
    problems.push(`redirects to ${String(result.verdict.location)}`);
  }
  const errorLog = result.matchedRules
    .filter(({ log }) => log)
    .map((rule) => formatErrorLogLine(rule, result.transaction, status))
    .join('\n');
  const logs: readonly [string, string | undefined, ByteString, RegExp][] = [
    ['error_log', expected.error_log, errorLog, portableErrorText],
    ['debug_log', expected.debug_log, notes, portableDebugText],
  ];
  let logsJudged = true;
  for (const [name, pattern, text, portable] of logs) {
    if (pattern === undefined || pattern === '') continue;
    if (!portable.test(pattern)) logsJudged = false;
    else if (!matchesLog(pattern, text)) problems.push(`${name} lacks ${pattern}`);
  }
  return outcome(problems, logsJudged);
}

/** Texts of the error log that tell what matched; `o1,2v3,4` (offsets) is libmodsecurity's own. */
const portableErrorText =
  /^(?!.*[ov]\d+,\d+)(?=.*(?:against variable|Value: |msg |Msg|LogData|line |Access denied))/s;

/** Texts of the debug log that the oracle's notes have too. */
const portableDebugText = new RegExp(
  [
    'Target value',
    'Rule returned',
    't:\\w+: ',
    'Executing operator',
    'Executing unconditional rule',
    'Saving msg',
    'Rule tag',
    'Added regex subexpression',
    'Added DetectSQLi match',
    'ruleRemoveBy',
    "skip\\\\?' action",
    'Running action deny',
    'Dropping the evaluation',
    'Rule engine disabled',
  ].join('|'),
);

/** The corpus's regexes search over line ends; TX names come in lower case here. */
function matchesLog(pattern: string, text: ByteString): boolean {
  try {
    return new RegExp(pattern, 'is').test(text) || text.includes(pattern);
  } catch {
    return text.includes(pattern);
  }
}

function statusOf(result: OracleResult): number {
  const { action, status } = result.verdict;
  if (action === 'pass') return 200;
  return action === 'drop' ? 403 : status;
}

function outcome(problems: readonly string[], logsJudged: boolean): ModsecOutcome {
  return problems.length === 0
    ? { result: 'pass', detail: '', logsJudged }
    : { result: 'fail', detail: problems.join('; '), logsJudged };
}

function decodeBody(base64: string | undefined): Uint8Array | null {
  return base64 === undefined || base64 === '' ? null : Buffer.from(base64, 'base64');
}

function encodePairs(pairs: readonly [string, string][]): [ByteString, ByteString][] {
  return pairs.map(([name, value]) => [encode(name), encode(value)]);
}

function encode(text: string): ByteString {
  return Buffer.from(text, 'utf8').toString('latin1');
}
