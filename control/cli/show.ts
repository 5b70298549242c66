/** The step between messages of the API and what people and programs read and write. */

import type { DescMessage, JsonValue, Message, MessageShape } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { CommandContext } from './command.ts';
import { detailTable } from './detail-table.ts';
import { badFlag } from './input.ts';
import type { Table } from './output.ts';
import { withNames } from './shown-names.ts';

/** Writes an answer in the format that was asked for. Resolves to the exit code of success. */
export async function showMessage(
  context: CommandContext,
  message: Message,
  table: Table,
): Promise<number> {
  context.output.result(await jsonOf(message), await withNames(context, table));
  return 0;
}

/** Writes the one resource that an answer holds in `field`: all its fields for people, too. */
export async function showResource(
  { output }: CommandContext,
  message: Message,
  field: string,
): Promise<number> {
  const answer = await jsonOf(message);
  output.result(answer, detailTable(answer[field] ?? {}));
  return 0;
}

/** The rows for what an answer holds at most once. */
export function only<T>(one: T | undefined): readonly T[] {
  return one === undefined ? [] : [one];
}

/** A message of the API in its JSON form. */
async function jsonOf(message: Message): Promise<Record<string, JsonValue>> {
  const { toJson } = await import('@bufbuild/protobuf');
  const { schemaOf } = await import('./api-client.ts');
  return toJson(schemaOf(message), message) as Record<string, JsonValue>;
}

/** A text for a terminal: names in it may come from outside and reach it as no control codes. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}

/** Says that something is gone. Returns the exit code of success. */
export function showRemoved({ output }: CommandContext, kind: string, id: string): number {
  output.result({ id, removed: true }, { columns: ['REMOVED', 'ID'], rows: [[kind, id]] });
  return 0;
}

/** The message of a JSON value. Errors: AppError bad_flag that names `where` it came from. */
export async function readMessage<S extends DescMessage>(
  schema: S,
  value: unknown,
  where: string,
): Promise<MessageShape<S>> {
  const { fromJson } = await import('@bufbuild/protobuf');
  try {
    return fromJson(schema, value as JsonValue);
  } catch (error) {
    throw badFlag(`${where}: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
}

/** A time as RFC 3339; '' when there is none. */
export function timeText(time: Timestamp | undefined): string {
  if (time === undefined) return '';
  return new Date(Number(time.seconds) * 1000 + Math.trunc(time.nanos / 1e6)).toISOString();
}

/** The span of time up to now. */
export async function lastHours(hours: number): Promise<{ start: Timestamp; end: Timestamp }> {
  const { timestampFromMs } = await import('@bufbuild/protobuf/wkt');
  const endMs = Date.now();
  return { start: timestampFromMs(endMs - hours * 3_600_000), end: timestampFromMs(endMs + 1) };
}
