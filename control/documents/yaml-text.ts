/**
 * Reads YAML and JSON documents with bounds that hold before anything is built of them, and names
 * line and column of whatever is wrong. Every document that people or programs hand in is read
 * here. Never looks at what the documents mean.
 */

import {
  Composer,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  Lexer,
  LineCounter,
  Parser,
  type Document,
  type Node,
} from 'yaml';
import { AppError } from '../../base/errors.ts';
import { yamlLimits } from '../limits/resource-limits.ts';
import { tokenFault } from './yaml-tokens.ts';

/** One document of a text. */
export interface YamlDocument {
  /** Plain data: no cycles, no numbers that JSON cannot hold. Null for an empty document. */
  readonly value: unknown;
  /** Its place in the text, from 1. */
  readonly number: number;
}

/** Something wrong at a place of a text. */
export interface YamlFault {
  /** Offset in the text. */
  readonly at: number;
  readonly problem: string;
}

/**
 * The documents of a text. `file` names it in messages. Errors: AppError yaml_invalid, whose
 * message begins with `file:line:column:`. Cost: some 5 us a token, of which there is a bound.
 */
export function readYaml(text: string, file: string): YamlDocument[] {
  return [...walkYaml(text, file)];
}

/** As `readYaml`, one document at a time. */
export function* walkYaml(text: string, file: string): Generator<YamlDocument, undefined> {
  const lines = new LineCounter();
  const refuse = ({ at, problem }: YamlFault, number: number): AppError => {
    const { line, col } = lines.linePos(at);
    const what = `document ${number}: is not valid YAML at line ${line}: ${problem}`;
    return new AppError('yaml_invalid', `${file}:${line}:${col}: ${what}`, { source: 'config' });
  };
  // The parser may take time that grows with the square of what these bounds let through.
  const found = tokenFault(new Lexer().lex(text), lines.addNewLine);
  if (found !== null) throw refuse(found, found.document);
  let number = 0;
  // Keys that come twice are looked for here: the library compares each with each.
  const composer = new Composer({ uniqueKeys: false });
  for (const document of composer.compose(new Parser().parse(text))) {
    number++;
    const fault = documentFault(document);
    if (fault !== null) throw refuse(fault, number);
    yield { value: document.toJS({ maxAliasCount: -1 }) as unknown, number };
  }
}

/** The one mapping of a text of JSON or YAML. Errors: AppError yaml_invalid. */
export function readYamlObject(text: string, file: string): Record<string, unknown> {
  const [first, second] = readYaml(text, file);
  const value = first?.value;
  if (second !== undefined || typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = `${file}:1:1: must hold one mapping, in JSON or YAML`;
    throw new AppError('yaml_invalid', message, { source: 'config' });
  }
  return value as Record<string, unknown>;
}

const { depthMax, valuesMax, keyCharactersMax } = yamlLimits;

function documentFault(document: Document): YamlFault | null {
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    const [sentence = problem.code] = problem.message.split(/ at line | \(|[\n\r]/, 1);
    return { at: problem.pos[0], problem: `${sentence.slice(0, 120)} (${problem.code})` };
  }
  const look: Look = { anchors: new Map(), values: 0 };
  return document.contents === null ? null : nodeFault(document.contents, look, 0);
}

/** Tags of what JSON can hold; others become dates, sets or bytes. */
const plainTags = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** What a walk through a document has met. */
interface Look {
  /** Values below each anchor; null while the walk is inside of it. */
  readonly anchors: Map<string, number | null>;
  /** Values so far, those that aliases repeat included. */
  values: number;
}

function nodeFault(node: Node, look: Look, depth: number): YamlFault | null {
  const at = node.range?.[0] ?? 0;
  if (depth > depthMax) return { at, problem: `is nested deeper than ${depthMax} levels` };
  if (isAlias(node)) return aliasFault(node.source, at, look);
  const { tag } = node as { tag?: string };
  if (tag !== undefined && !plainTags.has(tag)) {
    return { at, problem: `the tag ${printable(tag)} is not read` };
  }
  const before = look.values++;
  const anchor = isScalar(node) || isCollection(node) ? node.anchor : undefined;
  if (anchor !== undefined) look.anchors.set(anchor, null);
  if (isScalar(node) && typeof node.value === 'number' && !Number.isFinite(node.value)) {
    return { at, problem: 'holds a number that is not finite' };
  }
  if (isCollection(node)) {
    const fault = isMap(node)
      ? keysFault(node.items, look, depth)
      : itemsFault(node.items, look, depth);
    if (fault !== null) return fault;
  }
  if (look.values > valuesMax) return { at, problem: `holds more than ${valuesMax} values` };
  if (anchor !== undefined) look.anchors.set(anchor, look.values - before);
  return null;
}

/** An alias stands for all values of its anchor: a few of them could repeat a document for ever. */
function aliasFault(name: string, at: number, look: Look): YamlFault | null {
  const values = look.anchors.get(name);
  if (values === undefined) return { at, problem: unknownAlias(name) };
  if (values === null) return { at, problem: 'an alias stands inside its own anchor' };
  look.values += values;
  if (look.values <= valuesMax) return null;
  return { at, problem: `aliases repeat more than ${valuesMax} values` };
}

function unknownAlias(name: string): string {
  const shown = `*${printable(name)}`;
  const meaning = `${shown} without quotes is an alias of YAML, and no anchor has this name`;
  return `${meaning}: write "${shown}"`;
}

function keysFault(items: readonly unknown[], look: Look, depth: number): YamlFault | null {
  const seen = new Set<string>();
  for (const item of items) {
    if (!isPair(item)) continue;
    const { key, value } = item as { key: Node | null; value: Node | null };
    const at = key?.range?.[0] ?? 0;
    if (isAlias(key)) return { at, problem: unknownAlias(key.source) };
    if (key !== null && !isScalar(key)) return { at, problem: 'a key must be text' };
    const name = key === null ? '' : String(key.value);
    if (name.length > keyCharactersMax) {
      return { at, problem: `a key has more than ${keyCharactersMax} characters` };
    }
    if (seen.has(name)) return { at, problem: `the key ${printable(name)} comes twice` };
    seen.add(name);
    const fault = value === null ? null : nodeFault(value, look, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}

function itemsFault(items: readonly unknown[], look: Look, depth: number): YamlFault | null {
  for (const item of items) {
    // A pair in a list is a mapping of its own.
    const fault = isPair(item)
      ? keysFault([item], look, depth + 1)
      : nodeFault(item as Node, look, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}

/** What a message may show of a text from outside. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
}
