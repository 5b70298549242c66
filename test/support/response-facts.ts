/**
 * Notes which values the fields of answers had, to find fields that never change: a field that has
 * one value whatever happens states no fact.
 */

import {
  toJson,
  type DescField,
  type DescMessage,
  type DescMethod,
  type MessageShape,
} from '@bufbuild/protobuf';
import type { TestControl } from './test-control.ts';

type Json = Readonly<Record<string, unknown>>;

/** Values of fields, by the name of their message; '' stands for an absent one. */
export class ResponseFacts {
  private readonly values = new Map<string, Set<string>>();

  /** Notes an answer in protobuf's JSON form. */
  note(schema: DescMessage, answer: Json): void {
    for (const field of schema.fields) {
      const value = answer[field.jsonName];
      const name = nameOf(schema, field);
      const seen = this.values.get(name) ?? new Set();
      this.values.set(name, seen.add(value === undefined ? '' : JSON.stringify(value)));
      if (field.message === undefined || isWellKnown(field.message)) continue;
      for (const one of messagesIn(field, value)) this.note(field.message, one);
    }
  }

  /** Notes a message of a stream. */
  noteMessage<Schema extends DescMessage>(schema: Schema, message: MessageShape<Schema>): void {
    this.note(schema, toJson(schema, message) as unknown as Json);
  }

  /** Fields of the answers of methods that had fewer than two values, sorted. */
  constant(methods: readonly DescMethod[]): string[] {
    const names = methods.flatMap(fieldsOf);
    return [...new Set(names)].filter((name) => (this.values.get(name)?.size ?? 0) < 2).sort();
  }
}

/** The same control; what its calls bring is noted where it belongs to the methods. */
export function noting(
  waf: TestControl,
  facts: ResponseFacts,
  methods: readonly DescMethod[],
): TestControl {
  const byName = new Map(methods.map((one) => [`${one.parent.name}/${one.name}`, one]));
  const call: TestControl['call'] = async (rpc, body, way) => {
    const answer = await waf.call(rpc, body, way);
    const method = byName.get(rpc);
    if (method !== undefined && answer.status === 200) facts.note(method.output, answer.body);
    return answer;
  };
  return { ...waf, call };
}

/**
 * Fields that one test walks through every method: `control/api/publishing-notes.test.ts`. Where no
 * node serves they have one value.
 */
const walkedElsewhere: readonly string[] = ['publishing'];

/** All fields that the answers of a method can have, those of messages inside them included. */
function fieldsOf({ output }: DescMethod): string[] {
  const names: string[] = [];
  const known = new Set<string>();
  const visit = (schema: DescMessage): void => {
    if (known.has(schema.typeName) || isWellKnown(schema)) return;
    known.add(schema.typeName);
    for (const field of schema.fields) {
      if (walkedElsewhere.includes(field.jsonName)) continue;
      names.push(nameOf(schema, field));
      if (field.message !== undefined) visit(field.message);
    }
  };
  visit(output);
  return names;
}

function nameOf(schema: DescMessage, field: DescField): string {
  return `${schema.name}.${field.jsonName}`;
}

function isWellKnown({ typeName }: DescMessage): boolean {
  return typeName.startsWith('google.protobuf.');
}

function messagesIn({ fieldKind }: DescField, value: unknown): Json[] {
  if (value === undefined || value === null) return [];
  if (fieldKind === 'list') return value as Json[];
  return fieldKind === 'map'
    ? Object.values(value as Json).map((one) => one as Json)
    : [value as Json];
}
