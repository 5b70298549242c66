/**
 * What detectors and rules found in a request, by leaf: the signs that its score is made of. The
 * rules of a policy decide which detectors count where, as for rules. Never weighs a sign.
 */

import type { Detected, Detection } from '../../detect/detection.ts';
import { detectorIds } from '../../detect/detector.ts';
import { loadingTag } from '../../detect/families/html.table.ts';
import { isHarmlessMarkup } from '../../detect/harmless-markup.ts';
import type { Sign } from '../../detect/score.ts';
import type { MatchedRule } from '../../contract/verdict.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import { areRulesRemoved } from '../transaction/removal.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { addSigns, latin1Of, type DetectorRules, type SignedLeaf } from './leaf-signs.ts';
import { Refusals, refusingLeavesMax } from './refusals.ts';
import { scoredValues, type ScoredValue } from './scored-values.ts';

/** The signs of a request and their leaves. */
export interface RequestSigns {
  readonly leaves: readonly SignedLeaf[];
  readonly signs: readonly Sign[];
  /** False where detectors did not see all that the values hold. */
  readonly complete: boolean;
  /** Enough values refuse by themselves; detectors did not search those after them. */
  readonly settled: boolean;
}

/** Rules of CRS that look for attacks, by thousands of their ids. */
const attackRules = new Set([921, 930, 931, 932, 933, 934, 941, 942, 944]);
/** Rules of the product in their place. */
const narrowedRules = [199_201, 199_299] as const;

/**
 * Collects them; call after the rules of phase 2. `blockScore`: the search ends where enough leaves
 * have it; 0: never. Cost: without special bytes and matches, a look at each byte of each value.
 */
export function requestSigns(
  tx: Transaction,
  detection: Detection,
  detectors: DetectorRules,
  blockScore = 0,
): RequestSigns {
  const searches = !areRulesRemoved(detectorIds.first, detectorIds.last, tx);
  if (!searches && !hasAttackRule(tx.matchedRules)) return noSigns;
  const values = scoredValues(tx);
  const mayEnd = blockScore > 0 && values.length > refusingLeavesMax;
  const decider = mayEnd ? new Refusals(values, tx, { detection, detectors, blockScore }) : null;
  const found = searches && values.length > 0 ? detection.detect(values, decider) : nothing;
  if (found.leaves.length === 0 && !hasAttackRule(tx.matchedRules)) {
    return found.complete ? noSigns : unopened;
  }
  const collected = new Collected(values, found);
  for (const [at, leaf] of found.leaves.entries()) {
    const { name } = values[leaf.value]!;
    addSigns(collected.signs, leaf, at, name, tx, detection, detectors);
  }
  for (const matched of tx.matchedRules) collected.addRule(matched);
  // These need the leaves of all others.
  for (const matched of tx.matchedRules) collected.addWholeRule(matched);
  collected.leaveHarmlessMarkup();
  return collected;
}

/** Rules and detectors that find tags and attributes as such. */
const markupSigns: ReadonlySet<number> = new Set([
  ...[941_100, 941_101, 941_130, 941_150, 941_160, 941_170, 941_320],
  loadingTag,
]);

const nothing: Detected = { leaves: [], complete: true, settled: false };
const noSigns: RequestSigns = { leaves: [], signs: [], complete: true, settled: false };
const unopened: RequestSigns = { ...noSigns, complete: false };

function hasAttackRule(matched: readonly MatchedRule[]): boolean {
  for (let at = 0; at < matched.length; at++) if (isAttackRule(matched[at]!.ruleId)) return true;
  return false;
}

class Collected implements RequestSigns {
  readonly leaves: SignedLeaf[] = [];
  signs: Sign[] = [];
  readonly complete: boolean;
  readonly settled: boolean;
  private readonly values: readonly ScoredValue[];
  /** Leaves of a value, by the name that rules know it by. */
  private readonly leavesOf = new Map<string, number[]>();
  /** Of each leaf the text in lower case, once a rule is looked for in it. */
  private readonly lowerTexts: string[] = [];
  private lookUps = 0;
  /** By name in lower case; once many names were looked for. */
  private valueOf: Map<string, ScoredValue> | null = null;
  /** The value that a leaf of a detector is of, by leaf. */
  private readonly wholeOf: ScoredValue[] = [];

  constructor(values: readonly ScoredValue[], { leaves, complete, settled }: Detected) {
    this.values = values;
    this.complete = complete;
    this.settled = settled;
    for (const { value, path, bytes, opened } of leaves) {
      this.addLeaf({ name: values[value]!.name, path, bytes, opened });
      this.wholeOf.push(values[value]!);
    }
  }

  /** A rule counts where its text stands in the value that it matched, or in all of it. */
  addRule({ ruleId, matched, data }: MatchedRule): void {
    if (!isAttackRule(ruleId)) return;
    const names = namesOf(matched);
    if (ruleId >= 931_000 && ruleId < 932_000) names.delete('REQUEST_HEADERS:referer');
    const last = matched.at(-1);
    for (const name of names) {
      if (wholeTexts.has(name)) continue;
      const text =
        last !== undefined && !isCut(matched) && valueName(last.name) === name ? shown(data) : '';
      for (const leaf of this.leavesNamed(name)) this.addSign(ruleId, leaf, text);
    }
  }

  /** What matched a whole target or body stands in its path or in one of its arguments. */
  addWholeRule({ ruleId, matched }: MatchedRule): void {
    if (!isAttackRule(ruleId)) return;
    if (isCut(matched)) {
      // It may have matched in any of them.
      for (let leaf = 0; leaf < this.leaves.length; leaf++) this.addSign(ruleId, leaf, '');
    }
    // They have no key.
    if (matched.every(({ name }) => name.includes(':'))) return;
    for (const name of namesOf(matched)) {
      const own = wholeTexts.get(name);
      if (own === undefined) continue;
      const leaves = new Set(this.leavesNamed(own));
      for (const [other, list] of this.leavesOf) {
        if (other.startsWith('ARGS')) for (const leaf of list) leaves.add(leaf);
      }
      for (const leaf of leaves) this.signs.push({ id: ruleId, leaf, start: -1, end: -1 });
    }
  }

  /** Text of editors is no attack by its tags: what else is found in it counts. */
  leaveHarmlessMarkup(): void {
    if (!this.signs.some(({ id }) => markupSigns.has(id))) return;
    const harmless = this.leaves.map((_, leaf) => this.isHarmless(leaf));
    this.signs = this.signs.filter(({ id, leaf }) => {
      const { itself, whole } = harmless[leaf]!;
      // Rules saw the whole value.
      return !markupSigns.has(id) || !(itself || (whole && id !== loadingTag));
    });
  }

  private isHarmless(leaf: number): { itself: boolean; whole: boolean } {
    const { bytes, opened } = this.leaves[leaf]!;
    const itself = isHarmlessMarkup(latin1Of(bytes));
    const value = this.wholeOf[leaf];
    if (itself || !opened || value === undefined) return { itself, whole: itself };
    const text = latin1Of(value.bytes.subarray(value.start, value.end));
    return { itself, whole: isHarmlessMarkup(text) };
  }

  private addSign(id: number, leaf: number, text: string): void {
    const at = text === '' ? -1 : this.lowerText(leaf).indexOf(text);
    this.signs.push({ id, leaf, start: at, end: at < 0 ? -1 : at + text.length });
  }

  private lowerText(leaf: number): string {
    return (this.lowerTexts[leaf] ??= latin1Of(this.leaves[leaf]!.bytes).toLowerCase());
  }

  /** Of what no detector found anything in, the value itself. */
  private leavesNamed(name: string): readonly number[] {
    const known = this.leavesOf.get(name);
    if (known !== undefined) return known;
    const lower = name.toLowerCase();
    const value = this.valueNamed(lower);
    const bytes = value?.bytes.subarray(value.start, value.end) ?? noBytes;
    this.addLeaf({ name, path: value?.path ?? lower, bytes, opened: false });
    return this.leavesOf.get(name)!;
  }

  /** Few names are looked for among the values; for many, the name of each value is read once. */
  private valueNamed(lower: string): ScoredValue | undefined {
    if (this.lookUps++ < lookUpsMax) {
      return this.values.find(
        (one) => one.nameBytes === lower.length && one.name.toLowerCase() === lower,
      );
    }
    this.valueOf ??= byLowerName(this.values);
    return this.valueOf.get(lower);
  }

  private addLeaf(leaf: SignedLeaf): void {
    const key = valueName(leaf.name);
    const at = this.leaves.push(leaf) - 1;
    const known = this.leavesOf.get(key);
    if (known === undefined) this.leavesOf.set(key, [at]);
    else known.push(at);
  }
}

const noBytes = new Uint8Array(0);
/** Names that are compared with each value, before those of all are read. */
const lookUpsMax = 8;

/** The first value of each name. */
function byLowerName(values: readonly ScoredValue[]): Map<string, ScoredValue> {
  const found = new Map<string, ScoredValue>();
  for (const value of values) {
    const name = value.name.toLowerCase();
    if (!found.has(name)) found.set(name, value);
  }
  return found;
}

/** Whether a rule matched in more values than are listed. */
function isCut(matched: MatchedRule['matched']): boolean {
  return matched.length >= ruleRunLimits.reportedVariablesMax;
}

/** True for rules whose matches are signs of an attack. */
export function isAttackRule(ruleId: number): boolean {
  if (ruleId >= narrowedRules[0] && ruleId <= narrowedRules[1]) return true;
  return attackRules.has(Math.floor(ruleId / 1000));
}

/** Variables that show the same value under another name. */
const sameValue: Readonly<Record<string, string>> = {
  ARGS_GET: 'ARGS',
  ARGS_POST: 'ARGS',
  ARGS_GET_NAMES: 'ARGS_NAMES',
  ARGS_POST_NAMES: 'ARGS_NAMES',
  FILES_NAMES: 'FILES',
  MULTIPART_PART_HEADERS: 'FILES',
  REQUEST_BASENAME: 'REQUEST_FILENAME',
};

/** Texts that hold arguments as they were sent, and the value that stands for their rest. */
const wholeTexts: ReadonlyMap<string, string> = new Map([
  ['REQUEST_URI', 'REQUEST_FILENAME'],
  ['REQUEST_URI_RAW', 'REQUEST_FILENAME'],
  ['REQUEST_LINE', 'REQUEST_FILENAME'],
  ['QUERY_STRING', 'REQUEST_FILENAME'],
  ['REQUEST_BODY', 'REQUEST_BODY'],
]);

/** The values that a rule matched, each once. */
function namesOf(matched: MatchedRule['matched']): Set<string> {
  const names = new Set<string>();
  for (const { name } of matched) names.add(valueName(name));
  return names;
}

function valueName(name: string): string {
  const colon = name.indexOf(':');
  const variable = colon < 0 ? name : name.slice(0, colon);
  const same = sameValue[variable] ?? variable;
  if (colon < 0 || same === 'XML') return same;
  const key = name.slice(colon + 1);
  return `${same}:${same === 'REQUEST_HEADERS' ? key.toLowerCase() : key}`;
}

/** What a rule of CRS says that it found, in lower case; '' where it does not say. */
function shown(data: string): string {
  const end = data.lastIndexOf(' found within ');
  if (!data.startsWith(dataStart) || end < dataStart.length) return '';
  return data.slice(dataStart.length, end).toLowerCase();
}

const dataStart = 'Matched Data: ';
