/**
 * Makes a plan, once for all threads: folds the program, decides what is scanned for, has databases
 * compiled or taken from the cache, and writes all of it as an image.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { Logger } from '../../../base/log.ts';
import type { Steps } from '../../../base/steps.ts';
import { writeChain } from '../program/rule-text.ts';
import type { RulePorts } from '../transaction/ports.ts';
import type { Program, ProgramItem, RemovedRule, Rule } from '../transaction/types.ts';
import { cacheKey, compileGroups } from './databases.ts';
import { detected } from '../features/operators/detected.ts';
import type { CompiledGroup, DatabaseCache } from './databases.ts';
import { foldProgram } from './fold.ts';
import type { FoldedPhase, FoldedProgram } from './fold.ts';
import { readsLastCapture, showsLastMatches, usesMatches } from './liveness.ts';
import { firstMarker, foldedItem } from './plan-image.ts';
import type { PhaseImage, PlanImage } from './plan-image.ts';
import { prefilterFacts } from './prefilter-choice.ts';
import type { PrefilterFacts } from './prefilter-choice.ts';
import { draftScan, rulesLeftOut } from './scan-draft.ts';
import type { ScanDraft } from './scan-draft.ts';
import { drawScan, exactTargets } from './scan-image.ts';
import { analyzeRules } from './static-analysis.ts';

/** What planning needs from outside. */
export interface PlanOptions {
  readonly cache: DatabaseCache;
  readonly log: Logger;
  readonly ports: RulePorts;
  /** Called before each database group is made ready. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** A plan, and the databases that it names by their cache keys. */
export interface MadePlan {
  readonly image: PlanImage;
  readonly groups: ReadonlyMap<string, CompiledGroup>;
}

interface PlanDraft {
  readonly folded: FoldedProgram;
  readonly prefilter: PrefilterFacts;
  readonly draft: ScanDraft;
  readonly groups: readonly CompiledGroup[];
}

/** Makes the plan of `program`. Cost: seconds where databases are not cached. */
export function* makePlan(program: Program, options: PlanOptions): Steps<MadePlan> {
  const { folded, prefilter, draft, groups } = yield* draftPlan(program, options);
  yield;
  const keys = draft.groups.map(cacheKey);
  const targetIdOfRule = new Int32Array(program.rules.length).fill(-1);
  draft.targets.forEach(({ rule, negative, removed }, targetId) => {
    if (!negative && !removed) targetIdOfRule[rule.index] = targetId;
  });
  const phases = folded.phases.map((phase) => drawPhase(phase, targetIdOfRule));
  const visited = folded.phases.map(({ items }, at) => ({ items, always: phases[at]!.always }));
  const image: PlanImage = {
    settings: program.settings,
    txBase: folded.txBase,
    ...writeChains(folded.phases, program.settings.pcreMatchLimit),
    phases,
    scan: drawScan(draft, groups, keys),
    ...locateTargets(folded.phases, draft),
    targetIdOfRule,
    negative: Uint8Array.from(draft.targets, ({ negative }) => Number(negative)),
    onRows: Uint8Array.from(draft.targets, ({ condition }) => Number(condition.onRows)),
    hitIsMatch: exactTargets(draft, groups),
    lastCaptures: Uint8Array.from(draft.targets, ({ rule }) => Number(readsLastCapture(rule))),
    lastMatches: Uint8Array.from(draft.targets, ({ rule }) => {
      return Number(!prefilter.matchesLive && showsLastMatches(rule));
    }),
    unobservedMatch: unobservedMatches(program, prefilter),
    analysis: analyzeRules(visited, program.rules, targetIdOfRule, !prefilter.matchesLive),
    facts: {
      rules: program.rules.filter((rule) => rule.id !== 0).length,
      foldedRules: folded.foldedRules,
      scannedRules: draft.targets.filter(({ negative, removed }) => !negative && !removed).length,
      alwaysRules: phases.reduce((n, phase) => n + countBits(phase.always), 0),
    },
  };
  return { image, groups: new Map(keys.map((key, at) => [key, groups[at]!])) };
}

function* draftPlan(program: Program, options: PlanOptions): Steps<PlanDraft> {
  const folded = foldProgram(program, options.ports);
  yield;
  const kept = folded.phases.map(({ items, kept }) => items.filter((_, i) => kept[i]));
  const facts = prefilterFacts(kept, folded);
  yield;
  const searched = withRemoved(folded.phases, program.removed);
  const removed = new Set(program.removed.map(({ rule }) => rule));
  const widest = draftScan(searched, facts, new Set(), removed);
  yield;
  const excluded = rulesLeftOut(widest);
  for (;;) {
    yield;
    const draft = draftScan(searched, facts, excluded, removed);
    const total = draft.groups.length;
    const groups = compileGroups(draft.groups, options.cache, options.log, (ready) => {
      options.onProgress?.(ready, total);
    });
    const before = excluded.size;
    for (const rule of unscannable(draft, groups)) excluded.add(rule);
    if (excluded.size === before) return { folded, prefilter: facts, draft, groups };
  }
}

/** What is kept of each phase, and rules that were taken out where they would have been reached. */
function withRemoved(
  phases: readonly FoldedPhase[],
  removed: readonly RemovedRule[],
): (readonly ProgramItem[])[] {
  return phases.map(({ items, kept, reached }, number) => {
    const gone = removed.filter(({ rule, place }) => rule.phase === number && reached[place]);
    const list: ProgramItem[] = [];
    let next = 0;
    for (let at = 0; at <= items.length; at++) {
      for (; gone[next]?.place === at; next++) list.push(gone[next]!.rule);
      if (kept[at]) list.push(items[at]!);
    }
    return list;
  });
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

/** The kept rules as texts, each once: a rule may stand in several phases' order only once. */
function writeChains(
  phases: readonly FoldedPhase[],
  pcreMatchLimit: number,
): Pick<PlanImage, 'chains' | 'chainEnds' | 'chainStarts'> {
  const rules = phases.flatMap(({ items, kept }) => {
    return items.filter((item, at): item is Rule => item.kind === 'rule' && kept[at]!);
  });
  const texts = rules.map((rule) => writeChain(rule, pcreMatchLimit));
  let end = 0;
  return {
    chains: Buffer.from(texts.join(''), 'latin1'),
    chainEnds: Int32Array.from(texts, (text: ByteString) => (end += text.length)),
    chainStarts: Int32Array.from(rules, ({ index }) => index),
  };
}

function drawPhase({ items, kept }: FoldedPhase, targetIdOfRule: Int32Array): PhaseImage {
  const always = new Uint32Array((items.length + 31) >>> 5);
  const markers: string[] = [];
  const numbers = Int32Array.from(items, (item, at) => {
    if (item.kind === 'marker') return firstMarker - (markers.push(item.name) - 1);
    if (!kept[at]) return foldedItem;
    if (targetIdOfRule[item.index]! < 0 && !isDetector(item)) always[at >>> 5]! |= 1 << (at & 31);
    return item.index;
  });
  return { items: numbers, markers, always };
}

/** What detectors find is asked for once all other rules of the request have run. */
function isDetector({ operator }: Rule): boolean {
  return operator?.definition === detected;
}

function unobservedMatches({ rules }: Program, prefilter: PrefilterFacts): Uint8Array {
  return Uint8Array.from(rules, (rule) => Number(!prefilter.matchesLive && !usesMatches(rule)));
}

function locateTargets(
  phases: readonly FoldedPhase[],
  { targets }: ScanDraft,
): { targetPhase: Uint8Array; targetItem: Int32Array } {
  const targetPhase = new Uint8Array(targets.length);
  const targetItem = new Int32Array(targets.length);
  const places = new Map<ProgramItem, { phase: number; item: number }>();
  phases.forEach((phase, number) => {
    phase.items.forEach((one, item) => places.set(one, { phase: number, item }));
  });
  targets.forEach(({ rule, removed }, targetId) => {
    if (removed) return;
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
