/**
 * Says in answers what is stored but not enforced: every answer with a field `warnings` gets the
 * sentences about the controls that it shows. Changes nothing else of an answer.
 */

import { toJson, type DescMessage, type JsonObject, type Message } from '@bufbuild/protobuf';
import type { Interceptor } from '@connectrpc/connect';
import { unenforcedControls, warningsFor } from '../domain/enforcement.ts';

/** A field of an answer that shows controls. */
interface ShownField {
  readonly name: string;
  readonly message: DescMessage;
}

const fieldsOf = new WeakMap<DescMessage, readonly ShownField[]>();

/** Adds the sentences to unary answers. Cost: nothing for answers that show no such control. */
export function enforcementInterceptor(): Interceptor {
  return (next) => async (request) => {
    const response = await next(request);
    if (!response.stream) addWarnings(response.method.output, response.message);
    return response;
  };
}

/** Adds what `message` has to say to its `warnings`, each sentence once. */
function addWarnings(schema: DescMessage, message: Message): void {
  const fields = fieldsOf.get(schema) ?? findFields(schema);
  if (fields.length === 0) return;
  const values = message as unknown as Record<string, unknown>;
  const warnings = values['warnings'] as string[];
  for (const field of fields) {
    const items = [values[field.name]].flat() as (Message | undefined)[];
    for (const item of items) {
      if (item === undefined) continue;
      const json = toJson(field.message, item) as JsonObject;
      for (const sentence of warningsFor(field.message.typeName, json)) {
        if (!warnings.includes(sentence)) warnings.push(sentence);
      }
    }
  }
}

function findFields(schema: DescMessage): readonly ShownField[] {
  const says = schema.fields.some(({ localName }) => localName === 'warnings');
  const found = !says
    ? []
    : schema.fields.flatMap((field) => {
        const message =
          field.fieldKind === 'list' || field.fieldKind === 'message' ? field.message : undefined;
        const shows = message !== undefined && isNamed(message);
        return shows ? [{ name: field.localName, message }] : [];
      });
  fieldsOf.set(schema, found);
  return found;
}

/** True where a control names the message. */
function isNamed({ typeName }: DescMessage): boolean {
  return unenforcedControls.some(({ messages }) => messages.includes(typeName));
}
