/**
 * What a filter means in ClickHouse's SQL. Texts of clients come in only as escaped literals: old
 * servers know no parameters. Pure. Source: ClickHouse documentation, "Syntax", String.
 */

import type { EventFilter } from '../events/event-filter.ts';
import { timeOfEventId } from '../events/event-id.ts';
import { spanOf } from '../events/event-scan.ts';
import type { KindName } from '../events/event-questions.ts';
import { networkBounds } from './address-bytes.ts';
import { fieldColumns, type ColumnType } from './event-tables.ts';

/** A literal that holds the text and nothing else. */
export function literalOf(value: string): string {
  const escaped = value.replace(/[\\']/g, '\\$&').replaceAll('\u0000', '\\0');
  return `'${escaped}'`;
}

/** Time and number of an event's id, as the table has them. */
export function placeOfId(id: string): { readonly at: number; readonly number: number } {
  return { at: timeOfEventId(id), number: Number(id.slice(id.indexOf('-') + 1)) };
}

/** All that rows of events that fit satisfy, before an id ('' for all of them). */
export function conditionsOf(kind: KindName, filter: EventFilter, beforeId: string): string {
  const { tenantId, anyOf, networks, pathPrefix, contains } = filter;
  const conditions = [
    spanCondition(filter, beforeId),
    `tenant = ${literalOf(tenantId)}`,
    ...anyOf.map(({ field, values }) => anyOfCondition(kind, field, values)),
    ...contains.map(({ property, text }) => {
      return `position(${property}_lower, ${literalOf(text.toLowerCase())}) > 0`;
    }),
  ];
  if (networks.length > 0) conditions.push(networkCondition(networks));
  if (pathPrefix !== '') conditions.push(`startsWith(path, ${literalOf(pathPrefix)})`);
  return conditions.join(' AND ');
}

/** Rows of the time of a filter, before an id ('' for all of them). */
function spanCondition(filter: Pick<EventFilter, 'startMs' | 'endMs'>, beforeId: string): string {
  const { startId, endId } = spanOf(filter, beforeId);
  const [start, end] = [placeOfId(startId), placeOfId(endId)];
  const before = `(at < ${end.at} OR number < ${end.number})`;
  return `at >= ${start.at} AND at <= ${end.at} AND ${before}`;
}

/** Errors: what asks for a field that the kind does not have is a mistake of ours. */
function anyOfCondition(kind: KindName, field: string, values: readonly string[]): string {
  const type = fieldColumns[kind][field];
  if (type === undefined) throw new Error(`events of this kind have no field ${field}`);
  const list = values.flatMap((value) => literalFor(type, value)).join(', ');
  if (list === '') return '0';
  return type.startsWith('Array') ? `hasAny(${field}, [${list}])` : `${field} IN (${list})`;
}

/** None where no row can have the value. */
function literalFor(type: ColumnType, value: string): string[] {
  if (type === 'String' || type === 'Array(String)') return [literalOf(value)];
  const max = type === 'UInt16' ? 0xffff : 0xffff_ffff;
  const number = /^(0|[1-9]\d{0,9})$/.test(value) ? Number(value) : Infinity;
  return number <= max ? [String(number)] : [];
}

function networkCondition(networks: readonly string[]): string {
  const within = networks.map((network) => {
    const [first, last] = networkBounds(network).map(bytesLiteral);
    // An address of one family is in no network of the other, however it is written.
    const family = `position(client, ':') ${network.includes(':') ? '> 0' : '= 0'}`;
    // An index knows single addresses, and no ranges.
    const bytes =
      first === last
        ? `client_bytes = ${first}`
        : `client_bytes >= ${first} AND client_bytes <= ${last}`;
    return `(${family} AND ${bytes})`;
  });
  return `client != '' AND (${within.join(' OR ')})`;
}

function bytesLiteral(bytes: Buffer): string {
  const hex = bytes.toString('hex').replace(/../g, '\\x$&');
  return `toFixedString('${hex}', 16)`;
}
