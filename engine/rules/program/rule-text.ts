/**
 * Rules as text and back: a linked chain is written as JSON that names everything by what the
 * catalog calls it, and bound again from it in another thread. Equal chains have equal texts,
 * whatever program they stand in. Decides nothing about a rule; linking did.
 */

import { createHash } from 'node:crypto';
import { type ByteString, internText } from '../../../base/byte-string.ts';
import type {
  BindContext,
  BoundAction,
  BoundOperator,
  DisruptiveKind,
  MacroText,
  Rule,
  RuleTemplate,
  Target,
  TargetSelector,
} from '../transaction/types.ts';
import { bindContext, macroText, type LinkContext } from './link-context.ts';

/** Name, argument. */
type Named = readonly [name: string, argument: ByteString];
/** Variable, count, kind of selector, text of the selector. */
type TargetText = readonly [string, boolean, (TargetSelector['kind'] | '')?, ByteString?];

/** One link of a chain. */
interface LinkText {
  readonly id: number;
  readonly phase: number;
  readonly targets: readonly TargetText[];
  readonly exclusions: readonly TargetText[];
  readonly operator: Named | null;
  readonly operatorText: ByteString;
  readonly negated: boolean;
  readonly transformations: readonly string[];
  readonly multiMatch: boolean;
  readonly capture: boolean;
  readonly actions: readonly Named[];
  readonly disruption: readonly [DisruptiveKind, number, ByteString | null];
  readonly skip: number;
  readonly skipAfter: string | null;
  readonly message: ByteString | null;
  readonly logData: ByteString | null;
  readonly severity: number;
  readonly tags: readonly ByteString[];
  readonly rev: ByteString;
  readonly ver: ByteString;
  readonly maturity: number;
  readonly accuracy: number;
  readonly log: boolean;
  readonly auditLog: boolean;
  readonly namespaces: readonly (readonly [string, string])[];
  readonly file: string;
  readonly line: number;
  /** SHA-256 of the data files that the operator reads. */
  readonly data: readonly string[];
}

interface ChainText {
  /** Searches of operators end there. */
  readonly pcreMatchLimit: number;
  readonly links: readonly LinkText[];
}

/** The chain that `first` begins, as text. Shape: bytes. */
export function writeChain(first: Rule, pcreMatchLimit: number): ByteString {
  const links: LinkText[] = [];
  for (let link: Rule | null = first; link; link = link.next) links.push(writeLink(link));
  const text = JSON.stringify({ pcreMatchLimit, links } satisfies ChainText);
  // Names of files may hold any character.
  return text.replace(/[\u0100-\uffff]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function writeLink(link: Rule): LinkText {
  const { operator, disruption, location, dataFiles } = link;
  return {
    id: link.id,
    phase: link.phase,
    targets: link.targets.map(writeTarget),
    exclusions: link.exclusions.map(writeTarget),
    operator: operator && [operator.definition.name, operator.argument],
    operatorText: link.operatorText,
    negated: link.negated,
    transformations: link.transformations.map(({ name }) => name),
    multiMatch: link.multiMatch,
    capture: link.capture,
    actions: link.actions.map(({ definition, argument }) => [definition.name, argument]),
    disruption: [disruption.kind, disruption.status, disruption.location?.source ?? null],
    skip: link.skip,
    skipAfter: link.skipAfter,
    message: link.message?.source ?? null,
    logData: link.logData?.source ?? null,
    severity: link.severity,
    tags: link.tags.map(({ source }) => source),
    rev: link.rev,
    ver: link.ver,
    maturity: link.maturity,
    accuracy: link.accuracy,
    log: link.log,
    auditLog: link.auditLog,
    namespaces: [...link.namespaces],
    file: location.file,
    line: location.line,
    data: dataFiles.map(({ text }) => digestOf(text)),
  };
}

function writeTarget({ variable, selector, count }: Target): TargetText {
  if (selector === null) return [variable.name, count];
  return [variable.name, count, selector.kind, textOf(selector)];
}

function textOf(selector: TargetSelector): ByteString {
  return selector.kind === 'key' ? selector.key : selector.text;
}

function digestOf(text: ByteString): string {
  return createHash('sha256').update(text, 'latin1').digest('hex');
}

/**
 * Binds the links of a chain, the first one first. Errors: an assertion where the catalog of this
 * thread or the data files are not those that the chain was linked with.
 */
export function bindChain(text: ByteString, context: LinkContext): RuleTemplate[] {
  const { pcreMatchLimit, links } = JSON.parse(text) as ChainText;
  return links.map((link) => bindLink(link, context, pcreMatchLimit));
}

function bindLink(link: LinkText, context: LinkContext, pcreMatchLimit: number): RuleTemplate {
  const dataFiles: { name: ByteString; text: ByteString }[] = [];
  const outer = bindContext(context, link.file, pcreMatchLimit);
  const bind: BindContext = {
    ...outer,
    known: true,
    readDataFile: (name, fromFile) => {
      const text = outer.readDataFile(name, fromFile);
      if (text !== null) dataFiles.push({ name, text });
      return text;
    },
  };
  const text = (source: ByteString | null): MacroText | null =>
    source === null ? null : macroText(context, source);
  const [kind, status, location] = link.disruption;
  const operator = link.operator && bindOperator(link.operator, context, bind);
  const read = dataFiles.map((file) => digestOf(file.text)).join();
  if (read !== link.data.join()) throw new Error(`rule ${link.id}: a data file has changed`);
  return {
    ...{ kind: 'rule', id: link.id, phase: link.phase },
    targets: link.targets.map((target) => bindTarget(target, context)),
    exclusions: link.exclusions.map((target) => bindTarget(target, context)),
    operator,
    negated: link.negated,
    transformations: link.transformations.map((name) => found(context.transformations.find(name))),
    multiMatch: link.multiMatch,
    capture: link.capture,
    actions: link.actions.map((action) => bindAction(action, context, bind)),
    disruption: { kind, status, location: text(location) },
    skip: link.skip,
    skipAfter: link.skipAfter,
    message: text(link.message),
    logData: text(link.logData),
    severity: link.severity,
    tags: link.tags.map((tag) => macroText(context, tag)),
    ...{ rev: link.rev, ver: link.ver, maturity: link.maturity, accuracy: link.accuracy },
    ...{ log: link.log, auditLog: link.auditLog },
    namespaces: new Map(link.namespaces),
    location: { file: link.file, line: link.line },
    operatorText: link.operatorText,
    dataFiles,
  };
}

function bindOperator([name, argument]: Named, context: LinkContext, bind: BindContext) {
  return bound<BoundOperator>(found(context.operators.find(name)).bind(argument, bind));
}

function bindAction([name, argument]: Named, context: LinkContext, bind: BindContext) {
  return bound<BoundAction>(found(found(context.actions.find(name)).bind?.(argument, bind)));
}

function bindTarget([name, count, kind = '', text = '']: TargetText, context: LinkContext): Target {
  const variable = found(context.variables.find(name));
  if (kind === '') return { variable, selector: null, count };
  if (kind === 'key') return { variable, selector: { kind, key: internText(text) }, count };
  if (kind === 'regex') {
    const regex = bound(context.compileRegex(text, true));
    return { variable, selector: { kind, text, regex }, count };
  }
  const served = variable.forXPath ? found(variable.forXPath(text)) : variable;
  return { variable: served, selector: { kind, text }, count };
}

function found<T>(one: T | undefined | null): T {
  if (one === undefined || one === null) throw new Error('a linked rule names what is not there');
  return one;
}

function bound<T extends object>(one: T | { readonly failure: string }): T {
  if ('failure' in one) throw new Error(`a linked rule cannot be bound: ${one.failure}`);
  return one;
}
