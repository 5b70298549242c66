/**
 * The part of XPath 1.0 that rules use: child and descendant steps, names with prefixes, `*`,
 * attributes, `text()`, and predicates on position, presence, equality and names. Everything else
 * is refused when the selector is compiled.
 */

import { valueLimits } from '../../../../base/rule-limits.ts';
import type { XmlElement } from '../../transaction/xml-element.ts';
import { reachLimit, type ReachedLimits } from '../../transaction/inspection-limits.ts';
import { textOf } from './xml-tree.ts';

type Axis = 'child' | 'descendant';

interface NameTest {
  readonly kind: 'element' | 'attribute' | 'text';
  /** null: any. */
  readonly local: string | null;
  readonly prefix: string | null;
}

type Predicate =
  | { readonly kind: 'position'; readonly position: number }
  | { readonly kind: 'last' }
  | { readonly kind: 'name'; readonly local: boolean; readonly value: string }
  | { readonly kind: 'part'; readonly test: NameTest; readonly value: string | null };

interface Step {
  readonly axis: Axis;
  readonly test: NameTest;
  readonly predicates: readonly Predicate[];
}

/** A compiled selector. */
export type XmlPath = readonly Step[];

const stepPattern = /^(\/\/?)(@?)(?:([A-Za-z_][\w.-]*):)?(\*|[A-Za-z_][\w.-]*)(\(\))?/;
const partPattern =
  /^(@?)(?:([A-Za-z_][\w.-]*):)?(\*|[A-Za-z_][\w.-]*)(\(\))?\s*(?:=\s*(?:"([^"]*)"|'([^']*)'))?$/;

/** The compiled selector, or null when it is none or beyond what is supported. */
export function compileXmlPath(text: string): XmlPath | null {
  const steps: Step[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const match = stepPattern.exec(rest);
    if (match === null) return null;
    rest = rest.slice(match[0].length);
    const test = nameTest(match[2] === '@', match[3], match[4]!, match[5] !== undefined);
    if (test === null) return null;
    const predicates: Predicate[] = [];
    while (rest.startsWith('[')) {
      const close = closingBracket(rest);
      const predicate = close < 0 ? null : compilePredicate(rest.slice(1, close).trim());
      if (predicate === null) return null;
      predicates.push(predicate);
      rest = rest.slice(close + 1);
    }
    steps.push({ axis: match[1] === '//' ? 'descendant' : 'child', test, predicates });
  }
  const bad = steps.some((step, i) => step.test.kind !== 'element' && i < steps.length - 1);
  return steps.length === 0 || bad ? null : steps;
}

/**
 * String values of what the path selects, in document order. `namespaces` gives the prefixes of the
 * rule; a prefix that it does not know must be written alike in the document. Cost: bounded by
 * `xpathVisitsMax` and `xpathTextCharsMax`; what lies beyond is not found and is
 * recorded in `limits`.
 */
export function selectXml(
  root: XmlElement,
  path: XmlPath,
  namespaces: ReadonlyMap<string, string>,
  limits: ReachedLimits,
): string[] {
  const budget: Budget = { visits: valueLimits.xpathVisitsMax, limits };
  const document: XmlElement = {
    name: '',
    attributes: [],
    declarations: [],
    children: [root],
    parent: null,
  };
  let nodes: XmlElement[] = [document];
  for (const step of path) {
    if (step.test.kind !== 'element') return lastStep(nodes, step, namespaces, budget);
    const found = new Set<XmlElement>();
    for (const node of nodes) {
      for (const parent of scopes(node, step.axis, budget)) {
        const named = elementsOf(parent).filter((child) =>
          isNamed(child, child.name, step.test, namespaces),
        );
        for (const child of applyPredicates(named, step.predicates, namespaces)) found.add(child);
      }
    }
    nodes = [...found];
  }
  return textsOf(nodes, limits);
}

/** What one selector may still visit. */
interface Budget {
  visits: number;
  readonly limits: ReachedLimits;
}

function textsOf(nodes: readonly XmlElement[], limits: ReachedLimits): string[] {
  const texts: string[] = [];
  let room: number = valueLimits.xpathTextCharsMax;
  for (const node of nodes) {
    if (room <= 0) {
      reachLimit(limits, 'xpath-text');
      break;
    }
    const text = textOf(node);
    room -= text.length;
    texts.push(text);
  }
  return texts;
}

/** True while there is a visit left; the first that is missing is reported. */
function mayVisit(budget: Budget): boolean {
  if (budget.visits-- > 0) return true;
  reachLimit(budget.limits, 'xpath-nodes');
  return false;
}

/** Attributes or text nodes, which end a path. */
function lastStep(
  nodes: readonly XmlElement[],
  step: Step,
  namespaces: ReadonlyMap<string, string>,
  budget: Budget,
): string[] {
  const found: string[] = [];
  const seen = new Set<XmlElement>();
  for (const node of nodes) {
    for (const element of scopes(node, step.axis, budget)) {
      if (seen.has(element)) continue;
      seen.add(element);
      found.push(...partsOf(element, step.test, namespaces));
    }
  }
  return found;
}

/** The element alone for `/`; with everything below it for `//`. */
function scopes(node: XmlElement, axis: Axis, budget: Budget): XmlElement[] {
  if (axis === 'child') return mayVisit(budget) ? [node] : [];
  const found: XmlElement[] = [];
  const pending = [node];
  while (pending.length > 0 && mayVisit(budget)) {
    const element = pending.pop()!;
    found.push(element);
    const below = elementsOf(element);
    for (let i = below.length - 1; i >= 0; i--) pending.push(below[i]!);
  }
  return found;
}

function applyPredicates(
  elements: XmlElement[],
  predicates: readonly Predicate[],
  namespaces: ReadonlyMap<string, string>,
): XmlElement[] {
  let kept = elements;
  for (const predicate of predicates) {
    kept = kept.filter((element, i) => {
      switch (predicate.kind) {
        case 'position':
          return i + 1 === predicate.position;
        case 'last':
          return i === kept.length - 1;
        case 'name':
          return (predicate.local ? localOf(element.name) : element.name) === predicate.value;
        case 'part': {
          const parts = partsOf(element, predicate.test, namespaces);
          return predicate.value === null ? parts.length > 0 : parts.includes(predicate.value);
        }
      }
    });
  }
  return kept;
}

/** String values of an element's own attributes, text nodes or child elements. */
function partsOf(
  element: XmlElement,
  test: NameTest,
  namespaces: ReadonlyMap<string, string>,
): string[] {
  if (test.kind === 'text') return element.children.filter((child) => typeof child === 'string');
  if (test.kind === 'attribute') {
    return element.attributes
      .filter(({ name }) => isNamed(element, name, test, namespaces))
      .map(({ value }) => value);
  }
  return elementsOf(element)
    .filter((child) => isNamed(child, child.name, test, namespaces))
    .map(textOf);
}

/** Tests the name of `element` or of one of its attributes. */
function isNamed(
  element: XmlElement,
  name: string,
  test: NameTest,
  namespaces: ReadonlyMap<string, string>,
): boolean {
  if (test.local !== null && localOf(name) !== test.local) return false;
  if (test.local === null && test.prefix === null) return true;
  const colon = name.indexOf(':');
  const prefix = colon < 0 ? '' : name.slice(0, colon);
  const isAttribute = test.kind === 'attribute';
  const uri = isAttribute && prefix === '' ? '' : uriOf(element, prefix);
  if (test.prefix === null) return uri === '' && prefix === '';
  const wanted = namespaces.get(test.prefix);
  return wanted === undefined ? prefix === test.prefix : uri === wanted;
}

/** What `prefix` stands for where `element` is; empty when it is not declared. */
function uriOf(element: XmlElement, prefix: string): string {
  const name = prefix === '' ? 'xmlns' : `xmlns:${prefix}`;
  for (let at: XmlElement | null = element; at !== null; at = at.parent) {
    const found = at.declarations.find((declaration) => declaration.name === name);
    if (found !== undefined) return found.value;
  }
  return '';
}

function localOf(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function elementsOf(element: XmlElement): XmlElement[] {
  return element.children.filter((child) => typeof child !== 'string');
}

function compilePredicate(text: string): Predicate | null {
  if (/^\d{1,6}$/.test(text)) return { kind: 'position', position: Number(text) };
  if (text === 'last()') return { kind: 'last' };
  const name = /^(local-name|name)\(\)\s*=\s*(?:"([^"]*)"|'([^']*)')$/.exec(text);
  if (name !== null) {
    return { kind: 'name', local: name[1] === 'local-name', value: name[2] ?? name[3] ?? '' };
  }
  const part = partPattern.exec(text);
  if (part === null) return null;
  const test = nameTest(part[1] === '@', part[2], part[3]!, part[4] !== undefined);
  return test === null ? null : { kind: 'part', test, value: part[5] ?? part[6] ?? null };
}

function nameTest(
  attribute: boolean,
  prefix: string | undefined,
  name: string,
  isFunction: boolean,
): NameTest | null {
  if (isFunction) {
    const isText = name === 'text' && !attribute && prefix === undefined;
    return isText ? { kind: 'text', local: null, prefix: null } : null;
  }
  return {
    kind: attribute ? 'attribute' : 'element',
    local: name === '*' ? null : name,
    prefix: prefix ?? null,
  };
}

/** Offset of the bracket that closes the one at 0; brackets in quotes do not count. */
function closingBracket(text: string): number {
  let quote = '';
  for (let i = 1; i < text.length; i++) {
    const char = text[i]!;
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '[') return -1;
    else if (char === ']') return i;
  }
  return -1;
}
