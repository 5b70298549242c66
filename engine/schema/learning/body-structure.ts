/**
 * Takes the structure of a JSON body: which fields it has, and of which types. No value leaves this
 * file, and no name that looks like one: such members are counted under `{}`.
 */

import { looksVariable } from '../../../base/endpoint-tree.ts';
import { learningLimits } from '../../base/learning-limits.ts';
import { fieldTypes, type FieldType, type LearningDrop } from '../../contract/api-learning.ts';
import { readPlainJson } from '../plain-json.ts';

/** The structure of one body. */
export interface BodyStructure {
  /**
   * Occurrences by type (in the order of `fieldTypes`), by path: `/name` a member, `[]` the items
   * of a list, `{}` members whose names are data; '' is the body itself.
   */
  readonly fields: ReadonlyMap<string, readonly number[]>;
  readonly dropped: Readonly<Partial<Record<LearningDrop, number>>>;
}

/** Why a body has no structure. */
export type StructureFault = 'malformed' | 'too_complex';

interface Walk {
  readonly fields: Map<string, number[]>;
  readonly dropped: Partial<Record<LearningDrop, number>>;
  /** Values that may still be looked at. */
  left: number;
}

/** The structure of a body, or why it has none. Cost: that of parsing it. */
export function structureOf(bytes: Buffer): BodyStructure | StructureFault {
  const read = readPlainJson(bytes);
  if ('fault' in read) {
    return read.fault === 'depth' || read.fault === 'size' ? 'too_complex' : 'malformed';
  }
  const walk: Walk = { fields: new Map(), dropped: {}, left: learningLimits.valuesMax };
  visit(walk, read.value, '', 0);
  // Part of a body would make fields look absent that are there.
  return walk.left < 0 ? 'too_complex' : { fields: walk.fields, dropped: walk.dropped };
}

function visit(walk: Walk, value: unknown, path: string, depth: number): void {
  if (--walk.left < 0) return;
  if (depth > learningLimits.depthMax || path.length > learningLimits.pathCharsMax) {
    return drop(walk, 'depth');
  }
  const type = typeOf(value);
  let counts = walk.fields.get(path);
  if (counts === undefined) {
    walk.fields.set(path, (counts = new Array<number>(fieldTypes.length).fill(0)));
  }
  counts[fieldTypes.indexOf(type)]!++;
  if (type === 'array') visitItems(walk, value as readonly unknown[], path, depth);
  if (type === 'object')
    visitMembers(walk, value as Readonly<Record<string, unknown>>, path, depth);
}

function visitItems(walk: Walk, items: readonly unknown[], path: string, depth: number): void {
  const seen = Math.min(items.length, learningLimits.itemsMax);
  for (let at = 0; at < seen; at++) visit(walk, items[at], `${path}[]`, depth + 1);
  if (items.length > seen) drop(walk, 'items', items.length - seen);
}

function visitMembers(
  walk: Walk,
  object: Readonly<Record<string, unknown>>,
  path: string,
  depth: number,
): void {
  const names = Object.keys(object);
  const named = names.length <= learningLimits.membersMax;
  for (const name of names) {
    const kept = named && isFieldName(name);
    if (!kept) drop(walk, 'names');
    visit(walk, object[name], kept ? `${path}/${name}` : `${path}{}`, depth + 1);
  }
}

function drop(walk: Walk, what: LearningDrop, count = 1): void {
  walk.dropped[what] = (walk.dropped[what] ?? 0) + count;
}

function typeOf(value: unknown): FieldType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as 'object' | 'string' | 'boolean';
}

const fieldName = /^[$@]?[A-Za-z_][A-Za-z0-9_.-]*$/;

/** True for names that a program chose; identifiers, addresses and free texts are data. */
function isFieldName(name: string): boolean {
  if (name.length > learningLimits.nameCharsMax || !fieldName.test(name)) return false;
  return !looksVariable(name.replace(/^[$@]/, ''));
}
