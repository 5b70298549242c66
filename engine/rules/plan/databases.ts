/**
 * Owns the compilation of scan groups into Hyperscan databases: which expressions go into which
 * tier, how each had to be compiled, and the cache entry that makes the next start compile nothing.
 * Never touches the disk itself; the cache is a port.
 */

import { createHash } from 'node:crypto';
import { byteClassOf, maskOfClasses } from '../../match/byte-class.ts';
import { printForScan, restrictTo, spellEndAnchors } from '../../match/regex-analysis.ts';
import { readRegexTree } from '../../match/regex-tree.ts';
import { HS_FLAG, HsDatabase, platformKey } from '../../match/scan.ts';
import type { HsCompileError, HsExpression } from '../../match/scan.ts';
import type { Logger } from '../../base/log.ts';
import type { Prefilter } from '../catalog/types.ts';
import type { ScanGroup, ScanPattern } from './scan-draft.ts';

/** Where compiled databases are kept between starts. A port: the state room writes files. */
export interface DatabaseCache {
  /** The entry's bytes, or null; never throws. */
  get(key: string): Uint8Array | null;
  put(key: string, bytes: Uint8Array): void;
}

/** How an expression could be compiled: as it is, as an over-approximation, or not at all. */
export type ExpressionMode = 'exact' | 'prefilter' | 'refused';

/** A tier serves values whose bytes all lie in `allowedMask`; null when nothing can match there. */
export interface CompiledTier {
  readonly allowedMask: number;
  readonly database: Uint8Array | null;
}

export interface CompiledGroup {
  /** By Hyperscan expression id; a word list has one expression a word. */
  readonly expressions: readonly { readonly pattern: ScanPattern }[];
  /** By expression id. */
  readonly modes: readonly ExpressionMode[];
  readonly tiers: readonly CompiledTier[];
}

const baseFlags = HS_FLAG.dotall | HS_FLAG.singleMatch;
/** Raise it when the entry's layout or the meaning of its databases changes. */
const cacheFormat = 7;

const plainClasses = ['lower', 'upper', 'digit', 'underscore'] as const;
const mildClasses = [...plainClasses, 'space', 'hyphen', 'dot', 'comma', 'colon', 'slash'] as const;
/** Everything but quotes, dollar, backslash, brackets and the like, with which shells are evaded. */
const evasionFreeClasses = [
  ...mildClasses,
  'plus',
  'ampersand',
  'equals',
  'percent',
  'hash',
  'asterisk',
  'whitespace',
  'high',
  'nbsp',
  'punctuation',
] as const;

/** Masks of the tiers, narrowest first; the last covers every value. */
export const tierMasks: readonly number[] = [
  maskOfClasses(...plainClasses),
  maskOfClasses(...mildClasses),
  maskOfClasses(...evasionFreeClasses),
  0xffffffff,
];

interface Expression {
  readonly pattern: ScanPattern;
  readonly literal: boolean;
  readonly flags: number;
  /** What to search for in each tier; null where nothing can match. */
  readonly tiers: readonly (string | null)[];
}

/** Compiles one group or takes it from the cache. Cost: up to some seconds when not cached. */
export function compileGroup(group: ScanGroup, cache: DatabaseCache, log: Logger): CompiledGroup {
  const key = cacheKey(group);
  const owners = group.patterns.flatMap((pattern) => ownersOf(pattern));
  const cached = cache.get(key);
  if (cached) {
    const entry = readEntry(cached, owners);
    if (entry) return entry;
    log.warn('database cache entry is damaged or foreign; compiling it again', { key });
  }
  const compiled = compileExpressions(group.patterns.flatMap(expressionsOf));
  cache.put(key, writeEntry(compiled));
  return compiled;
}

/** One entry per expression that `expressionsOf` makes, without making them. */
function ownersOf(pattern: ScanPattern): { readonly pattern: ScanPattern }[] {
  const { filter } = pattern;
  if (filter.kind === 'pattern') return [{ pattern }];
  return filter.kind === 'words' ? filter.words.map(() => ({ pattern })) : [];
}

function expressionsOf(pattern: ScanPattern): Expression[] {
  const { filter } = pattern;
  if (filter.kind === 'pattern') {
    const caseless = filter.caseless ? HS_FLAG.caseless : 0;
    const flags = baseFlags | HS_FLAG.allowEmpty | caseless;
    return [{ pattern, literal: false, flags, tiers: patternTiers(filter, pattern.negated) }];
  }
  if (filter.kind !== 'words') return [];
  return filter.words.map((word) => ({
    pattern,
    literal: true,
    flags: baseFlags | (filter.caseless ? HS_FLAG.caseless : 0),
    tiers: tierMasks.map((mask) => {
      return pattern.negated || wordWithin(word, mask, filter.caseless) ? word : null;
    }),
  }));
}

/**
 * The pattern as each tier sees it: on values of few byte classes most of a pattern falls away, and
 * what is left is small, exact and fast.
 */
function patternTiers(
  { pattern, caseless }: Extract<Prefilter, { kind: 'pattern' }>,
  negated: boolean,
): (string | null)[] {
  const multiline = /\(\?[a-zA-Z]*m/.test(pattern);
  const whole = multiline ? pattern : spellEndAnchors(pattern);
  const tree = multiline || negated ? null : readRegexTree(pattern, { caseless, dotall: true });
  return tierMasks.map((mask, tier) => {
    if (tree === null || tier === tierMasks.length - 1) return whole;
    const cut = restrictTo(tree.root, bytesWithin(mask));
    if (cut === null) return null;
    return tree.exact ? (printForScan(cut) ?? whole) : whole;
  });
}

function wordWithin(word: string, mask: number, caseless: boolean): boolean {
  const allowed = bytesWithin(mask);
  const member = (c: string): boolean => Boolean(allowed[c.charCodeAt(0)]);
  return [...word].every((c) => {
    return member(c) || (caseless && (member(c.toLowerCase()) || member(c.toUpperCase())));
  });
}

const withinCache = new Map<number, Uint8Array>();

function bytesWithin(mask: number): Uint8Array {
  let set = withinCache.get(mask);
  if (!set) {
    set = Uint8Array.from(byteClassOf, (byteClass) => (mask >>> byteClass) & 1);
    withinCache.set(mask, set);
  }
  return set;
}

function compileExpressions(expressions: readonly Expression[]): CompiledGroup {
  // The widest tier holds every pattern whole: it alone decides how exact each of them is.
  const widest = tierMasks.length - 1;
  const modes: ExpressionMode[] = expressions.map(() => 'exact');
  const whole = expressions.map((e) => e.tiers[widest]!);
  const last = compileWidest(expressions, whole, modes);
  const tiers = tierMasks.slice(0, -1).map((allowedMask, tier) => {
    return { allowedMask, database: compileNarrow(expressions, whole, modes, tier) };
  });
  return {
    expressions,
    modes,
    tiers: [...tiers, { allowedMask: tierMasks[widest]!, database: last }],
  };
}

/** Steps an expression that does not compile down: exact, then over-approximated, then left out. */
function compileWidest(
  expressions: readonly Expression[],
  whole: readonly string[],
  modes: ExpressionMode[],
): Uint8Array | null {
  for (;;) {
    const ids = expressions.flatMap((_, id) => (modes[id] === 'refused' ? [] : [id]));
    if (ids.length === 0) return null;
    const outcome = tryCompile(
      ids.map((id) => toHyperscan(expressions[id]!, id, whole[id]!, modes[id]!)),
    );
    if (typeof outcome !== 'number') return outcome;
    const failed = ids[outcome]!;
    const relaxed = modes[failed] === 'exact' && !expressions[failed]!.literal;
    modes[failed] = relaxed ? 'prefilter' : 'refused';
  }
}

/** As the widest tier, but of cut-down patterns; one that does not compile so stays whole. */
function compileNarrow(
  expressions: readonly Expression[],
  whole: readonly string[],
  modes: readonly ExpressionMode[],
  tier: number,
): Uint8Array | null {
  const stayWhole = new Set<number>();
  const ids = expressions.flatMap((e, id) => {
    return e.tiers[tier] === null || modes[id] === 'refused' ? [] : [id];
  });
  while (ids.length > 0) {
    const list = ids.map((id) => {
      const expression = expressions[id]!;
      if (stayWhole.has(id)) return toHyperscan(expression, id, whole[id]!, modes[id]!);
      return toHyperscan(expression, id, expression.tiers[tier]!, 'exact');
    });
    const outcome = tryCompile(list);
    if (typeof outcome !== 'number') return outcome;
    stayWhole.add(ids[outcome]!);
  }
  return null;
}

function toHyperscan(
  { flags, literal }: Expression,
  id: number,
  pattern: string,
  mode: ExpressionMode,
): HsExpression {
  return { pattern, id, literal, flags: mode === 'exact' ? flags : flags | HS_FLAG.prefilter };
}

/** The serialised database, or the index of the expression that did not compile. */
function tryCompile(list: readonly HsExpression[]): Uint8Array | number {
  try {
    const database = HsDatabase.compile(list, { mode: 'block' });
    const bytes = database.serialize();
    database.close();
    return bytes;
  } catch (thrown) {
    const { code, expression } = thrown as HsCompileError;
    if (code !== 'hs_compile' || expression < 0) throw thrown;
    return expression;
  }
}

/** Names all that decides the entry's content, but for this file's own ways: `cacheFormat`. */
function cacheKey(group: ScanGroup): string {
  const hash = createHash('sha256');
  hash.update(`${cacheFormat}\n${platformKey()}\n${tierMasks.join()}\n`);
  for (const { filter, negated } of group.patterns) {
    if (filter.kind !== 'pattern' && filter.kind !== 'words') continue;
    hash.update(`${filter.kind}|${filter.caseless}|${negated}|`);
    const texts = filter.kind === 'pattern' ? [filter.pattern] : filter.words;
    for (const text of texts) hash.update(`${text.length}:`).update(text, 'latin1');
    hash.update('\n');
  }
  return hash.digest('hex');
}

/** Layout: u32 header length, JSON header, databases in order, then SHA-256 over all before it. */
function writeEntry(group: CompiledGroup): Uint8Array {
  const header = Buffer.from(
    JSON.stringify({
      modes: group.modes.flatMap((mode, id) => (mode === 'exact' ? [] : [[id, mode]])),
      tiers: group.tiers.map((t) => [t.allowedMask, t.database?.length ?? -1]),
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  const body = Buffer.concat([
    length,
    header,
    ...group.tiers.map((t) => t.database ?? Buffer.alloc(0)),
  ]);
  return Buffer.concat([body, createHash('sha256').update(body).digest()]);
}

function readEntry(
  bytes: Uint8Array,
  expressions: CompiledGroup['expressions'],
): CompiledGroup | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < 36) return null;
  const body = buffer.subarray(0, -32);
  if (!createHash('sha256').update(body).digest().equals(buffer.subarray(-32))) return null;
  const headerEnd = 4 + body.readUInt32LE(0);
  const header = JSON.parse(body.toString('utf8', 4, headerEnd)) as {
    modes: [number, ExpressionMode][];
    tiers: [number, number][];
  };
  const modes: ExpressionMode[] = expressions.map(() => 'exact');
  for (const [id, mode] of header.modes) modes[id] = mode;
  let at = headerEnd;
  const tiers = header.tiers.map(([allowedMask, size]): CompiledTier => {
    if (size < 0) return { allowedMask, database: null };
    at += size;
    return { allowedMask, database: body.subarray(at - size, at) };
  });
  return { expressions, modes, tiers };
}
