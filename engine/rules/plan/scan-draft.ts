/**
 * Decides which values are searched for which patterns: turns kept rules into
 * scan classes (one per kind of value) and groups classes that look for nearly the same patterns,
 * so that they share databases. Pure; compiles nothing.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { rulesetFolder } from '../../contract/policy.ts';
import { withoutFillers } from '../../match/regex-fillers.ts';
import type { WithoutFillers } from '../../match/regex-fillers.ts';
import { fillersRemovedId, transformationIds } from '../../match/transform.ts';
import type { Prefilter, ProgramItem, Rule } from '../transaction/types.ts';
import { sourceCount } from '../transaction/values.ts';
import { chooseCondition, negativePrefilterOf } from './prefilter-choice.ts';
import type { ScanCondition, PrefilterFacts } from './prefilter-choice.ts';

/** Value or key of a row: `source * 2 + part`, part 0 = value, 1 = key. */
export type RowPartId = number;

/** Every source has two row parts: its values and its names. */
export const rowPartCount = sourceCount * 2;

/** One thing to look for on behalf of one rule. */
export interface ScanPattern {
  readonly targetId: number;
  /** Transformation ids in order, `,`-joined. */
  readonly chain: string;
  readonly filter: Prefilter;
  readonly negated: boolean;
  /** True for commands, whose patterns compile badly together with others. */
  readonly apart?: boolean;
  /** True for a rule that an exception took out: what is found for it is dropped. */
  readonly removed?: boolean;
}

/** All that is looked for in one part of rows; `key` null = whatever the row's key is. */
export interface ScanClass {
  readonly rowPart: RowPartId;
  /** Lower case. */
  readonly key: ByteString | null;
  readonly patterns: readonly ScanPattern[];
}

/** Classes whose patterns share one set of databases. */
export interface ScanGroup {
  readonly classes: readonly ScanClass[];
  /** The union of the classes' patterns, in order of target ids. */
  readonly patterns: readonly ScanPattern[];
}

/** A rule that is searched for. */
export interface ScanTarget {
  /** The first of its chain. */
  readonly rule: Rule;
  readonly condition: ScanCondition;
  /** True for a negative prefilter: a hit says that the rule need not be visited. */
  readonly negative: boolean;
  /** True for a rule that an exception took out. */
  readonly removed: boolean;
}

/** What is to be scanned for, before any database is compiled. */
export interface ScanDraft {
  readonly targets: readonly ScanTarget[];
  readonly groups: readonly ScanGroup[];
}

/** Chains that one class may scan for; the native scanner keeps a set of them in 64 bits. */
const chainsPerClassMax = 64;
/** Classes join a group when at least this share of the smaller set is in the larger one. */
const groupOverlapMin = 0.5;
/** The share of removed rules' patterns in a group with which its databases stay as they are. */
const removedShareMax = 0.25;

/**
 * Drafts the scan for all kept rules of all phases. `excluded` rules are left out. `removed` ones
 * stay among what is searched for where they are few: so a policy that takes out some rules needs
 * no databases of its own.
 */
export function draftScan(
  phases: readonly (readonly ProgramItem[])[],
  facts: PrefilterFacts,
  excluded: ReadonlySet<Rule> = new Set(),
  removed: ReadonlySet<Rule> = new Set(),
): ScanDraft {
  const targets: ScanTarget[] = [];
  const classes = new Map<
    string,
    { rowPart: RowPartId; key: ByteString | null; patterns: ScanPattern[] }
  >();
  const withRuleset = phases.some((items) => items.some((item) => isOfRuleset(item)));
  for (const items of phases) {
    for (const item of items) {
      if (item.kind !== 'rule' || excluded.has(item)) continue;
      const add = (condition: ScanCondition, negative: boolean): void => {
        const gone = removed.has(item);
        const target = { rule: item, condition, negative, removed: gone };
        const targetId = targets.push(target) - 1;
        for (const pattern of patternsOf(condition, targetId)) {
          if (gone && !isCompiled(pattern)) continue;
          const own = withRuleset && !isOfRuleset(item) && isCompiled(pattern);
          const one = gone ? { ...pattern, removed: true } : pattern;
          addPattern(classes, condition.link, one, own);
        }
      };
      const condition = chooseCondition(item, facts);
      if (condition !== null) add(condition, false);
      if (removed.has(item)) continue;
      const negative = negativePrefilterOf(item, facts);
      if (negative !== null) add(negative, true);
    }
  }
  const list = [...classes.values()].map(limitChains);
  return { targets, groups: groupClasses(list) };
}

/** True for what databases hold; all else is tested value by value. */
function isCompiled({ filter }: ScanPattern): boolean {
  return filter.kind === 'pattern' || filter.kind === 'words';
}

/** Rules of an operator's own change more often than these: databases of their own hold them. */
function isOfRuleset(item: ProgramItem): boolean {
  return item.kind === 'rule' && item.location.file.startsWith(rulesetFolder);
}

function patternsOf(
  { link, filter, negated, words }: ScanCondition,
  targetId: number,
): ScanPattern[] {
  const ids = filter.kind === 'present' ? [] : link.transformations.map((t) => t.id);
  const one = (chain: readonly number[]): ScanPattern => {
    return { targetId, chain: chain.join(','), filter, negated };
  };
  if (words.length > 0) {
    return [one(ids), { ...one(ids), filter: { kind: 'words', words, caseless: true } }];
  }
  if (filter.kind === 'pattern' && !negated && !link.multiMatch) {
    const parts = withoutFillers(filter.pattern, filter.caseless);
    if (parts) return fillerPatterns(one(ids), parts);
  }
  if (!link.multiMatch) return [one(ids)];
  return Array.from({ length: ids.length + 1 }, (_, n) => one(ids.slice(0, n)));
}

/** What stands in for a pattern that is mostly fillers; a hit is no match yet. */
function fillerPatterns(whole: ScanPattern, parts: WithoutFillers): ScanPattern[] {
  const search = (pattern: ByteString): Prefilter => {
    return { kind: 'pattern', pattern, caseless: false, loose: true };
  };
  const chain = [...(whole.chain === '' ? [] : [whole.chain]), fillersRemovedId].join(',');
  const list: ScanPattern[] = [
    { ...whole, filter: search(parts.plain) },
    { ...whole, filter: search(parts.skeleton), chain },
  ];
  const { expansions: words } = parts;
  if (words.length > 0) list.push({ ...whole, filter: { kind: 'words', words, caseless: false } });
  return list.map((pattern) => ({ ...pattern, apart: true }));
}

function addPattern(
  classes: Map<string, { rowPart: RowPartId; key: ByteString | null; patterns: ScanPattern[] }>,
  link: Rule,
  pattern: ScanPattern,
  own: boolean,
): void {
  for (const target of link.targets) {
    const { sources, rowPart } = target.variable.rows!;
    const key = target.selector?.kind === 'key' ? target.selector.key : null;
    for (const source of sources) {
      const rowPartId = source * 2 + (rowPart === 'key' ? 1 : 0);
      const marks = `${pattern.apart ? ':apart' : ''}${own ? ':own' : ''}${aloneMark(pattern)}`;
      const shape = `${shapeOf(pattern.chain)}${marks}`;
      const name = `${rowPartId}:${key ?? '*'}:${key === null ? 'all' : 'key'}:${shape}`;
      let entry = classes.get(name);
      if (!entry) classes.set(name, (entry = { rowPart: rowPartId, key, patterns: [] }));
      const id = patternId(pattern);
      if (!entry.patterns.some((p) => patternId(p) === id)) entry.patterns.push(pattern);
    }
  }
}

/**
 * Negated patterns are not searched for in joined lines but in each value alone. In a class of
 * their own they are not searched for in shapes and parts of a request that only others ask for.
 */
function aloneMark(pattern: ScanPattern): string {
  return pattern.negated && pattern.filter.kind === 'pattern' ? ':negated' : '';
}

/**
 * What transformations make of sentences. Chains of one kind share classes: a value is not searched
 * for all patterns in every shape that it comes in, but for those alone that ask for the shape. A
 * value that every transformation changes is so searched for each pattern about once.
 */
const shapes = [
  [
    'decoded',
    [
      'base64Decode',
      'base64DecodeExt',
      'base64Encode',
      'hexDecode',
      'hexEncode',
      'length',
      'md5',
      'sha1',
      'urlEncode',
      'uppercase',
      'parityEven7bit',
      'parityOdd7bit',
      'parityZero7bit',
    ],
  ],
  ['reshaped', ['lowercase', 'cmdLine', 'removeWhitespace', fillersRemovedId]],
  ['path', ['normalisePath', 'normalisePathWin']],
  ['uncommented', ['replaceComments', 'removeComments', 'removeCommentsChar']],
] as const;

const shapeIds = shapes.map(([shape, names]) => {
  const ids = names.map((name) => (typeof name === 'number' ? name : transformationIds[name]));
  return [shape, new Set(ids.map(String))] as const;
});

/** The shape that a chain brings values into. */
function shapeOf(chain: string): string {
  const ids = chain.split(',');
  return shapeIds.find(([, members]) => ids.some((id) => members.has(id)))?.[0] ?? 'text';
}

/** True for a chain that makes other bytes of values, as base64Decode does. */
export function isDecodedChain(chain: string): boolean {
  return shapeOf(chain) === 'decoded';
}

/** Keeps the first 64 chains; callers find the rules left out through `rulesLeftOut`. */
function limitChains(entry: ScanClass): ScanClass {
  const chains = [...new Set(entry.patterns.map((p) => p.chain))];
  if (chains.length <= chainsPerClassMax) return entry;
  const kept = new Set(chains.slice(0, chainsPerClassMax));
  return { ...entry, patterns: entry.patterns.filter((p) => kept.has(p.chain)) };
}

/** Rules with a pattern that did not fit into its class; they must be evaluated always. */
export function rulesLeftOut(draft: ScanDraft): Set<Rule> {
  const wanted = new Map<string, number>();
  const present = new Map<string, number>();
  const count = (map: Map<string, number>, id: string): unknown =>
    map.set(id, (map.get(id) ?? 0) + 1);
  draft.targets.forEach(({ condition }, targetId) => {
    const rowParts = new Set<string>();
    for (const target of condition.link.targets) {
      const key = target.selector?.kind === 'key' ? target.selector.key : '*';
      for (const source of target.variable.rows!.sources) {
        rowParts.add(`${source}:${target.variable.rows!.rowPart}:${key}`);
      }
    }
    const patterns = new Set(patternsOf(condition, targetId).map(patternId)).size;
    wanted.set(String(targetId), rowParts.size * patterns);
  });
  for (const group of draft.groups) {
    for (const scanClass of group.classes) {
      for (const pattern of scanClass.patterns) count(present, String(pattern.targetId));
    }
  }
  const left = new Set<Rule>();
  draft.targets.forEach(({ rule, removed }, targetId) => {
    if (!removed && (present.get(String(targetId)) ?? 0) < wanted.get(String(targetId))!)
      left.add(rule);
  });
  return left;
}

function groupClasses(classes: readonly ScanClass[]): ScanGroup[] {
  const groups: { classes: ScanClass[]; ids: Map<string, ScanPattern> }[] = [];
  const bySize = [...classes].sort((a, b) => b.patterns.length - a.patterns.length);
  for (const scanClass of bySize) {
    const ids = new Map(scanClass.patterns.map((p) => [patternId(p), p]));
    const home = groups.find((group) => {
      const shared = [...ids.keys()].filter((id) => group.ids.has(id)).length;
      return shared >= groupOverlapMin * group.ids.size && shared >= groupOverlapMin * ids.size;
    });
    if (home) {
      home.classes.push(scanClass);
      for (const [id, pattern] of ids) home.ids.set(id, pattern);
    } else groups.push({ classes: [scanClass], ids });
  }
  const list = groups.map((group) => ({
    classes: group.classes,
    patterns: [...group.ids.values()].sort(
      (a, b) => a.targetId - b.targetId || (a.chain < b.chain ? -1 : 1),
    ),
  }));
  return list.map(withFewRemoved).filter(({ patterns }) => patterns.length > 0);
}

/** Without the patterns of removed rules, where they are many. */
function withFewRemoved(group: ScanGroup): ScanGroup {
  const stays = ({ removed }: ScanPattern): boolean => removed !== true;
  const patterns = group.patterns.filter(stays);
  if (group.patterns.length - patterns.length <= removedShareMax * group.patterns.length) {
    return group;
  }
  const classes = group.classes.map((one) => ({ ...one, patterns: one.patterns.filter(stays) }));
  return { classes: classes.filter((one) => one.patterns.length > 0), patterns };
}

/** Identity of a pattern inside one draft. */
export function patternId(pattern: ScanPattern): string {
  return `${pattern.targetId}/${pattern.chain}/${pattern.filter.kind}`;
}
