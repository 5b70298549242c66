/**
 * Makes a plan ready in one thread from its image: rules from their texts, shared with the other
 * policies of the thread, databases from shared memory or the cache, and the native scan program.
 * Never links, folds or compiles anything.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { toByteString } from '../../../base/byte-string.ts';
import { AppError } from '../../../base/errors.ts';
import type { Steps } from '../../../base/steps.ts';
import type { CompiledTier, DatabaseImage } from '../../contract/shared-images.ts';
import { createScanProgram, HsDatabase } from '../../match/scan.ts';
import type { ScanClass, ScanProgram, ScanRowPart, ScanTier } from '../../match/scan.ts';
import { fullCatalog } from '../features/full-catalog.ts';
import { createLinkContext, type ReadDataFile } from '../program/link-context.ts';
import { placeRule } from '../program/place-rule.ts';
import type { SharedChain, SharedRules } from '../program/shared-rules.ts';
import type { Rule } from '../transaction/types.ts';
import { firstMarker, foldedItem } from './plan-image.ts';
import type { ClassImage, GroupImage, PhaseImage, PlanImage } from './plan-image.ts';
import type { FoldedRule, PhasePlan, PlanItem, RowPartPlan, RulePlan } from './rule-plan.ts';
import { rowPartCount } from './scan-draft.ts';

/** What attaching needs of its thread. */
export interface AttachParts {
  readonly rules: SharedRules;
  /** The databases of a group; null when they are nowhere. */
  tiersOf(key: string): readonly CompiledTier[] | null;
  /** Data files of the policy. */
  readonly readDataFile: ReadDataFile;
}

/** What a plan holds on to in its thread. */
class Holdings {
  readonly chains: SharedChain[] = [];
  readonly databases: HsDatabase[] = [];
  scan: ScanProgram | null = null;
  private readonly rules: SharedRules;

  constructor(rules: SharedRules) {
    this.rules = rules;
  }

  release(): void {
    this.scan?.close();
    for (const database of this.databases) database.close();
    for (const chain of this.chains) this.rules.giveBack(chain);
  }
}

/** Attaches a plan, in steps well under a millisecond. Errors: `databases_missing`. */
export function* attachPlan(image: PlanImage, parts: AttachParts): Steps<RulePlan> {
  const holdings = new Holdings(parts.rules);
  try {
    const rules = yield* takeRules(image, parts, holdings);
    const tiers = yield* openTiers(image, parts, holdings);
    yield;
    const rowParts = rowPartsOf(image.scan.classes);
    holdings.scan = createScan(image, holdings.databases, tiers, rowParts);
    yield;
    return planOf(image, rules, rowParts, holdings);
  } catch (thrown) {
    holdings.release();
    throw thrown;
  }
}

/** Names what the plan keeps: nothing else of the image, above all its texts, may stay. */
function planOf(
  image: PlanImage,
  rules: readonly Rule[],
  rowParts: readonly RowPartPlan[],
  holdings: Holdings,
): RulePlan {
  const { databases, scan } = holdings;
  return {
    settings: image.settings,
    txBase: image.txBase,
    phases: image.phases.map((phase) => attachPhase(phase, rules)),
    rowParts,
    scan,
    targetPhase: image.targetPhase,
    targetItem: image.targetItem,
    targetIdOfRule: image.targetIdOfRule,
    negative: image.negative,
    onRows: image.onRows,
    hitIsMatch: image.hitIsMatch,
    lastCaptures: image.lastCaptures,
    lastMatches: image.lastMatches,
    unobservedMatch: image.unobservedMatch,
    analysis: image.analysis,
    facts: {
      ...image.facts,
      databases: databases.length,
      databaseBytes: databases.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    },
    close: () => holdings.release(),
  };
}

const folded: FoldedRule = { kind: 'folded' };

/** Rules by their index in the program. */
function* takeRules(
  { chains, chainEnds, chainStarts }: PlanImage,
  { rules, readDataFile }: AttachParts,
  holdings: Holdings,
): Steps<Rule[]> {
  const context = createLinkContext(fullCatalog, readDataFile, () => undefined);
  const list: Rule[] = [];
  let start = 0;
  for (const [at, end] of chainEnds.entries()) {
    const text = toByteString(chains, start, end);
    start = end;
    const chain = rules.take(text, context);
    holdings.chains.push(chain);
    const { links } = chain;
    let next: Rule | null = null;
    const first = chainStarts[at]!;
    for (let link = links.length - 1; link >= 0; link--) {
      next = placeRule(links[link]!, first + link, next);
    }
    list[first] = next!;
    yield;
  }
  return list;
}

/** A tier with its databases by number: one for each part of the group, or one for all. */
interface OpenTier extends Omit<ScanTier, 'database' | 'parts'> {
  readonly databases: readonly number[];
}

function* openTiers(
  { scan }: PlanImage,
  parts: AttachParts,
  { databases }: Holdings,
): Steps<OpenTier[][]> {
  const open = (image: DatabaseImage | null): number => {
    return image === null ? -1 : databases.push(openDatabase(image)) - 1;
  };
  const list: OpenTier[][] = [];
  for (const { key } of scan.groups) {
    const tiers = parts.tiersOf(key);
    if (tiers === null) throw missing(key);
    list.push(
      tiers.map((tier) => ({
        allowedMask: tier.allowedMask,
        databases: tier.databases.map(open),
        lines: open(tier.lines),
        guarded: open(tier.guarded),
        guard: open(tier.guard),
      })),
    );
    yield;
  }
  return list;
}

/** Code of the error for databases that are neither in shared memory nor in the cache. */
export const databasesMissing = 'databases_missing';

function missing(key: string): AppError {
  return new AppError(databasesMissing, `the databases ${key} of a plan are not in the cache`, {
    source: 'storage',
    retryable: true,
  });
}

function openDatabase(image: DatabaseImage): HsDatabase {
  if (image instanceof SharedArrayBuffer) return HsDatabase.attach(image);
  return HsDatabase.deserialize(image);
}

function createScan(
  { scan, settings }: PlanImage,
  databases: readonly HsDatabase[],
  tiers: readonly OpenTier[][],
  rowParts: readonly RowPartPlan[],
): ScanProgram | null {
  if (scan.classes.length === 0) return null;
  return createScanProgram({
    nodes: scan.nodes,
    databases,
    owners: scan.groups.map(({ owners }) => owners),
    classes: scan.classes.map((one) => {
      return classSpec(one, scan.groups[one.group]!, tiers[one.group]!);
    }),
    rowParts: rowParts.map(rowPartSpec),
    ...(settings.unicodeMap ? { unicodeMap: settings.unicodeMap } : {}),
  });
}

function classSpec(
  { group, chains, patterns, tests }: ClassImage,
  { owners, parts }: GroupImage,
  tiers: readonly OpenTier[],
): ScanClass {
  // A pattern that Hyperscan refused is searched for by nobody: it has no expression.
  const searched = new Set(owners);
  const used = Int32Array.from(patterns);
  for (let at = 0; at < used.length; at += 3) if (!searched.has(at / 3)) used[at] = -1;
  const specs = tiers.map((tier) => tierSpec(tier, used, parts));
  return { chains, patterns: used, owners: group, tiers: specs, tests };
}

/** The tier as a class sees it: each part with those of the class's chains that it holds. */
function tierSpec(
  { databases, ...tier }: OpenTier,
  patterns: Int32Array,
  parts: Int32Array,
): ScanTier {
  if (databases.length <= 1) return { ...tier, database: databases[0] ?? -1 };
  const chains = databases.map(() => new Set<number>());
  parts.forEach((part, pattern) => {
    if (part >= 0 && patterns[3 * pattern]! >= 0) chains[part]!.add(patterns[3 * pattern + 1]!);
  });
  const list = databases.flatMap((database, part) => {
    const own = Int32Array.from(chains[part]!);
    return database < 0 || own.length === 0 ? [] : [{ chains: own, database }];
  });
  return { ...tier, database: -1, parts: list };
}

/** By row part: the classes for any key, and those by key. */
function rowPartsOf(classes: readonly ClassImage[]): RowPartPlan[] {
  const anyKey: number[][] = Array.from({ length: rowPartCount }, () => []);
  const byKey: (Map<ByteString, number[]> | null)[] = anyKey.map(() => null);
  for (const [id, { rowPart, key }] of classes.entries()) {
    if (key === null) anyKey[rowPart]!.push(id);
    else {
      const keys = (byKey[rowPart] ??= new Map());
      keys.set(key, [...(keys.get(key) ?? []), id]);
    }
  }
  return anyKey.map((any, rowPart) => ({ anyKey: any, byKey: byKey[rowPart]! }));
}

function rowPartSpec({ anyKey, byKey }: RowPartPlan): ScanRowPart {
  const named = [...(byKey ?? [])].map(([key, classes]) => {
    return { key, classes: Int32Array.from(classes) };
  });
  return { classes: Int32Array.from(anyKey), named };
}

function attachPhase({ items, markers, always }: PhaseImage, rules: readonly Rule[]): PhasePlan {
  const after = new Map<string, number[]>();
  const list = Array.from(items, (number, at): PlanItem => {
    if (number === foldedItem) return folded;
    if (number > foldedItem) return rules[number]!;
    const name = markers[firstMarker - number]!;
    after.set(name, [...(after.get(name) ?? []), at + 1]);
    return { kind: 'marker', name };
  });
  return { items: list, always, markers: after };
}
