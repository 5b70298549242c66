/**
 * Proves that what a request costs is bounded by its bytes: the costliest requests that the search
 * (`npm run bench:worst`) found, by the work that they make, counted. Times nothing.
 */

import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { render, type Candidate } from '../../bench/worst/candidate.ts';
import { measureOnce } from '../../bench/worst/measure.ts';
import { valueLimits } from '../../base/rule-limits.ts';
import { createLogger } from '../../base/log.ts';
import type { Program } from '../../engine/rules/transaction/types.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { DatabaseFiles } from '../../engine/state/database-files.ts';
import { crsSuites, loadCrs } from '../seclang/crs-run.ts';
import { compileAlone, databaseFolder } from '../support/databases.ts';
import { fastEngine } from './compare-engines.ts';

/** Times that a byte is scanned at most: each is looked at in several transformed shapes. */
const shapesMax = 12;
/**
 * Matches that the scanner tells: dozens of patterns for each of a thousand values; literals that
 * guard lines are one in ten bytes at most.
 */
const toldMax = (bytes: number): number => Math.max(80_000, bytes / 10);

const base: Candidate = {
  shape: 'json',
  items: 999,
  name: ['n'],
  nameBytes: 8,
  lead: '',
  value: ['a'],
  distinct: true,
  listed: false,
  depth: 0,
  encoded: false,
};

/** Found by the search; each cost more than its goal once. */
const found: readonly (readonly [title: string, bytes: number, candidate: Partial<Candidate>])[] = [
  ['a long name around a long list', 4_096, { listed: true, nameBytes: 2_000 }],
  ['the same in a larger document', 65_536, { listed: true, nameBytes: 2_000 }],
  ['long names inside each other', 65_536, { depth: 10, nameBytes: 190, items: 400 }],
  [
    'one value in which patterns match at every byte',
    1_048_576,
    { shape: 'form', items: 1, value: ['Find-Package', ':getrandmax', 'itychange'] },
  ],
  [
    'elements in which patterns match at every byte',
    1_048_576,
    { shape: 'xml', items: 50, value: ['secrets.yml', ':ut'], encoded: true },
  ],
  [
    'elements that nothing ends',
    1_048_576,
    { shape: 'xml', items: 50, value: ['<a>', '<b c="', '</d>', '<![CDATA['] },
  ],
  [
    'fields in which patterns match at every byte',
    1_048_576,
    { shape: 'multipart', items: 50, value: ['secrets.yml', ':debu'] },
  ],
  [
    'a thousand values that dozens of rules match',
    65_536,
    { shape: 'form', value: ["';exec xp_cmdshell 'id'--", '<script>', '/config/security.yml'] },
  ],
  [
    'the same as members of JSON',
    65_536,
    { items: 400, value: ['$', ':/.', '<?php system($_GET[1]);?>'] },
  ],
  [
    'cookies that are decoded in many ways',
    65_536,
    { shape: 'cookies', value: ['\r', ':connection', 'insert', '\\u0041'], encoded: true },
  ],
  [
    'values that hold names of secrets',
    65_536,
    { shape: 'form', items: 50, value: ['#{', 'password=', 'password=', '*/', 'py_'] },
  ],
];

for (const { name, place } of crsSuites) {
  const there = existsSync(place.setup);
  test.skipIf(!there)(`${name}: work is bounded by bytes`, { timeout: 900_000 }, async () => {
    const cache = new DatabaseFiles(databaseFolder, createLogger('fuzz', 'error'));
    const program: Program = loadCrs(place);
    const engine = await compileAlone(name, () => fastEngine(program, cache));
    const rows = found.map(([title, bytes, candidate], n) => {
      const work = workOf(engine, bytes, { ...base, ...candidate }, `s${n}`);
      return { title, ...work };
    });
    engine.retire();
    console.log(rows.map((row) => JSON.stringify(row)).join('\n'));
    expect(rows).toHaveLength(found.length);
    for (const { title, bytes, scanned, told } of rows) {
      expect(scanned, title).toBeGreaterThan(0);
      expect(scanned, title).toBeLessThan(shapesMax * (bytes + namesOf(bytes)));
      expect(told, title).toBeLessThan(toldMax(bytes));
    }
  });
}

/** What the names of a JSON document may take beside its own bytes. */
function namesOf(bytes: number): number {
  const { jsonNameBytesMin, jsonNamesPerByte, jsonNameBytesMax } = valueLimits;
  return Math.min(jsonNameBytesMax, jsonNameBytesMin + jsonNamesPerByte * bytes);
}

interface Work {
  readonly bytes: number;
  readonly scanned: number;
  readonly told: number;
}

function workOf(engine: PolicyEngine, size: number, candidate: Candidate, salt: string): Work {
  const exchange = render(candidate, size, salt);
  const before = engine.plan.scan!.stats();
  const cost = measureOnce(engine, exchange);
  expect(cost?.failure).toBe('');
  const after = engine.plan.scan!.stats();
  return {
    bytes: exchange.wire.length,
    scanned: after.bytes - before.bytes,
    told: after.matches - before.matches,
  };
}
