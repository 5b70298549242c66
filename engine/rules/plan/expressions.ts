/**
 * Turns the patterns of scan groups into Hyperscan expressions: which go into which tier, and how
 * each has to be compiled. What compiles them is in `compilations.ts`.
 */

import { AppError } from '../../../base/errors.ts';
import type { CompiledTier, ExpressionMode } from '../../contract/shared-images.ts';
import { byteClassOf } from '../../match/byte-class.ts';
import {
  printForScan,
  restrictTo,
  spellEndAnchors,
  splitChoice,
} from '../../match/regex-analysis.ts';
import { atStart, isDense, matchesAnyOf, toEnd, withoutTail } from '../../match/regex-tail.ts';
import { readRegexTree } from '../../match/regex-tree.ts';
import type { RegexNode } from '../../match/regex-tree.ts';
import { HS_FLAG } from '../../match/scan.ts';
import type { HsExpression } from '../../match/scan.ts';
import type { Prefilter } from '../transaction/types.ts';
import { partOf } from './chain-parts.ts';
import type { Compilations, CompileOutcome, Compiling } from './compilations.ts';
import { partJoined } from './line-guards.ts';
import type { LineExpression, LinePattern } from './line-guards.ts';
import type { ScanPattern } from './scan-draft.ts';

const baseFlags = HS_FLAG.dotall | HS_FLAG.singleMatch;
/** One expression, as each tier searches for it. */
export interface Expression {
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

/** The expressions that a pattern is searched for by, with tiers of these masks; one a word. */
export function expressionsOf(pattern: ScanPattern, masks: readonly number[]): Expression[] {
  const { filter, negated } = pattern;
  if (filter.kind === 'pattern') {
    const caseless = filter.caseless ? HS_FLAG.caseless : 0;
    const flags = baseFlags | HS_FLAG.allowEmpty | caseless;
    return [{ pattern, literal: false, flags, ...patternTiers(filter, negated, masks) }];
  }
  if (filter.kind !== 'words') return [];
  return filter.words.map((word) => ({
    pattern,
    literal: true,
    flags: baseFlags | (filter.caseless ? HS_FLAG.caseless : 0),
    whole: word,
    narrow: masks.map((mask) => {
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
  masks: readonly number[],
): Pick<Expression, 'whole' | 'narrow'> {
  const multiline = /\(\?[a-zA-Z]*m/.test(pattern);
  const whole = multiline ? pattern : spellEndAnchors(pattern);
  const tree = multiline || negated ? null : readRegexTree(pattern, { caseless, dotall: true });
  const narrow = masks.map((mask) => {
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

/** What compiling a group comes to; the expressions are those that were given. */
export interface CompiledExpressions {
  readonly expressions: readonly Expression[];
  readonly modes: readonly ExpressionMode[];
  readonly tiers: readonly CompiledTier<Uint8Array>[];
}

/**
 * Has a group's databases compiled: the widest first, for it says how exact each pattern is, with a
 * database for each part (`chain-parts.ts`).
 */
export function compileExpressions(
  expressions: readonly Expression[],
  masks: readonly number[],
  parts: readonly (readonly string[])[],
  compilations: Compilations,
  onDone: (compiled: CompiledExpressions) => void,
): void {
  const modes: ExpressionMode[] = expressions.map(() => 'exact');
  const tiers: CompiledTier<Uint8Array>[] = [];
  const databases: (Uint8Array | null)[] = parts.map(() => null);
  let openParts = parts.length;
  const compileNarrower = (): void => {
    tiers[masks.length] = { allowedMask: 0xffffffff, databases, ...noLines };
    let open = masks.length;
    for (const [tier, mask] of masks.entries()) {
      compilations.run(compileNarrow(expressions, modes, mask, tier), (compiled) => {
        tiers[tier] = compiled;
        if (--open === 0) onDone({ expressions, modes, tiers });
      });
    }
  };
  if (parts.length === 0) compileNarrower();
  for (const part of parts.keys()) {
    const ids = expressions.flatMap(({ pattern }, id) => {
      return partOf(parts, pattern) === part ? [id] : [];
    });
    compilations.run(compileWidest(expressions, ids, modes), (database) => {
      databases[part] = database;
      if (--openParts === 0) compileNarrower();
    });
  }
}

/** Characters of the longest pattern: what a group costs to compile follows it. */
export function longestOf(expressions: readonly Expression[]): number {
  return expressions.reduce((most, { whole }) => Math.max(most, whole.length), 0);
}

const noLines = { lines: null, guarded: null, guard: null };

/** Steps an expression that does not compile down: exact, then over-approximated, then left out. */
function* compileWidest(
  expressions: readonly Expression[],
  part: readonly number[],
  modes: ExpressionMode[],
): Compiling<Uint8Array | null> {
  for (;;) {
    const ids = part.filter((id) => modes[id] !== 'refused');
    // What may not compile is tried before seconds went into the rest.
    ids.sort((x, y) => expressions[y]!.whole.length - expressions[x]!.whole.length);
    if (ids.length === 0) return null;
    const list = ids.map((id) => wholeExpression(expressions[id]!, id, modes));
    const outcome: CompileOutcome = yield list;
    if (outcome instanceof Uint8Array) return outcome;
    const failed = ids[outcome.index]!;
    const relaxed = modes[failed] === 'exact' && !expressions[failed]!.literal;
    modes[failed] = relaxed ? 'prefilter' : 'refused';
  }
}

/** Cut-down patterns for lines; those that have no such form, or do not compile so, stay whole. */
function* compileNarrow(
  expressions: readonly Expression[],
  modes: readonly ExpressionMode[],
  allowedMask: number,
  tier: number,
): Compiling<CompiledTier<Uint8Array>> {
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
    lines: yield* compileLines(expressions, rest, single),
    guarded: yield* compileLines(expressions, guarded, single),
    guard: yield* compileGuard(literals),
  };
  if (lineDatabases.guarded === null) lineDatabases.guard = null;
  if (single.length === 0) return { allowedMask, databases: [null], ...lineDatabases };
  single.sort((x, y) => x - y);
  const list = single.map((id) => wholeExpression(expressions[id]!, id, modes));
  const database: CompileOutcome = yield list;
  if (database instanceof Uint8Array) {
    return { allowedMask, databases: [database], ...lineDatabases };
  }
  throw new AppError('database_refused', 'a pattern compiles with all others but not with fewer', {
    source: 'internal',
  });
}

/** Compiles patterns for lines; those that do not compile so join `single`. */
function* compileLines(
  expressions: readonly Expression[],
  joined: LineExpression[],
  single: number[],
): Compiling<Uint8Array | null> {
  joined.sort((x, y) => y.pattern.text.length - x.pattern.text.length);
  while (joined.length > 0) {
    const list = joined.map((one) => lineExpression(expressions[one.id]!, one));
    const outcome: CompileOutcome = yield list;
    if (outcome instanceof Uint8Array) return outcome;
    if (outcome.neverMatches) joined.splice(outcome.index, 1);
    else replaceFailed(joined, outcome.index, single);
  }
  return null;
}

/** Tells every place, so that each line with a literal is found. */
function* compileGuard(literals: readonly string[]): Compiling<Uint8Array | null> {
  if (literals.length === 0) return null;
  const outcome: CompileOutcome = yield literals.map((pattern, id) => {
    return { pattern, id, literal: true, flags: HS_FLAG.caseless };
  });
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
