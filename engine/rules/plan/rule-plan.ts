/**
 * The RulePlan: what one thread needs to run a policy. Joins the folded program, the compiled
 * databases and the native scan program; a plan is immutable and is closed when its generation
 * ends.
 */

import type { Logger } from '../../base/log.ts';
import { runAtOnce, type Steps } from '../../base/steps.ts';
import type { ByteString } from '../../base/byte-string.ts';
import { createScanProgram, HsDatabase } from '../../match/scan.ts';
import type {
  ScanClass as ScanClassSpec,
  ScanRowPart,
  ScanProgram,
  ScanTest as ScanTestSpec,
} from '../../match/scan.ts';
import type { DatabaseImage, SharedGroup } from '../../contract/databases.ts';
import type { RulePorts } from '../transaction/ports.ts';
import type { Program, ProgramItem, ProgramSettings, Rule } from '../transaction/types.ts';
import { compileGroup, markupFreeMask, plainMask, shareGroup } from './databases.ts';
import type { CompiledGroup, DatabaseCache } from './databases.ts';
import { foldProgram } from './fold.ts';
import type { FoldedPhase, FoldedProgram } from './fold.ts';
import { analyzeRules, type StaticAnalysis } from './static-analysis.ts';
import { prefilterFacts, isLoose } from './prefilter-choice.ts';
import type { PrefilterFacts } from './prefilter-choice.ts';
import { readsLastCapture, usesMatches } from './liveness.ts';
import { draftScan, rowPartCount, patternId, rulesLeftOut } from './scan-draft.ts';
import type { ScanClass, ScanDraft, ScanPattern } from './scan-draft.ts';

/** One phase in running order. */
export interface PhasePlan {
  /** Rules and markers; the index is the item's bit. */
  readonly items: readonly ProgramItem[];
  /** Bit set of the rules that run whatever was scanned. */
  readonly always: Uint32Array;
  /** Items behind the markers of each name, ascending. */
  readonly markers: ReadonlyMap<string, readonly number[]>;
}

/** Which scan classes look at one part of a row. */
export interface RowPartPlan {
  /** Classes for any key. */
  readonly anyKey: readonly number[];
  /** Classes by lower-case key; null when no rule selects by key. */
  readonly byKey: ReadonlyMap<ByteString, readonly number[]> | null;
}

/** A policy in the form that runs; immutable. */
export interface RulePlan {
  readonly settings: ProgramSettings;
  readonly txBase: ReadonlyMap<string, ByteString>;
  /** Index 1..5; 0 is empty. */
  readonly phases: readonly PhasePlan[];
  /** Indexed by row part id. */
  readonly rowParts: readonly RowPartPlan[];
  readonly scan: ScanProgram | null;
  /** Per scan target: phase and item index of its rule. */
  readonly targetPhase: Uint8Array;
  readonly targetItem: Int32Array;
  /** Per rule index: its scan target id, -1 for rules that are not scanned for. */
  readonly targetIdOfRule: Int32Array;
  /** Per scan target: 1 when a hit says that its rule cannot match. */
  readonly negative: Uint8Array;
  /** Per scan target: 1 when the rule matches at most on the rows that were hit. */
  readonly onRows: Uint8Array;
  /** Per scan target: 1 when a hit is a match: an exact scan, and captures wait for the last. */
  readonly hitIsMatch: Uint8Array;
  /** Per scan target: 1 when only what the last match captured is ever read. */
  readonly lastCaptures: Uint8Array;
  /** Per rule index, of first links: 1 when no rule reads what its links matched. */
  readonly unobservedMatch: Uint8Array;
  readonly analysis: StaticAnalysis;
  readonly facts: PlanFacts;
  /** Frees databases and operators; the plan must not be used again. */
  close(): void;
}

/** Figures about a plan, for logs and reports. */
export interface PlanFacts {
  readonly rules: number;
  readonly foldedRules: number;
  readonly scannedRules: number;
  readonly alwaysRules: number;
  readonly databases: number;
  readonly databaseBytes: number;
}

/** What planning needs from outside. */
export interface PlanOptions {
  readonly cache: DatabaseCache;
  readonly log: Logger;
  readonly ports: RulePorts;
  /** Called before each database group is made ready. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** The part of planning that is the same for every thread. */
interface PlanDraft {
  readonly folded: FoldedProgram;
  readonly prefilter: PrefilterFacts;
  readonly draft: ScanDraft;
  readonly groups: readonly CompiledGroup[];
}

/** Builds the plan of `program`. Cost: seconds when databases are not cached, else some 10 ms. */
export function buildPlan(program: Program, options: PlanOptions): RulePlan {
  return runAtOnce(buildPlanInSteps(program, options));
}

/** As `buildPlan`, in steps of some milliseconds at most where databases are shared or cached. */
export function* buildPlanInSteps(program: Program, options: PlanOptions): Steps<RulePlan> {
  return yield* assemble(program, yield* draftPlan(program, options));
}

/**
 * Makes the databases of `program` ready, in the cache and in shared memory by key; meant for a
 * thread of its own. Cost: as `buildPlan`, and their memory once more.
 */
export function shareDatabases(
  program: Program,
  options: PlanOptions,
): ReadonlyMap<string, SharedGroup> {
  const { draft, groups } = runAtOnce(draftPlan(program, options));
  return new Map(draft.groups.map((group, i) => shareGroup(group, groups[i]!)));
}

function* draftPlan(program: Program, options: PlanOptions): Steps<PlanDraft> {
  const folded = foldProgram(program, options.ports);
  yield;
  const kept = folded.phases.map(({ items, kept }) => items.filter((_, i) => kept[i]));
  const facts = prefilterFacts(kept, folded);
  yield;
  const widest = draftScan(kept, facts);
  yield;
  const excluded = rulesLeftOut(widest);
  for (;;) {
    yield;
    const draft = draftScan(kept, facts, excluded);
    const groups: CompiledGroup[] = [];
    for (const [i, group] of draft.groups.entries()) {
      yield;
      options.onProgress?.(i, draft.groups.length);
      groups.push(compileGroup(group, options.cache, options.log));
    }
    options.onProgress?.(draft.groups.length, draft.groups.length);
    const before = excluded.size;
    for (const rule of unscannable(draft, groups)) excluded.add(rule);
    if (excluded.size === before) return { folded, prefilter: facts, draft, groups };
  }
}

/** Rules whose expression was refused, or is only approximate where exactness is needed. */
function unscannable(draft: ScanDraft, groups: readonly CompiledGroup[]): Set<Rule> {
  const rules = new Set<Rule>();
  for (const group of groups) {
    group.expressions.forEach(({ pattern }, id) => {
      const mode = group.modes[id];
      if (mode === 'refused' || (mode === 'prefilter' && pattern.negated)) {
        rules.add(draft.targets[pattern.targetId]!.rule);
      }
    });
  }
  return rules;
}

/** Scan classes by lower-case key. */
type ClassesByKey = Map<ByteString, number[]>;

function* assemble(program: Program, plan: PlanDraft): Steps<RulePlan> {
  const { folded, draft, groups } = plan;
  const databases: HsDatabase[] = [];
  const classes: ScanClassSpec[] = [];
  const trie = new ChainTrie();
  const anyKey: number[][] = Array.from({ length: rowPartCount }, () => []);
  const byKey: (ClassesByKey | null)[] = Array.from({ length: rowPartCount }, () => null);
  for (const [g, group] of draft.groups.entries()) {
    yield;
    const compiled = groups[g]!;
    const load = (image: DatabaseImage | null): number => {
      return image ? databases.push(openDatabase(image)) - 1 : -1;
    };
    const tiers = compiled.tiers.map(({ allowedMask, database, lines }) => {
      return { allowedMask, database: load(database), lines: load(lines) };
    });
    for (const scanClass of group.classes) {
      const id = classes.push(classSpec(scanClass, compiled, tiers, trie)) - 1;
      if (scanClass.key === null) anyKey[scanClass.rowPart]!.push(id);
      else {
        const keys = (byKey[scanClass.rowPart] ??= new Map());
        keys.set(scanClass.key, [...(keys.get(scanClass.key) ?? []), id]);
      }
    }
  }
  yield;
  const scan =
    classes.length > 0
      ? createScanProgram({
          nodes: trie.nodes(),
          databases,
          classes,
          rowParts: byKey.map((keys, rowPart) => rowPartSpec(anyKey[rowPart]!, keys)),
          ...(program.settings.unicodeMap ? { unicodeMap: program.settings.unicodeMap } : {}),
        })
      : null;
  const targetIdOfRule = new Int32Array(program.rules.length).fill(-1);
  draft.targets.forEach(({ rule, negative }, targetId) => {
    if (!negative) targetIdOfRule[rule.index] = targetId;
  });
  const phases = folded.phases.map((phase) => planPhase(phase, targetIdOfRule));
  const { targetPhase, targetItem } = locateTargets(phases, draft);
  yield;
  return {
    settings: program.settings,
    txBase: folded.txBase,
    phases,
    rowParts: byKey.map((keys, rowPart) => ({ anyKey: anyKey[rowPart]!, byKey: keys })),
    scan,
    targetPhase,
    targetItem,
    targetIdOfRule,
    negative: Uint8Array.from(draft.targets, ({ negative }) => Number(negative)),
    onRows: Uint8Array.from(draft.targets, ({ condition }) => Number(condition.onRows)),
    hitIsMatch: exactTargets(draft, groups),
    lastCaptures: Uint8Array.from(draft.targets, ({ rule }) => Number(readsLastCapture(rule))),
    unobservedMatch: unobservedMatches(program, plan.prefilter),
    analysis: analyzeRules(phases, program.rules, targetIdOfRule, !plan.prefilter.matchesLive),
    facts: {
      rules: program.rules.filter((rule) => rule.id !== 0).length,
      foldedRules: folded.foldedRules,
      scannedRules: draft.targets.filter(({ negative }) => !negative).length,
      alwaysRules: phases.reduce((n, phase) => n + countBits(phase.always), 0),
      databases: databases.length,
      databaseBytes: databases.reduce((n, database) => n + database.sizeBytes, 0),
    },
    close: closer(program, databases, scan),
  };
}

function unobservedMatches({ rules }: Program, prefilter: PrefilterFacts): Uint8Array {
  return Uint8Array.from(rules, (rule) => Number(!prefilter.matchesLive && !usesMatches(rule)));
}

function rowPartSpec(
  anyKey: readonly number[],
  byKey: ReadonlyMap<ByteString, readonly number[]> | null,
): ScanRowPart {
  const named = [...(byKey ?? [])].map(([key, classes]) => {
    return { key, classes: Int32Array.from(classes) };
  });
  return { classes: Int32Array.from(anyKey), named };
}

function openDatabase(image: DatabaseImage): HsDatabase {
  if (image instanceof SharedArrayBuffer) return HsDatabase.attach(image);
  return HsDatabase.deserialize(image);
}

/**
 * In a scope of its own: a closure inside `assemble` would keep the databases' file bytes alive.
 */
function closer(
  program: Program,
  databases: readonly HsDatabase[],
  scan: ScanProgram | null,
): () => void {
  return () => {
    scan?.close();
    for (const database of databases) database.close();
    for (const rule of program.rules) rule.operator?.close?.();
  };
}

function classSpec(
  scanClass: ScanClass,
  compiled: CompiledGroup,
  tiers: ScanClassSpec['tiers'],
  trie: ChainTrie,
): ScanClassSpec {
  const own = new Set(scanClass.patterns.map(patternId));
  const chains: string[] = [];
  const chainIndex = (chain: string): number => {
    const known = chains.indexOf(chain);
    return known >= 0 ? known : chains.push(chain) - 1;
  };
  const patterns = new Int32Array(compiled.expressions.length * 3);
  compiled.expressions.forEach(({ pattern }, id) => {
    const mine = own.has(patternId(pattern)) && compiled.modes[id] !== 'refused';
    patterns[id * 3] = mine ? pattern.targetId : -1;
    patterns[id * 3 + 1] = mine ? chainIndex(pattern.chain) : 0;
    patterns[id * 3 + 2] = mine && pattern.negated ? 1 : 0;
  });
  const tests = scanClass.patterns.flatMap((pattern) => testSpec(pattern, chainIndex));
  const nodes = Int32Array.from(chains, (chain) => trie.nodeOf(chain));
  return { chains: nodes, patterns, tiers, tests };
}

function testSpec(pattern: ScanPattern, chainIndex: (chain: string) => number): ScanTestSpec[] {
  const { filter, targetId, negated } = pattern;
  if (filter.kind === 'pattern' || filter.kind === 'words') return [];
  const chain = chainIndex(pattern.chain);
  const base = { chain, targetId, negated };
  switch (filter.kind) {
    case 'byteRange':
      return [{ ...base, kind: 'byteRange', table: filter.allowed, skipMask: 0 }];
    case 'present':
    case 'within':
    case 'number':
      return [{ ...base, ...filter, skipMask: 0 }];
    case 'xss':
      return [{ ...base, kind: 'xss', skipMask: negated ? 0 : markupFreeMask }];
    case 'sqli':
    case 'urlEncoding':
    case 'utf8':
      return [{ ...base, kind: filter.kind, skipMask: negated ? 0 : plainMask }];
  }
}

/**
 * The transformation trie: node 0 is the value itself, every other node one step behind its parent.
 */
class ChainTrie {
  private readonly pairs: number[] = [-1, -1];
  private readonly known = new Map<string, number>([['', 0]]);

  nodeOf(chain: string): number {
    const found = this.known.get(chain);
    if (found !== undefined) return found;
    const cut = chain.lastIndexOf(',');
    const parent = this.nodeOf(cut < 0 ? '' : chain.slice(0, cut));
    const node = this.pairs.length / 2;
    this.pairs.push(parent, Number(chain.slice(cut + 1)));
    this.known.set(chain, node);
    return node;
  }

  nodes(): Int32Array {
    return Int32Array.from(this.pairs);
  }
}

/** Scan targets whose every expression was compiled exactly and whose matches need no captures. */
function exactTargets(draft: ScanDraft, groups: readonly CompiledGroup[]): Uint8Array {
  const exact = Uint8Array.from(draft.targets, ({ rule, condition }) => {
    if (!condition.onRows || isLoose(condition.filter)) return 0;
    const captures = rule.capture && !readsLastCapture(rule);
    return captures || rule.multiMatch || rule.negated ? 0 : 1;
  });
  for (const { expressions, modes } of groups) {
    expressions.forEach(({ pattern }, id) => {
      if (modes[id] !== 'exact' || isLoose(pattern.filter)) exact[pattern.targetId] = 0;
    });
  }
  return exact;
}

function planPhase({ items, kept }: FoldedPhase, targetIdOfRule: Int32Array): PhasePlan {
  const always = new Uint32Array((items.length + 31) >>> 5);
  const markers = new Map<string, number[]>();
  items.forEach((item, index) => {
    if (item.kind === 'marker') {
      markers.set(item.name, [...(markers.get(item.name) ?? []), index + 1]);
    } else if (kept[index] && targetIdOfRule[item.index]! < 0)
      always[index >>> 5]! |= 1 << (index & 31);
  });
  return { items, always, markers };
}

function locateTargets(
  phases: readonly PhasePlan[],
  { targets }: ScanDraft,
): { targetPhase: Uint8Array; targetItem: Int32Array } {
  const targetPhase = new Uint8Array(targets.length);
  const targetItem = new Int32Array(targets.length);
  const places = new Map<ProgramItem, { phase: number; item: number }>();
  phases.forEach((phase, number) => {
    phase.items.forEach((one, item) => places.set(one, { phase: number, item }));
  });
  targets.forEach(({ rule }, targetId) => {
    const { phase, item } = places.get(rule)!;
    targetPhase[targetId] = phase;
    targetItem[targetId] = item;
  });
  return { targetPhase, targetItem };
}

function countBits(words: Uint32Array): number {
  let count = 0;
  for (let word of words) for (; word !== 0; word &= word - 1) count++;
  return count;
}
