/** What every step of linking needs: names, where to report, and how files are read. */

import type { ByteString } from '../../../base/byte-string.ts';
import type { RuleCatalog } from '../features/catalog.ts';
import type { DirectiveDefinition } from '../features/directives/definition.ts';
import { parseMacros } from '../transaction/macro.ts';
import type {
  ActionDefinition,
  BindContext,
  FeatureDefinition,
  MacroText,
  OperatorDefinition,
  TransformationDefinition,
  VariableDefinition,
} from '../transaction/types.ts';
import type { Token } from '../language/ast.ts';
import { quoteForMessage, type Report, type SourceSpan } from '../language/diagnostic.ts';
import { didYouMean } from '../language/nearest-name.ts';

/** Reads data files that rules name; decides itself which may be read. Null: there is none. */
export type ReadDataFile = (name: ByteString, fromFile: string) => ByteString | null;

/** One kind of name: looked up without case, aliases included. */
export interface NameTable<T extends FeatureDefinition> {
  /** What messages call it: `operator`, `variable`. */
  readonly noun: string;
  find(name: string): T | undefined;
  readonly names: readonly string[];
}

/** What the steps of linking share. */
export interface LinkContext {
  readonly report: Report;
  readonly readDataFile: ReadDataFile;
  readonly compileRegex: RuleCatalog['compileRegex'];
  readonly directives: NameTable<DirectiveDefinition>;
  readonly operators: NameTable<OperatorDefinition>;
  readonly transformations: NameTable<TransformationDefinition>;
  readonly actions: NameTable<ActionDefinition>;
  readonly variables: NameTable<VariableDefinition>;
  /** Cautions that were reported: each is reported once for a program. */
  readonly told: Set<string>;
}

/** Makes the tables of a catalog. */
export function createLinkContext(
  catalog: RuleCatalog,
  readDataFile: ReadDataFile,
  report: Report,
): LinkContext {
  return {
    report,
    readDataFile,
    compileRegex: (pattern, caseless) => catalog.compileRegex(pattern, caseless),
    directives: nameTable('directive', catalog.directives),
    operators: nameTable('operator', catalog.operators),
    transformations: nameTable('transformation', catalog.transformations),
    actions: nameTable('action', catalog.actions),
    variables: nameTable('variable', catalog.variables),
    told: new Set(),
  };
}

function nameTable<T extends FeatureDefinition>(noun: string, list: readonly T[]): NameTable<T> {
  const byName = new Map<string, T>();
  for (const entry of list) {
    for (const name of [entry.name, ...(entry.aliases ?? [])]) {
      byName.set(name.toLowerCase(), entry);
    }
  }
  const names = list.map((entry) => entry.name);
  return { noun, names, find: (name) => byName.get(name.toLowerCase()) };
}

/** Finds what a token names, or reports it with its nearest neighbor and gives null. */
export function findNamed<T extends FeatureDefinition>(
  table: NameTable<T>,
  token: Token,
  report: Report,
): T | null {
  const found = table.find(token.text);
  if (found !== undefined) return found;
  const hint = didYouMean(token.text, table.names);
  const message = `unknown ${table.noun} ${quoteForMessage(token.text)}${hint}`;
  report('error', `unknown-${table.noun}`, message, token.span);
  return null;
}

/** What binding may use in `file`. */
export function bindContext(
  context: LinkContext,
  file: string,
  pcreMatchLimit: number,
): BindContext {
  return {
    file,
    pcreMatchLimit,
    known: false,
    readDataFile: context.readDataFile,
    parseMacros: (text) => macroText(context, text),
    findVariable: (name) => context.variables.find(name),
  };
}

/** A text with its macros found. */
export function macroText(context: LinkContext, text: ByteString): MacroText {
  return parseMacros(text, (name) => context.variables.find(name));
}

/** The key is bounded: without its end the search would begin anew at every `%{`. */
const macroPattern = /%\{([A-Za-z_]{1,64})(?:[.:][^}]{0,256})?\}/g;

/** Warns of `%{NAME}` where no variable has that name: it stays in the text as it is written. */
export function checkMacros(context: LinkContext, text: ByteString, span: SourceSpan): void {
  for (const [, name = ''] of text.matchAll(macroPattern)) {
    if (context.variables.find(name) !== undefined) continue;
    const hint = didYouMean(name, context.variables.names);
    const message = `unknown variable ${quoteForMessage(name)} in a macro${hint}`;
    context.report('warning', 'unknown-macro', message, span);
  }
}
