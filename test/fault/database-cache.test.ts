/**
 * Tests of the cache of compiled databases and plans when its files are damaged, foreign or cannot
 * be written.
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
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { runAtOnce } from '../../base/steps.ts';
import type { KeyedPolicy, PolicySource } from '../../engine/contract/policy.ts';
import { planName, type SharedImages } from '../../engine/contract/shared-images.ts';
import {
  buildEngine,
  buildEngineInSteps,
  keptPolicy,
  PolicyError,
  planPolicy,
  type BuildOptions,
} from '../../engine/policies/policy-build.ts';
import { Planner } from '../../engine/rollout/planner.ts';
import { makeConnection, makeRequest } from '../../engine/rules/oracle/conformance/exchange.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { DatabaseFiles } from '../../engine/state/database-files.ts';
import { planningBuild } from '../../engine/threads/planning-build.ts';
import { threadParts } from '../../engine/threads/thread-parts.ts';
import type { ThreadSettings } from '../../engine/threads/thread-settings.ts';
import { fixedPorts } from '../fuzz/compare-engines.ts';
import { root } from '../support/product.ts';

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
  const blocks = blocksOnly(word, engine);
  engine.retire();
  return { blocks, log };
}

function blocksOnly(word: string, engine: PolicyEngine): boolean {
  const ask = (target: string): string => {
    const request = makeRequest('GET', target, 'HTTP/1.1', [['Host', 'a']], makeConnection());
    const session = engine.open(request);
    const { action } = session.requestHead();
    session.finish();
    return action;
  };
  return ask(`/?q=${word}7`) === 'block' && ask('/?q=nothing') === 'pass';
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

/** A planner's cache in the folder, and what it logs; `build` stands for its code. */
function planner(build = 'one'): { options: BuildOptions; log: string[] } {
  const log: string[] = [];
  const logger = createLogger('test', 'warn', (line) => void log.push(line));
  const cache = new DatabaseFiles(folder, logger);
  return { options: { cache, log: logger, ports: fixedPorts, build }, log };
}

function keyed(word: string): KeyedPolicy {
  return { key: `key of ${word}`, source: policyFor(word) };
}

function planFile(): string {
  return entries().find((entry) => path.basename(entry).startsWith('plan-'))!;
}

function planOf(word: string, shared: SharedImages | null | undefined): SharedArrayBuffer {
  const image = shared?.get(planName(keyed(word).key));
  if (!image || !('plan' in image)) throw new Error('no plan');
  return image.plan;
}

test('a plan is kept: it is attached after a start without its policy being linked', () => {
  const { options, log } = planner();
  const made = planPolicy(keyed('attack'), options);
  const kept = keptPolicy(keyed('attack').key, planner().options)!;
  expect(kept.rules).toBe(1);
  expect(kept.diagnostics).toEqual(made.diagnostics);
  expect([...kept.shared!.keys()].toSorted()).toEqual([...made.shared!.keys()].toSorted());
  for (const [key, image] of made.shared!) {
    const again = kept.shared!.get(key)!;
    if ('modes' in image) expect(again).toMatchObject({ modes: image.modes });
  }
  const plan = planOf('attack', kept.shared);
  expect(Buffer.from(plan).equals(Buffer.from(planOf('attack', made.shared)))).toBe(true);
  const engine = runAtOnce(buildEngineInSteps(policyFor('attack'), options, plan));
  expect(blocksOnly('attack', engine)).toBe(true);
  engine.retire();
  expect(log).toEqual([]);
});

test('a plan of another build or another policy is not taken', () => {
  planPolicy(keyed('attack'), planner().options);
  expect(keptPolicy(keyed('attack').key, planner('two').options)).toBeNull();
  expect(keptPolicy(keyed('other').key, planner().options)).toBeNull();
  const { build: _, ...unnamed } = planner().options;
  expect(keptPolicy(keyed('attack').key, unnamed)).toBeNull();
});

test.each(damages)('a plan that is %s is made again, with a line in the log', (_, damage) => {
  planPolicy(keyed('attack'), planner().options);
  damage(planFile());
  const { options, log } = planner();
  expect(keptPolicy(keyed('attack').key, options)).toBeNull();
  expect(log.join('')).toContain('a kept plan is damaged or foreign');
  planPolicy(keyed('attack'), options);
  expect(keptPolicy(keyed('attack').key, options)?.rules).toBe(1);
});

test('a sound plan of another policy under this name is not taken', () => {
  planPolicy(keyed('attack'), planner().options);
  const attack = planFile();
  rmSync(attack);
  planPolicy(keyed('other'), planner().options);
  copyFileSync(planFile(), attack);
  const { options, log } = planner();
  expect(keptPolicy(keyed('attack').key, options)).toBeNull();
  expect(log.join('')).toContain('a kept plan is damaged or foreign');
});

test('a plan whose databases are gone is not taken', () => {
  planPolicy(keyed('attack'), planner().options);
  for (const entry of entries()) if (entry !== planFile()) rmSync(entry);
  expect(keptPolicy(keyed('attack').key, planner().options)).toBeNull();
});

test('a policy that does not link leaves no plan', () => {
  const wrong = { key: 'wrong', source: { ...policyFor('x'), seclangEntry: 'SecRule\n' } };
  expect(planPolicy(wrong, planner().options).shared).toBeNull();
  expect(entries()).toEqual([]);
});

test('a planner thread takes what the one before it planned', async () => {
  const settings = {
    cacheFolder: folder,
    collectionsFolder: path.join(folder, 'collections'),
    countryFile: '',
    logLevel: 'warn',
  };
  const entry = pathToFileURL(path.join(root, '.build', 'engine', 'threads', 'planner-thread.js'));
  const withPlanner = async <T>(work: (one: Planner) => Promise<T>): Promise<T> => {
    const one = new Planner({ entry, settings, onProgress: () => undefined });
    try {
      return await work(one);
    } finally {
      await one.close();
    }
  };
  const attack = keyed('attack');
  const first = await withPlanner((one) => one.plan(attack));
  expect(first).toMatchObject({ ok: true, rules: 1 });
  // Nobody reads the policy again: its text would not link.
  const unread = { ...attack, source: { ...attack.source, seclangEntry: 'SecRule\n' } };
  const second = await withPlanner((one) => one.plan(unread));
  expect(second).toMatchObject({ ok: true, rules: 1 });
  expect([...second.shared.keys()].toSorted()).toEqual([...first.shared.keys()].toSorted());
  expect(await withPlanner((one) => one.link(unread))).toMatchObject({ ok: true, rules: 1 });
  expect(await withPlanner((one) => one.plan({ ...unread, key: 'new' }))).toMatchObject({
    ok: false,
  });
});

test('a thread that serves takes for a first request what the run before it planned', () => {
  const settings: ThreadSettings = {
    place: 'inline',
    poolThreads: 1,
    sharedSocket: false,
    events: 'none',
    cacheFolder: folder,
    collectionsFolder: path.join(folder, 'collections'),
    countryFile: '',
    logLevel: 'error',
  };
  const attack = keyed('attack');
  planPolicy(attack, planner(planningBuild).options);
  // Its text is not read: it would not link.
  const unread = { ...attack, source: { ...attack.source, seclangEntry: 'SecRule\n' } };
  const engine = threadParts('front', settings).build(unread);
  expect(blocksOnly('attack', engine)).toBe(true);
  engine.retire();
  // Another code's plans are not for it.
  expect(() => threadParts('front', settings).build({ ...unread, key: 'new' })).toThrow(
    PolicyError,
  );
  rmSync(planFile());
  planPolicy(attack, planner('another').options);
  expect(() => threadParts('front', settings).build(unread)).toThrow(PolicyError);
});

function flipBit(file: string, share: number): void {
  const bytes = readFileSync(file);
  bytes[Math.floor(bytes.length * share)]! ^= 1;
  writeFileSync(file, bytes);
}
