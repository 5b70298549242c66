/**
 * The differential bed: draws requests, has every backend read them and the rule engine inspect
 * them, and collects what was read and not inspected. A seed names each request.
 */

import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ByteString } from '../../base/byte-string.ts';
import { type Dice, startDice } from '../agree/random-changes.ts';
import { corpusRoot } from '../seclang/corpus.ts';
import type { Backend } from './backends.ts';
import { drawContentType } from './content-type-grammar.ts';
import { InspectedUnder, type Inspection } from './inspected.ts';
import { disagreement, uninspected } from './judge.ts';
import { drawMultipart } from './multipart-grammar.ts';
import { drawCookies, drawForm, drawJson, drawXml } from './other-grammar.ts';
import type { BedRequest, Reading, RequestKind } from './request.ts';

/** What grammars are named by. */
export type GrammarName = RequestKind | 'content type';

/** One grammar a kind, in the order of the report; Content-Type lines have one of their own. */
export const grammars: Readonly<Record<GrammarName, (dice: Dice) => BedRequest>> = {
  multipart: drawMultipart,
  'content type': drawContentType,
  form: drawForm,
  json: drawJson,
  xml: drawXml,
  cookie: drawCookies,
};

/** What came of one kind of requests. */
export interface BedResult {
  /** By template. */
  readonly refused: ReadonlyMap<string, number>;
  /** Readings compared, by backend. */
  readonly readings: ReadonlyMap<string, number>;
  readonly differences: readonly string[];
  /** Requests that a backend never answered, and whose reading is therefore empty. */
  readonly unanswered: readonly string[];
}

const batchMax = 100;
const reportedMax = 20;
const debianRules = '/usr/share/modsecurity-crs/rules';
const crs4Rules = path.join(corpusRoot, 'crs/4.28.0/rules');

/** The templates to inspect under, each with the versions of CRS that are here. */
export async function startInspectors(): Promise<Map<string, InspectedUnder>> {
  const started = new Map<string, InspectedUnder>();
  for (const [version, rules] of [
    ['3.3.4', debianRules],
    ['4.28.0', crs4Rules],
  ] as const) {
    if (!existsSync(rules)) continue;
    for (const template of ['light', 'standard', 'strict']) {
      const inspector = await InspectedUnder.start(`template-${template}`, version, rules);
      started.set(`${template}, CRS ${version}`, inspector);
    }
  }
  return started;
}

/**
 * Draws `count` requests of a kind from `seed` on and compares. Where backends are `missing`,
 * nobody knows what all read alike: one that is not there may refuse it.
 */
export async function runBed(
  kind: GrammarName,
  seed: number,
  count: number,
  backends: readonly Backend[],
  inspectors: ReadonlyMap<string, InspectedUnder>,
  missing: readonly string[] = [],
): Promise<BedResult> {
  const draw = grammars[kind];
  const requests = function* (): Generator<[string, BedRequest]> {
    for (let i = 0; i < count; i++) yield [`${kind} ${seed + i}`, draw(startDice(seed + i))];
  };
  const judged = missing.length === 0 ? 'all' : 'differing';
  const alike = kind === 'content type' ? judged : 'none';
  return compareAll(requests(), backends, inspectors, alike);
}

/** What is judged of readings beside each other. */
type Alike = 'none' | 'differing' | 'all';

/**
 * Compares requests that have names; `alike`: also whether the product's own rules refuse what
 * backends read differently (`differing`), and take what all read alike (`all`).
 */
export async function compareAll(
  requests: Iterable<readonly [name: string, request: BedRequest]>,
  backends: readonly Backend[],
  inspectors: ReadonlyMap<string, InspectedUnder>,
  alike: Alike = 'none',
): Promise<BedResult> {
  const refused = new Map<string, number>();
  const readings = new Map<string, number>();
  const differences: string[] = [];
  const unanswered: string[] = [];
  let batch: (readonly [string, BedRequest])[] = [];
  const compareBatch = async (): Promise<void> => {
    const inspected = [...inspectors].map(([name, inspector]): Inspected => {
      return [name, batch.map(([, request]) => inspector.inspect(request))];
    });
    const read: Reading[][] = [];
    const found = await Promise.all(
      backends.map((one) => compareWith(one, batch, inspected, unanswered, read)),
    );
    for (const lines of found) differences.push(...lines);
    if (alike !== 'none') differences.push(...compareBackends(read, batch, inspected, alike));
    for (const { name, kinds } of backends) {
      const taken = batch.filter(([, { kind }]) => kinds.includes(kind)).length;
      if (taken > 0) readings.set(name, (readings.get(name) ?? 0) + taken);
    }
    for (const [name, inspections] of inspected) {
      const more = inspections.filter((one) => one.refused).length;
      refused.set(name, (refused.get(name) ?? 0) + more);
    }
    batch = [];
  };
  for (const one of requests) {
    batch.push(one);
    if (batch.length === batchMax) await compareBatch();
  }
  if (batch.length > 0) await compareBatch();
  return { refused, readings, differences, unanswered };
}

/** What came of a batch under one policy, in the order of the batch. */
type Inspected = readonly [policy: string, inspections: readonly Inspection[]];

async function compareWith(
  backend: Backend,
  batch: readonly (readonly [string, BedRequest])[],
  inspected: readonly Inspected[],
  unanswered: string[],
  read: Reading[][],
): Promise<string[]> {
  const found = await Promise.all(
    batch.map(async ([name, request], at) => {
      if (!backend.kinds.includes(request.kind)) return [];
      const reading = await backend.read(request);
      (read[at] ??= []).push(reading);
      if (!reading.answered) unanswered.push(`${backend.name}, ${name}`);
      return inspected.flatMap(([policy, inspections]) => {
        const lines = uninspected(reading, inspections[at]!);
        if (lines.length === 0) return [];
        return [`${backend.name}, ${policy}, ${name}: ${lines.join(', ')} of ${show(request)}`];
      });
    }),
  );
  return found.flat();
}

/** No boundary of RFC 2046: it has a backslash, or more than 70 characters. */
const noBoundary = /boundary=(?:"[^"]*\\|"[^"]{71}|[^";\s]{71})/i;

function contentTypeOf({ headers }: BedRequest): ByteString {
  return headers.find(([name]) => name === 'Content-Type')?.[1] ?? '';
}

/** Under each policy: what the backends make of a request together. */
function compareBackends(
  read: readonly (readonly Reading[])[],
  batch: readonly (readonly [string, BedRequest])[],
  inspected: readonly Inspected[],
  alike: Alike,
): string[] {
  return batch.flatMap(([name, request], at) =>
    inspected.flatMap(([policy, inspections]) => {
      const complete = alike === 'all' && !noBoundary.test(contentTypeOf(request));
      const line = disagreement(read[at] ?? [], inspections[at]!, complete);
      return line === null ? [] : [`${policy}, ${name}: ${line}: ${show(request)}`];
    }),
  );
}

function show({ target, headers, body }: BedRequest): string {
  return JSON.stringify([target, headers, body.toString('latin1')]);
}

/** The first differences and the counts, as they are printed. */
export function describeResult(kind: string, seed: number, result: BedResult): string {
  const counts = [...result.readings].map(([name, count]) => `${name} ${count}`).join(', ');
  const refused = [...result.refused].map(([name, count]) => `${count} (${name})`).join(', ');
  const { differences } = result;
  return [
    `${kind}, seed ${seed}: ${differences.length} differences; read by ${counts}`,
    `  refused: ${refused}; never answered: ${result.unanswered.join(', ') || 'none'}`,
    ...differences.slice(0, reportedMax),
  ].join('\n');
}
