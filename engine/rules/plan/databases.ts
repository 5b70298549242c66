/**
 * The compilation of scan groups into Hyperscan databases: which expressions go into which
 * tier, how each had to be compiled, and the cache entry that makes the next start compile nothing.
 * Never touches the disk itself; the cache is a port.
 */

import { createHash } from 'node:crypto';
import { byteClassOf, maskOfClasses } from '../../match/byte-class.ts';
import {
  printForScan,
  restrictTo,
  spellEndAnchors,
  splitChoice,
} from '../../match/regex-analysis.ts';
import { atStart, isDense, matchesAnyOf, toEnd, withoutTail } from '../../match/regex-tail.ts';
import { readRegexTree } from '../../match/regex-tree.ts';
import type { RegexNode } from '../../match/regex-tree.ts';
import { HS_FLAG, HsDatabase, platformKey } from '../../match/scan.ts';
import type { HsCompileError, HsExpression } from '../../match/scan.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Prefilter } from '../transaction/types.ts';
import type {
  CompiledTier,
  DatabaseImage,
  ExpressionMode,
  SharedGroup,
} from '../../contract/shared-images.ts';
import { partJoined } from './line-guards.ts';
import type { LineExpression, LinePattern } from './line-guards.ts';
import type { ScanGroup, ScanPattern } from './scan-draft.ts';

/** Where compiled databases are kept between starts. A port: the state room writes files. */
export interface DatabaseCache {
  /** The entry's bytes, or null; never throws. */
  get(key: string): Uint8Array | null;
  put(key: string, bytes: Uint8Array): void;
  /** Databases that another thread has unpacked into shared memory already; optional. */
  shared?(key: string): SharedGroup | null;
}

/** Databases of one scan group, by tier. */
export interface CompiledGroup<Image = DatabaseImage> {
  /** By Hyperscan expression id; a word list has one expression a word. */
  readonly expressions: readonly { readonly pattern: ScanPattern }[];
  /** By expression id. */
  readonly modes: readonly ExpressionMode[];
  readonly tiers: readonly CompiledTier<Image>[];
}

const baseFlags = HS_FLAG.dotall | HS_FLAG.singleMatch;
/** Raise it when the entry's layout or the meaning of its databases changes. */
const cacheFormat = 12;
const none = Buffer.alloc(0);

const plainClasses = ['lower', 'upper', 'digit', 'underscore'] as const;
/**
 * What most sentences are written with. Measured with CRS 4 on 825 bytes of them: 5.5 us a scan, 14
 * where every byte is allowed. Tiers between and below (no apostrophes; parentheses, quotes and
 * equals signs too) gained less than a microsecond a request for a third of all memory.
 */
const proseClasses = [
  ...plainClasses,
  'space',
  'hyphen',
  'dot',
  'comma',
  'colon',
  'slash',
  'semicolon',
  'punctuation',
  'singleQuote',
  'plus',
  'percent',
  'ampersand',
  'high',
  'nbsp',
] as const;

/** Masks of the tiers below the one that covers every value, narrowest first; none has newlines. */
const narrowMasks: readonly number[] = [
  maskOfClasses(...plainClasses),
  maskOfClasses(...proseClasses),
];

/** Values of these bytes alone are plain words: nothing in them is an injection. */
export const plainMask = narrowMasks[0]!;
/** Values of these bytes alone hold no markup: neither a tag nor an attribute's value. */
export const markupFreeMask = ~maskOfClasses('angle', 'equals') >>> 0;

interface Expression {
  readonly pattern: ScanPattern;
  readonly literal: boolean;
  readonly flags: number;
  /** As written; what the widest tier searches for. */
  readonly whole: string;
  /**
   * What each narrower tier searches for: null where nothing can match, the spelling for lines, or
   * `whole` where there is none.
   */
  readonly narrow: readonly (LinePattern | null | typeof asWhole)[];
}

const asWhole = Symbol('as whole');

/** Compiles one group or takes it from the cache. Cost: up to some seconds when not cached. */
export function compileGroup(group: ScanGroup, cache: DatabaseCache, log: Logger): CompiledGroup {
  const key = cacheKey(group);
  const owners = group.patterns.flatMap((pattern) => ownersOf(pattern));
  const shared = cache.shared?.(key);
  if (shared) return { expressions: owners, ...shared };
  const cached = cache.get(key);
  if (cached) {
    const entry = readEntry(cached, owners, key);
    if (entry) return entry;
    log.warn('database cache entry is damaged or foreign; compiling it again', { key });
  }
  const compiled = compileExpressions(group.patterns.flatMap(expressionsOf));
  cache.put(key, writeEntry(compiled, key));
  return compiled;
}

/** The databases of the group with this key, from shared memory or the cache; null: none there. */
export function findTiers(key: string, cache: DatabaseCache): readonly CompiledTier[] | null {
  const shared = cache.shared?.(key);
  if (shared) return shared.tiers;
  const cached = cache.get(key);
  return cached && (readEntry(cached, [], key)?.tiers ?? null);
}

/** A group's databases in shared memory, for threads that attach them. */
export function shareGroup({ modes, tiers }: CompiledGroup): SharedGroup {
  const share = (image: DatabaseImage | null): SharedArrayBuffer | null => {
    if (image === null || image instanceof SharedArrayBuffer) return image;
    return HsDatabase.deserializeShared(image);
  };
  const shared = tiers.map(({ allowedMask, database, lines, guarded, guard }) => ({
    allowedMask,
    database: share(database),
    lines: share(lines),
    guarded: share(guarded),
    guard: share(guard),
  }));
  return { modes, tiers: shared };
}

/** One entry per expression that `expressionsOf` makes, without making them. */
function ownersOf(pattern: ScanPattern): { readonly pattern: ScanPattern }[] {
  const { filter } = pattern;
  if (filter.kind === 'pattern') return [{ pattern }];
  return filter.kind === 'words' ? filter.words.map(() => ({ pattern })) : [];
}

function expressionsOf(pattern: ScanPattern): Expression[] {
  const { filter, negated } = pattern;
  if (filter.kind === 'pattern') {
    const caseless = filter.caseless ? HS_FLAG.caseless : 0;
    const flags = baseFlags | HS_FLAG.allowEmpty | caseless;
    return [{ pattern, literal: false, flags, ...patternTiers(filter, negated) }];
  }
  if (filter.kind !== 'words') return [];
  return filter.words.map((word) => ({
    pattern,
    literal: true,
    flags: baseFlags | (filter.caseless ? HS_FLAG.caseless : 0),
    whole: word,
    narrow: narrowMasks.map((mask) => {
      if (negated) return asWhole;
      return wordWithin(word, mask, filter.caseless) ? { text: word } : null;
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
): Pick<Expression, 'whole' | 'narrow'> {
  const multiline = /\(\?[a-zA-Z]*m/.test(pattern);
  const whole = multiline ? pattern : spellEndAnchors(pattern);
  const tree = multiline || negated ? null : readRegexTree(pattern, { caseless, dotall: true });
  const narrow = narrowMasks.map((mask) => {
    if (tree === null) return asWhole;
    const allowed = bytesWithin(mask);
    const cut = restrictTo(tree.root, allowed);
    if (cut === null) return null;
    const spelt = endingSeldom(cut, allowed);
    const text = tree.exact ? printForScan(spelt) : null;
    return text === null ? asWhole : { text, tree: spelt };
  });
  return { whole, narrow };
}

/** The pattern for lines, whose scan reports every end of a match: fewer of them are cheaper. */
function endingSeldom(pattern: RegexNode, allowed: Uint8Array): RegexNode {
  const sooner = withoutTail(pattern);
  if (matchesAnyOf(sooner, allowed)) return atStart(sooner);
  return isDense(sooner) ? toEnd(sooner, allowed) : sooner;
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

function compileExpressions(expressions: readonly Expression[]): CompiledGroup<Uint8Array> {
  // The widest tier holds every pattern whole: it alone decides how exact each of them is.
  const modes: ExpressionMode[] = expressions.map(() => 'exact');
  const widest = {
    allowedMask: 0xffffffff,
    database: compileWidest(expressions, modes),
    ...{ lines: null, guarded: null, guard: null },
  };
  const tiers = narrowMasks.map((mask, tier) => compileNarrow(expressions, modes, mask, tier));
  return { expressions, modes, tiers: [...tiers, widest] };
}

/** Steps an expression that does not compile down: exact, then over-approximated, then left out. */
function compileWidest(
  expressions: readonly Expression[],
  modes: ExpressionMode[],
): Uint8Array | null {
  for (;;) {
    const ids = expressions.flatMap((_, id) => (modes[id] === 'refused' ? [] : [id]));
    // What may not compile is tried before seconds went into the rest.
    ids.sort((x, y) => expressions[y]!.whole.length - expressions[x]!.whole.length);
    if (ids.length === 0) return null;
    const outcome = tryCompile(ids.map((id) => wholeExpression(expressions[id]!, id, modes)));
    if (outcome instanceof Uint8Array) return outcome;
    const failed = ids[outcome.index]!;
    const relaxed = modes[failed] === 'exact' && !expressions[failed]!.literal;
    modes[failed] = relaxed ? 'prefilter' : 'refused';
  }
}

/** Cut-down patterns for lines; those that have no such form, or do not compile so, stay whole. */
function compileNarrow(
  expressions: readonly Expression[],
  modes: readonly ExpressionMode[],
  allowedMask: number,
  tier: number,
): CompiledTier<Uint8Array> {
  const single: number[] = [];
  const joined: LineExpression[] = [];
  expressions.forEach(({ narrow }, id) => {
    const pattern = narrow[tier];
    if (!pattern || modes[id] === 'refused') return;
    if (pattern === asWhole) single.push(id);
    else joined.push({ id, pattern });
  });
  const { literals, guarded, rest } = partJoined(
    joined,
    (id) => expressions[id]!.pattern.apart === true,
  );
  const lineDatabases = {
    lines: compileLines(expressions, rest, single),
    guarded: compileLines(expressions, guarded, single),
    guard: compileGuard(literals),
  };
  if (lineDatabases.guarded === null) lineDatabases.guard = null;
  if (single.length === 0) return { allowedMask, database: null, ...lineDatabases };
  single.sort((x, y) => x - y);
  const database = tryCompile(single.map((id) => wholeExpression(expressions[id]!, id, modes)));
  if (database instanceof Uint8Array) return { allowedMask, database, ...lineDatabases };
  throw new AppError('database_refused', 'a pattern compiles with all others but not with fewer', {
    source: 'internal',
  });
}

/** Compiles patterns for lines; those that do not compile so join `single`. */
function compileLines(
  expressions: readonly Expression[],
  joined: LineExpression[],
  single: number[],
): Uint8Array | null {
  joined.sort((x, y) => y.pattern.text.length - x.pattern.text.length);
  while (joined.length > 0) {
    const outcome = tryCompile(joined.map((one) => lineExpression(expressions[one.id]!, one)));
    if (outcome instanceof Uint8Array) return outcome;
    if (outcome.neverMatches) joined.splice(outcome.index, 1);
    else replaceFailed(joined, outcome.index, single);
  }
  return null;
}

/** Tells every place, so that each line with a literal is found. */
function compileGuard(literals: readonly string[]): Uint8Array | null {
  if (literals.length === 0) return null;
  const outcome = tryCompile(
    literals.map((pattern, id) => ({ pattern, id, literal: true, flags: HS_FLAG.caseless })),
  );
  if (outcome instanceof Uint8Array) return outcome;
  throw new AppError('database_refused', 'literals of a guard do not compile', {
    source: 'internal',
  });
}

function wholeExpression(
  { whole, flags, literal }: Expression,
  id: number,
  modes: readonly ExpressionMode[],
): HsExpression {
  const mode = modes[id] === 'exact' ? flags : flags | HS_FLAG.prefilter;
  return { pattern: whole, id, literal, flags: mode };
}

function lineExpression(
  { flags, literal }: Expression,
  { id, pattern }: LineExpression,
): HsExpression {
  const lineFlags = (flags & ~HS_FLAG.singleMatch) | HS_FLAG.multiline;
  return { pattern: pattern.text, id, literal, flags: lineFlags };
}

/** Pieces one pattern may be cut into before it is searched for whole instead. */
const piecesMax = 32;

/**
 * Takes a line pattern that does not compile out of `joined`: in its place come halves of it, which
 * share its id, or its id joins those that stay whole.
 */
function replaceFailed(joined: LineExpression[], at: number, single: number[]): void {
  const [failed] = joined.splice(at, 1);
  const { id, pattern } = failed!;
  const halves = (pattern.tree && splitChoice(pattern.tree)) ?? [];
  const parts = halves.flatMap((tree): LinePattern[] => {
    const text = printForScan(tree);
    return text === null ? [] : [{ text, tree }];
  });
  const pieces = joined.filter((one) => one.id === id).length;
  if (parts.length < 2 || pieces > piecesMax) {
    for (let i = joined.length - 1; i >= 0; i--) if (joined[i]!.id === id) joined.splice(i, 1);
    single.push(id);
    return;
  }
  joined.unshift(...parts.map((part) => ({ id, pattern: part })));
}

interface CompileFailure {
  /** Index in the list. */
  readonly index: number;
  /** Hyperscan proved that the expression matches nothing. */
  readonly neverMatches: boolean;
}

/** The serialised database, or which expression did not compile. */
function tryCompile(list: readonly HsExpression[]): Uint8Array | CompileFailure {
  try {
    const database = HsDatabase.compile(list, { mode: 'block' });
    const bytes = database.serialize();
    database.close();
    return bytes;
  } catch (thrown) {
    const { code, expression, message } = thrown as HsCompileError;
    if (code !== 'hs_compile' || expression < 0) throw thrown;
    return { index: expression, neverMatches: message.includes('can never match') };
  }
}

/** Names all that decides the entry's content, but for this file's own ways: `cacheFormat`. */
export function cacheKey(group: ScanGroup): string {
  const hash = createHash('sha256');
  hash.update(`${cacheFormat}\n${platformKey()}\n${narrowMasks.join()}\n`);
  for (const { filter, negated, apart } of group.patterns) {
    if (filter.kind !== 'pattern' && filter.kind !== 'words') continue;
    hash.update(`${filter.kind}|${filter.caseless}|${negated}|${apart === true}|`);
    const texts = filter.kind === 'pattern' ? [filter.pattern] : filter.words;
    for (const text of texts) hash.update(`${text.length}:`).update(text, 'latin1');
    hash.update('\n');
  }
  return hash.digest('hex');
}

/** Layout: u32 header length, JSON header, databases in order, then SHA-256 over all before it. */
function writeEntry(group: CompiledGroup<Uint8Array>, key: string): Uint8Array {
  const header = Buffer.from(
    JSON.stringify({
      key,
      modes: group.modes.flatMap((mode, id) => (mode === 'exact' ? [] : [[id, mode]])),
      tiers: group.tiers.map((t) => {
        return [t.allowedMask, ...imagesOf(t).map((image) => image?.length ?? -1)];
      }),
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  const body = Buffer.concat([
    length,
    header,
    ...group.tiers.flatMap((t) => imagesOf(t).map((image) => image ?? none)),
  ]);
  return Buffer.concat([body, createHash('sha256').update(body).digest()]);
}

/** The databases of a tier in the order in which an entry holds them. */
function imagesOf({ database, lines, guarded, guard }: CompiledTier<Uint8Array>): Images {
  return [database, lines, guarded, guard];
}

type Images = readonly (Uint8Array | null)[];

function readEntry(
  bytes: Uint8Array,
  expressions: CompiledGroup['expressions'],
  key: string,
): CompiledGroup<Uint8Array> | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < 36) return null;
  const body = buffer.subarray(0, -32);
  if (!createHash('sha256').update(body).digest().equals(buffer.subarray(-32))) return null;
  const headerEnd = 4 + body.readUInt32LE(0);
  const header = JSON.parse(body.toString('utf8', 4, headerEnd)) as {
    key?: string;
    modes: [number, ExpressionMode][];
    tiers: [number, number, number, number, number][];
  };
  // Sound, but of another group: the file was renamed or copied.
  if (header.key !== undefined && header.key !== key) return null;
  const modes: ExpressionMode[] = expressions.map(() => 'exact');
  for (const [id, mode] of header.modes) modes[id] = mode;
  let at = headerEnd;
  const take = (size: number): Uint8Array | null => {
    if (size < 0) return null;
    at += size;
    return body.subarray(at - size, at);
  };
  const tiers = header.tiers.map(([allowedMask, ...sizes]): CompiledTier<Uint8Array> => ({
    allowedMask,
    database: take(sizes[0]),
    lines: take(sizes[1]),
    guarded: take(sizes[2]),
    guard: take(sizes[3]),
  }));
  return { expressions, modes, tiers };
}
