/**
 * Tests of the cache of compiled databases when its files are damaged, foreign or cannot be
 * written.
 */

import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLogger } from '../../base/log.ts';
import type { PolicySource } from '../../engine/contract/policy.ts';
import { buildEngine } from '../../engine/policies/policy-build.ts';
import { makeConnection, makeRequest } from '../../engine/rules/oracle/conformance/exchange.ts';
import { DatabaseFiles } from '../../engine/state/database-files.ts';
import { fixedPorts } from '../fuzz/compare-engines.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'waf-cache-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function policyFor(word: string): PolicySource {
  const seclangEntry = `SecRuleEngine On\nSecRule ARGS "@rx ${word}[0-9]" "id:1,phase:1,deny"\n`;
  return { id: 'p', name: 'p', revision: '1', seclangEntry, files: new Map() };
}

/** Builds the policy and asks it; what was logged and whether it blocks `word`. */
function buildAndAsk(word: string, where = folder): { blocks: boolean; log: string } {
  let log = '';
  const logger = createLogger('test', 'warn', (line) => (log += line));
  const cache = new DatabaseFiles(where, logger);
  const engine = buildEngine(policyFor(word), { cache, log: logger, ports: fixedPorts });
  const ask = (target: string): string => {
    const request = makeRequest('GET', target, 'HTTP/1.1', [['Host', 'a']], makeConnection());
    const session = engine.open(request);
    const { action } = session.requestHead();
    session.finish();
    return action;
  };
  const blocks = ask(`/?q=${word}7`) === 'block' && ask('/?q=nothing') === 'pass';
  engine.retire();
  return { blocks, log };
}

function entries(): string[] {
  return readdirSync(folder).map((name) => path.join(folder, name));
}

test('a warm start takes the entry and says nothing', () => {
  expect(buildAndAsk('attack')).toEqual({ blocks: true, log: '' });
  const [entry] = entries();
  const written = statSync(entry!).ino;
  expect(buildAndAsk('attack')).toEqual({ blocks: true, log: '' });
  expect(statSync(entry!).ino).toBe(written);
});

const damages: readonly [string, (entry: string) => void][] = [
  ['a flipped bit', (entry) => flipBit(entry, 0.5)],
  ['a flipped bit in the header', (entry) => flipBit(entry, 0.001)],
  ['a truncated file', (entry) => truncateSync(entry, Math.floor(statSync(entry).size / 2))],
  ['an empty file', (entry) => truncateSync(entry, 0)],
  ['text', (entry) => writeFileSync(entry, 'this is no database '.repeat(50))],
];

test.each(damages)('%s is compiled again, with a line in the log', (_, damage) => {
  buildAndAsk('attack');
  const [entry] = entries();
  damage(entry!);
  const { blocks, log } = buildAndAsk('attack');
  expect(blocks).toBe(true);
  expect(log).toContain('damaged or foreign');
  expect(buildAndAsk('attack')).toEqual({ blocks: true, log: '' });
});

test('a sound entry of other patterns under this name is not taken', () => {
  buildAndAsk('other');
  const [other] = entries();
  buildAndAsk('attack');
  const attack = entries().find((entry) => entry !== other)!;
  copyFileSync(other!, attack);
  const { blocks, log } = buildAndAsk('attack');
  expect(blocks).toBe(true);
  expect(log).toContain('damaged or foreign');
});

test('where nothing can be written the policy is still built', () => {
  let log = '';
  const logger = createLogger('test', 'warn', (line) => (log += line));
  const cache = new DatabaseFiles(folder, logger);
  // The folder goes away after the start, and a file takes its name.
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  const engine = buildEngine(policyFor('x'), { cache, log: logger, ports: fixedPorts });
  expect(engine.plan.facts.databases).toBeGreaterThan(0);
  engine.retire();
  expect(log).toContain('cannot store a compiled database');
});

function flipBit(file: string, share: number): void {
  const bytes = readFileSync(file);
  bytes[Math.floor(bytes.length * share)]! ^= 1;
  writeFileSync(file, bytes);
}
