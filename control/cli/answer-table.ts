/** How an answer without a table of its own is shown to people: a row for each value. */

import type { DescMessage, JsonValue, MessageShape } from '@bufbuild/protobuf';
import type { Table } from './output.ts';

/** Fields and values of an answer; JSON documents in its bytes are shown as what they hold. */
export async function answerTable<S extends DescMessage>(
  schema: S,
  message: MessageShape<S>,
): Promise<Table> {
  const { toJson } = await import('@bufbuild/protobuf');
  const answer = toJson(schema, message) as Record<string, JsonValue>;
  return { columns: ['FIELD', 'VALUE'], rows: Object.entries(answer).flatMap(rowsOf) };
}

function rowsOf([path, value]: [string, JsonValue]): string[][] {
  const opened = path.endsWith('Json') && typeof value === 'string' ? documentOf(value) : value;
  if (Array.isArray(opened)) {
    return opened.flatMap((one, at) => rowsOf([`${path}[${at}]`, one]));
  }
  if (typeof opened === 'object' && opened !== null) {
    return Object.entries(opened).flatMap(([name, one]) => rowsOf([`${path}.${name}`, one]));
  }
  return [[path, String(opened)]];
}

/** The document of a field such as `reportJson`, which is base64; the text where it is none. */
function documentOf(base64: string): JsonValue {
  try {
    return JSON.parse(Buffer.from(base64, 'base64').toString('utf8')) as JsonValue;
  } catch {
    return base64;
  }
}
