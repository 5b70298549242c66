/** How what is kept becomes what travels: fields by their names. Pure. */

import { fromJson, type DescMessage, type JsonObject, type MessageShape } from '@bufbuild/protobuf';

/** The message with the fields of a record that have the same names; it has no others. */
export function byName<S extends DescMessage>(schema: S, record: object): MessageShape<S> {
  const stated = Object.entries(record).filter(([, value]) => value !== undefined);
  return fromJson(schema, Object.fromEntries(stated) as JsonObject, { ignoreUnknownFields: true });
}
