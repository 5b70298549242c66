/** The step between messages and stored records, pages and revisions. */

import {
  fromJson,
  toJson,
  type DescMessage,
  type JsonValue,
  type MessageShape,
} from '@bufbuild/protobuf';
import { callLimits } from '../limits/call-limits.ts';
import type { Clock } from '../../base/clock.ts';
import type { PageRequest, TimeRange } from '../../proto/gen/waf/v1/common_pb.ts';
import { invalidField, refusal } from '../domain/errors.ts';
import { hideHeaderSecrets } from '../domain/site/header-secrets.ts';

const defaultPageSize = 50;

/** The JSON form of a message, as records are kept. */
export function toRecord<T>(schema: DescMessage, message: MessageShape<DescMessage>): T {
  return toJson(schema, message) as T;
}

/** Messages that hold headers towards origins; their secrets are not read back. */
const withHeaders = new Set(
  ['Site', 'SiteConfiguration', 'Upstream'].map((name) => `waf.v1.${name}`),
);

/** The message of a stored record; fields of the record that the message lacks are left out. */
export function toMessage<S extends DescMessage>(schema: S, record: object): MessageShape<S> {
  const shown = withHeaders.has(schema.typeName) ? hideHeaderSecrets(record) : record;
  return fromJson(schema, shown as JsonValue, { ignoreUnknownFields: true });
}

/** One page of `all`. Errors: invalid_argument for a page that cannot be. */
export function pageOf<T>(
  all: readonly T[],
  request: PageRequest | undefined,
): {
  readonly items: readonly T[];
  readonly page: { page: number; pageSize: number; total: bigint };
} {
  const { start, page } = placeOfPage(request);
  return {
    items: all.slice(start, start + page.pageSize),
    page: { ...page, total: BigInt(all.length) },
  };
}

/** Where a page begins. Errors: as `pageOf`. */
export function placeOfPage(request: PageRequest | undefined): {
  readonly start: number;
  readonly page: { page: number; pageSize: number };
} {
  const page = request?.page || 1;
  const pageSize = request?.pageSize || defaultPageSize;
  if (page < 1) throw invalidField('page.page', 'must be 1 or more');
  if (pageSize < 1 || pageSize > callLimits.pageSizeMax) {
    throw invalidField(
      'page.pageSize',
      `must be between 1 and ${callLimits.pageSizeMax}; 0 acts as 50`,
    );
  }
  return { start: (page - 1) * pageSize, page: { page, pageSize } };
}

/** Errors: invalid_argument without a revision, aborted when the record has moved on. */
export function requireRevision(sent: bigint, stored: string): void {
  if (sent <= 0n) throw invalidField('revision', 'is required: send the revision that you read');
  if (String(sent) === stored) return;
  throw refusal('aborted', `revision: the resource changed since; it has revision ${stored} now`);
}

/** The revision after `stored`. */
export function nextRevision(stored: string): string {
  return String(BigInt(stored) + 1n);
}

/** Errors: invalid_argument at `field` when the text is empty. */
export function requireText(value: string, field: string): string {
  if (value === '') throw invalidField(field, 'is required');
  return value;
}

/** Case-insensitive part of any of the texts; an empty query fits everything. */
export function fitsQuery(query: string, ...texts: readonly (string | undefined)[]): boolean {
  const wanted = query.trim().toLowerCase();
  return wanted === '' || texts.some((text) => (text ?? '').toLowerCase().includes(wanted));
}

/** Whether a time lies in a half-open range. */
export function inTimeRange(range: TimeRange | undefined, atMs: number): boolean {
  const ms = (time: { seconds: bigint; nanos: number } | undefined, absent: number): number =>
    time === undefined ? absent : Number(time.seconds) * 1000 + time.nanos / 1e6;
  return atMs >= ms(range?.start, -Infinity) && atMs < ms(range?.end, Infinity);
}

/** Now, as records keep it. */
export function isoNow(clock: Clock): string {
  return new Date(clock.nowMs()).toISOString();
}
