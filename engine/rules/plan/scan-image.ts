/**
 * Writes a scan draft with its compiled databases as plain data: transformation trie, groups and
 * classes by number. Knows nothing of threads.
 */

import { readsLastCapture } from './liveness.ts';
import { isLoose } from './prefilter-choice.ts';
import { chainPartsOf, partOf } from './chain-parts.ts';
import type { CompiledGroup } from './databases.ts';
import type { ClassImage, GroupImage, ScanImage, TestImage } from './plan-image.ts';
import { patternId } from './scan-draft.ts';
import type { ScanClass, ScanDraft, ScanGroup, ScanPattern } from './scan-draft.ts';
import { asciiMask, escapeFreeMask, markupFreeMask, maskWithin, plainMask } from './value-tiers.ts';

/** What to scan for; `keys` name the groups' databases. */
export function drawScan(
  draft: ScanDraft,
  compiled: readonly CompiledGroup[],
  keys: readonly string[],
): ScanImage {
  const trie = new ChainTrie();
  const groups: GroupImage[] = [];
  const classes: ClassImage[] = [];
  draft.groups.forEach((group, number) => {
    const numbers = new Map(group.patterns.map((pattern, at) => [patternId(pattern), at]));
    const chainParts = chainPartsOf(group.patterns);
    const parts = Int32Array.from(group.patterns, (one) => partOf(chainParts, one));
    groups.push({ key: keys[number]!, owners: ownersOf(compiled[number]!, numbers), parts });
    for (const scanClass of group.classes) {
      if (scanClass.patterns.every(({ removed }) => removed)) continue;
      classes.push(drawClass(scanClass, group, number, trie));
    }
  });
  return { nodes: trie.nodes(), groups, classes };
}

function ownersOf(
  { expressions, modes }: CompiledGroup,
  numbers: ReadonlyMap<string, number>,
): Int32Array {
  return Int32Array.from(expressions, ({ pattern }, id) => {
    return modes[id] === 'refused' ? -1 : numbers.get(patternId(pattern))!;
  });
}

function drawClass(
  scanClass: ScanClass,
  { patterns: all }: ScanGroup,
  group: number,
  trie: ChainTrie,
): ClassImage {
  const own = new Set(scanClass.patterns.map(patternId));
  const chains: string[] = [];
  const chainIndex = (chain: string): number => {
    const known = chains.indexOf(chain);
    return known >= 0 ? known : chains.push(chain) - 1;
  };
  const patterns = new Int32Array(all.length * 3);
  all.forEach((pattern, at) => {
    const mine = own.has(patternId(pattern)) && pattern.removed !== true;
    patterns[at * 3] = mine ? pattern.targetId : -1;
    patterns[at * 3 + 1] = mine ? chainIndex(pattern.chain) : 0;
    patterns[at * 3 + 2] = mine && pattern.negated ? 1 : 0;
  });
  const tests = scanClass.patterns.flatMap((pattern) => drawTest(pattern, chainIndex));
  const nodes = Int32Array.from(chains, (chain) => trie.nodeOf(chain));
  const { rowPart, key } = scanClass;
  return { group, rowPart, key, chains: nodes, patterns, tests };
}

function drawTest(pattern: ScanPattern, chainIndex: (chain: string) => number): TestImage[] {
  const { filter, targetId, negated } = pattern;
  if (filter.kind === 'pattern' || filter.kind === 'words') return [];
  const chain = chainIndex(pattern.chain);
  const base = { chain, targetId, negated };
  const without = (mask: number): number => (negated ? 0 : mask);
  switch (filter.kind) {
    case 'byteRange':
      return [
        {
          ...base,
          kind: 'byteRange',
          table: filter.allowed,
          skipMask: without(maskWithin(filter.allowed)),
        },
      ];
    case 'present':
    case 'within':
    case 'number':
      return [{ ...base, ...filter, skipMask: 0 }];
    case 'xss':
      return [{ ...base, kind: 'xss', skipMask: without(markupFreeMask) }];
    case 'sqli':
      return [{ ...base, kind: 'sqli', skipMask: without(plainMask) }];
    case 'urlEncoding':
      return [{ ...base, kind: 'urlEncoding', skipMask: without(escapeFreeMask) }];
    case 'utf8':
      return [{ ...base, kind: 'utf8', skipMask: without(asciiMask) }];
  }
}

/**
 * The transformation trie: node 0 is the value itself, every other node one step after its parent.
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

/** 1 for targets whose every expression was compiled exactly and whose matches need no captures. */
export function exactTargets(draft: ScanDraft, groups: readonly CompiledGroup[]): Uint8Array {
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
