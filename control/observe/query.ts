/** Owns filtering of security events: which events a query means, page by page. */

import { BlockList, isIP } from 'node:net';
import type {
  QuerySecurityEventsRequest,
  SecurityEventJson,
} from '../../proto/gen/waf/v1/log_pb.ts';
import { SecurityEventOutcome } from '../../proto/gen/waf/v1/log_pb.ts';
import { controlLimits } from '../../engine/base/limits.ts';
import { invalidField } from '../domain/errors.ts';
import type { EventStore } from './event-store.ts';
import { paced } from './paced.ts';
import { severityNames } from './security-event.ts';

const defaultPageSize = 50;
const lastMs = 8.64e15 / 100;

/** One page of events and the cursor of the next page. */
export interface EventPage {
  readonly items: readonly SecurityEventJson[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

/**
 * One page of events, newest first. Reads on until the page is full or nothing is left, in slices.
 * Errors: invalid_argument naming the field.
 */
export async function querySecurityEvents(
  store: EventStore,
  tenantId: string,
  query: QuerySecurityEventsRequest,
  signal?: AbortSignal,
): Promise<EventPage> {
  const { pageSize, offset, beforeId } = readPage(query);
  const found: SecurityEventJson[] = [];
  let skipped = 0;
  for await (const event of matchingEvents(store, tenantId, query, { beforeId, signal })) {
    if (skipped < offset) skipped++;
    else if (found.length === pageSize) {
      return { items: found, nextCursor: cursorOf(found.at(-1)?.id ?? ''), hasMore: true };
    } else found.push(event);
  }
  return { items: found, nextCursor: '', hasMore: false };
}

function readPage({ page }: QuerySecurityEventsRequest): {
  pageSize: number;
  offset: number;
  beforeId: string;
} {
  const { pageSize = 0, offset = 0, cursor = '' } = page ?? {};
  if (pageSize < 0 || pageSize > controlLimits.pageSizeMax) {
    throw invalidField(
      'page.pageSize',
      `must be between 1 and ${controlLimits.pageSizeMax}; 0 acts as 50`,
    );
  }
  if (offset < 0 || offset > controlLimits.offsetMax) {
    throw invalidField('page.offset', `must be between 0 and ${controlLimits.offsetMax}`);
  }
  if (offset > 0 && cursor !== '') throw invalidField('page.offset', 'excludes cursor');
  return { pageSize: pageSize || defaultPageSize, offset, beforeId: readCursor(cursor) };
}

/** The id in a cursor; '' for none. Errors: invalid_argument at page.cursor, or at `field`. */
export function readCursor(cursor: string, field = 'page.cursor'): string {
  if (cursor === '') return '';
  const id = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!/^\d{14}-\d{12}$/.test(id)) throw invalidField(field, 'is not one of ours');
  return id;
}

/** The cursor of the page after the event with this id. */
export function cursorOf(id: string): string {
  return Buffer.from(id, 'latin1').toString('base64url');
}

type Filter = (event: SecurityEventJson) => boolean;

function makeFilter(query: QuerySecurityEventsRequest): Filter {
  const filters: Filter[] = [];
  const { siteId, agentId, targetIdentity, minimumSeverity, outcome } = query;
  if (outcome === SecurityEventOutcome.UNSPECIFIED) {
    throw invalidField('outcome', 'is required; SECURITY_EVENT_OUTCOME_ANY for every event');
  }
  if (siteId !== '') filters.push((event) => event.siteId === siteId);
  if (agentId !== '') filters.push((event) => event.agentId === agentId);
  if (targetIdentity !== '') filters.push((event) => event.targetIdentity === targetIdentity);
  addAny(filters, query.ruleIds, 'ruleIds', (event) => event.ruleIds ?? []);
  addAny(filters, query.attackTypes, 'attackTypes', (event) => [
    ...(event.attackTypes ?? []),
    event.attackType ?? '',
  ]);
  if (query.clientIpCidrs.length > 0) filters.push(addressFilter(query.clientIpCidrs));
  if (outcome === SecurityEventOutcome.BLOCKED) filters.push((event) => event.blocked === true);
  if (outcome === SecurityEventOutcome.PASSED) filters.push((event) => event.blocked !== true);
  if (minimumSeverity !== '') {
    const names: readonly string[] = severityNames;
    const bound = names.indexOf(minimumSeverity);
    if (bound < 0) throw invalidField('minimumSeverity', `must be one of ${names.join(', ')}`);
    const wanted = new Set(names.slice(0, bound + 1));
    filters.push((event) => wanted.has(event.severity ?? ''));
  }
  return (event) => filters.every((filter) => filter(event));
}

function addAny(
  filters: Filter[],
  wanted: readonly string[],
  field: string,
  valuesOf: (event: SecurityEventJson) => readonly string[],
): void {
  if (wanted.length === 0) return;
  if (wanted.length > controlLimits.filterValuesMax) {
    throw invalidField(field, `has at most ${controlLimits.filterValuesMax} entries`);
  }
  const set = new Set(wanted);
  filters.push((event) => valuesOf(event).some((value) => set.has(value)));
}

function addressFilter(cidrs: readonly string[]): Filter {
  if (cidrs.length > controlLimits.filterValuesMax) {
    throw invalidField('clientIpCidrs', `has at most ${controlLimits.filterValuesMax} entries`);
  }
  const networks = new BlockList();
  cidrs.forEach((cidr, at) => {
    const [address = '', bits] = cidr.split('/');
    const version = isIP(address);
    const max = version === 4 ? 32 : 128;
    const length = bits === undefined ? max : Number(bits);
    if (version === 0 || !Number.isInteger(length) || length < 0 || length > max) {
      throw invalidField(
        `clientIpCidrs[${at}]`,
        'must be an address or a network such as 10.0.0.0/8',
      );
    }
    networks.addSubnet(address, length, version === 4 ? 'ipv4' : 'ipv6');
  });
  return ({ clientIp = '' }) => {
    const version = isIP(clientIp);
    return version !== 0 && networks.check(clientIp, version === 4 ? 'ipv4' : 'ipv6');
  };
}

/** Where to continue, and who waits for it. */
export interface Reading {
  /** Only events before this one; '' for all. */
  readonly beforeId?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Every event that a query means, newest first, in slices. Errors: as above. */
export async function* matchingEvents(
  store: EventStore,
  tenantId: string,
  query: QuerySecurityEventsRequest,
  { beforeId = '', signal }: Reading = {},
): AsyncGenerator<SecurityEventJson> {
  const matches = makeFilter(query);
  const startMs = toMs(query.timeRange?.start, 0);
  const endMs = toMs(query.timeRange?.end, lastMs);
  if (endMs < startMs) throw invalidField('timeRange', 'must not end before it starts');
  const source =
    query.uniqueId === ''
      ? store.newestFirst(beforeId, startMs, endMs)
      : store.byRequestId(query.uniqueId).filter(({ id = '' }) => beforeId === '' || id < beforeId);
  for await (const event of paced(source, signal)) {
    if (event.tenantId === tenantId && matches(event)) yield event;
  }
}

function toMs(time: { seconds: bigint; nanos: number } | undefined, absent: number): number {
  return time === undefined ? absent : Number(time.seconds) * 1000 + Math.floor(time.nanos / 1e6);
}
