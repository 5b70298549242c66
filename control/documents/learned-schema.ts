/**
 * Makes a JSON Schema of what was learned of an endpoint's bodies. It allows all that was seen and
 * forbids no further field: what was learned is a sample. Pure.
 */

import { apiDocumentLimits } from '../limits/api-document-limits.ts';
import { occurrences, type LearnedEvidence } from '../domain/documents/api-learning.ts';
import type { JsonObject } from './pointer.ts';

/** How the schemas of a document are written. */
export type SchemaDialect = 'swagger' | 'openapi-3.0' | 'openapi-3.1';

interface Node {
  types: Readonly<Record<string, number>>;
  readonly members: Map<string, Node>;
  items: Node | null;
  /** Members whose names are data. */
  rest: Node | null;
}

/** The schema; {} where nothing was learned. */
export function learnedSchema(evidence: LearnedEvidence, dialect: SchemaDialect): JsonObject {
  const root = emptyNode();
  for (const [path, types] of Object.entries(evidence.fields)) nodeAt(root, path).types = types;
  return schemaOf(root, dialect);
}

/** The dialect of a document. */
export function dialectOf(document: JsonObject): SchemaDialect {
  if (document['swagger'] !== undefined) return 'swagger';
  return String(document['openapi']).startsWith('3.0') ? 'openapi-3.0' : 'openapi-3.1';
}

function nodeAt(root: Node, path: string): Node {
  let node = root;
  for (const [step] of path.matchAll(/\/[^/[\]{}]+|\[\]|\{\}/g)) {
    if (step === '[]') node = node.items ??= emptyNode();
    else if (step === '{}') node = node.rest ??= emptyNode();
    else {
      const name = step.slice(1);
      const known = node.members.get(name) ?? emptyNode();
      node.members.set(name, known);
      node = known;
    }
  }
  return node;
}

function emptyNode(): Node {
  return { types: {}, members: new Map(), items: null, rest: null };
}

function schemaOf(node: Node, dialect: SchemaDialect): JsonObject {
  const types = typesOf(node);
  const named = types.filter((type) => type !== 'null');
  const [only] = named;
  if (only === undefined) return types.length > 0 && dialect === 'openapi-3.1' ? oneOf(types) : {};
  if (dialect === 'openapi-3.1') return { ...oneOf(types), ...contentOf(node, named, dialect) };
  const schemas = named.map((type) => ({ type, ...contentOf(node, [type], dialect) }));
  const nullable = types.length > named.length;
  if (dialect === 'swagger') {
    // Draft 4 of Swagger has no lists of types and no null: what varies is left open.
    return schemas.length === 1 && !nullable ? schemas[0]! : {};
  }
  const written = nullable ? schemas.map((schema) => ({ ...schema, nullable })) : schemas;
  return written.length === 1 ? written[0]! : { anyOf: written };
}

function oneOf(types: readonly string[]): JsonObject {
  return { type: types.length === 1 ? types[0] : types };
}

/** An integer among numbers is a number. */
function typesOf({ types }: Node): string[] {
  const seen = Object.keys(types).filter((type) => types[type]! > 0);
  return seen.filter((type) => type !== 'integer' || !seen.includes('number')).sort();
}

function contentOf(node: Node, types: readonly string[], dialect: SchemaDialect): JsonObject {
  const array = types.includes('array');
  return {
    ...(types.includes('object') ? membersOf(node, dialect) : {}),
    ...(array ? { items: node.items === null ? {} : schemaOf(node.items, dialect) } : {}),
  };
}

function membersOf(node: Node, dialect: SchemaDialect): JsonObject {
  const names = [...node.members.keys()].sort();
  const properties = names.map((name) => [name, schemaOf(node.members.get(name)!, dialect)]);
  const objects = node.types['object'] ?? 0;
  const required = names.filter((name) => {
    return occurrences(node.members.get(name)!.types) === objects;
  });
  const certain = objects >= apiDocumentLimits.requiredFrom && required.length > 0;
  return {
    ...(names.length === 0 ? {} : { properties: Object.fromEntries(properties) as JsonObject }),
    ...(certain ? { required } : {}),
    ...(node.rest === null ? {} : { additionalProperties: schemaOf(node.rest, dialect) }),
  };
}
