/** The operators `rx` and `rxGlobal`: regular expressions over bytes, dot matches newline. */

import type { ByteString } from '../../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../../base/rule-limits.ts';
import { finiteLanguage } from '../../../match/regex-analysis.ts';
import { readRegexTree } from '../../../match/regex-tree.ts';
import { compileExact, type ExactRegex } from '../../../match/regex.ts';
import { expandMacro } from '../../transaction/macro.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type {
  BindContext,
  BindFailure,
  BoundOperator,
  MacroText,
  OperatorDefinition,
} from '../../transaction/types.ts';
import { BoundedCache } from './bounded-cache.ts';

/** Matches a value in which the regular expression is found; captures the first find. */
export const rx: OperatorDefinition = {
  name: 'rx',
  summary: 'Matches when the regular expression is found in the value.',
  example: 'SecRule REQUEST_HEADERS:User-Agent "@rx nikto" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, rx',
  argument: 'optional',
  pure: true,
  captures: true,
  bind: (argument, context) => bindRegex(rx, argument, context, matchFirst),
};

/** As rx, but captures the groups of every find, one after the other. */
export const rxGlobal: OperatorDefinition = {
  name: 'rxGlobal',
  summary: 'As rx, but captures from every find in the value instead of the first one.',
  example: 'SecRule ARGS "@rxGlobal (select)" "id:1,capture"',
  source: 'ModSecurity Reference Manual, Operators, rxGlobal',
  argument: 'optional',
  captures: true,
  bind: (argument, context) => bindRegex(rxGlobal, argument, context, matchEvery),
};

type Matcher = (regex: ExactRegex, value: ByteString, captures: ByteString[] | null) => boolean;

function bindRegex(
  definition: OperatorDefinition,
  argument: ByteString,
  context: BindContext,
  matcher: Matcher,
): BoundOperator | BindFailure {
  const macro = context.parseMacros(argument);
  if (macro.literal === null) return bindMacroRegex(definition, argument, context, macro, matcher);
  const simple = definition === rx ? bindSimple(argument) : null;
  if (simple) return simple;
  const regex = compile(argument, context.pcreMatchLimit, context.known);
  if (!regex) return { failure: 'the argument is not a valid regular expression' };
  return {
    definition,
    argument,
    prefilter: { kind: 'pattern', pattern: argument, caseless: false },
    evaluate: remembering((value, tx, captures) => {
      return matchLimited(matcher, regex, value, tx, captures);
    }),
    sift: (values, possible) => {
      const search = regex.joined?.() ?? null;
      search?.sift(values, possible);
      return search !== null;
    },
    close: () => regex.close(),
  };
}

/** What was found in a value: nothing, or the captures; none of those where nobody asked. */
type Found = readonly ByteString[] | null;
type Answers = Map<ByteString, Found>;

/**
 * As `evaluate`, but with the answers for the last values at hand: the same header lines come again
 * and again, and a search costs microseconds.
 */
function remembering(evaluate: BoundOperator['evaluate']): BoundOperator['evaluate'] {
  const known: [Answers, Answers] = [new Map(), new Map()];
  return (value, tx, captures) => {
    if (value.length > ruleRunLimits.rememberedValueBytesMax) return evaluate(value, tx, captures);
    const which = captures === null ? 0 : 1;
    let found = known[which].get(value);
    if (found === undefined) {
      const limits = tx.pcreLimitsExceeded;
      const texts: ByteString[] = [];
      found = evaluate(value, tx, captures && texts) ? texts : null;
      // A search that a limit stopped has to be recorded each time.
      if (tx.pcreLimitsExceeded === limits && limits === 0) {
        // A new map, since one that is cleared keeps its tables alive, and their values.
        if (known[which].size >= ruleRunLimits.rememberedValuesMax) known[which] = new Map();
        known[which].set(value, found);
      }
    }
    if (found === null) return false;
    if (captures !== null) for (let i = 0; i < found.length; i++) captures.push(found[i]!);
    return true;
  };
}

/** Strings of an anchored pattern that are compared one by one instead of by a regex. */
const listedStringsMax = 64;

/**
 * Patterns that every request meets and that need no regex: `^.*$`, and those that stand for a few
 * whole strings, such as `^(?:GET|HEAD)$`. Null for all others and for those that capture groups.
 */
function bindSimple(argument: ByteString): BoundOperator | null {
  const all = /^\^?\.\*\$?$/.test(argument);
  const strings = all || !/^\^.*\$$/s.test(argument) ? null : listStrings(argument);
  if (!all && strings === null) return null;
  return {
    definition: rx,
    argument,
    prefilter: { kind: 'pattern', pattern: argument, caseless: false },
    evaluate: (value, _tx, captures) => {
      if (strings !== null && !strings.has(value)) return false;
      captures?.push(value);
      return true;
    },
  };
}

function listStrings(pattern: ByteString): ReadonlySet<ByteString> | null {
  if (/\((?!\?)/.test(pattern)) return null;
  const tree = readRegexTree(pattern, { caseless: false, dotall: true });
  const strings = tree?.exact ? finiteLanguage(tree.root, listedStringsMax) : null;
  return strings && new Set(strings);
}

/** Compiles the expanded text when it is first seen; what is no regex then never matches. */
function bindMacroRegex(
  definition: OperatorDefinition,
  argument: ByteString,
  context: BindContext,
  macro: MacroText,
  matcher: Matcher,
): BoundOperator {
  const compiled = new BoundedCache<ExactRegex | null>(ruleRunLimits.macroRegexCacheMax, (old) =>
    old?.close(),
  );
  return {
    definition,
    argument,
    macro,
    evaluate: (value, tx, captures) => {
      const pattern = expandMacro(macro, tx);
      const regex = compiled.get(pattern, () => compile(pattern, context.pcreMatchLimit));
      return regex !== null && matchLimited(matcher, regex, value, tx, captures);
    },
    close: () => compiled.clear(),
  };
}

/** Runs the search; one that ran into a match limit is no match and is recorded. */
function matchLimited(
  matcher: Matcher,
  regex: ExactRegex,
  value: ByteString,
  tx: Transaction,
  captures: ByteString[] | null,
): boolean {
  const before = regex.limitExceeded;
  const matched = matcher(regex, value, captures);
  if (regex.limitExceeded !== before) tx.notePcreLimit(tx.rule?.id ?? 0);
  return matched;
}

function compile(pattern: ByteString, matchLimit: number, known = false): ExactRegex | null {
  try {
    return compileExact(pattern, {}, { matchLimit, known });
  } catch {
    return null;
  }
}

function matchFirst(regex: ExactRegex, value: ByteString, captures: ByteString[] | null): boolean {
  if (!captures) return regex.test(value);
  const spans = regex.exec(value);
  if (!spans) return false;
  pushSpans(value, spans, captures);
  return true;
}

function matchEvery(regex: ExactRegex, value: ByteString, captures: ByteString[] | null): boolean {
  if (!captures) return regex.test(value);
  const finds = regex.execAll(value, ruleRunLimits.rxGlobalFindsMax);
  if (finds.length === 0) return false;
  for (const spans of finds) {
    // An empty find after the first one adds nothing.
    const empty = captures.length > 0 && spans.every((span) => span.start === span.end);
    if (!empty) pushSpans(value, spans, captures);
  }
  return true;
}

/** Groups that took no part are empty; unset ones at the end are left out, as PCRE counts them. */
function pushSpans(
  value: ByteString,
  spans: readonly { start: number; end: number }[],
  captures: ByteString[],
): void {
  let count = spans.length;
  while (count > 1 && (spans[count - 1]?.start ?? -1) < 0) count--;
  for (let i = 0; i < count; i++) {
    const span = spans[i];
    captures.push(span && span.start >= 0 ? value.slice(span.start, span.end) : '');
  }
}
