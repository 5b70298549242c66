/** Makes filters, pages and cursors of the requests of LogService, and asks the store. */

import { isIP } from 'node:net';
import type { CursorRequest, TimeRange } from '../../proto/gen/waf/v1/common_pb.ts';
import {
  SecurityEventOutcome,
  type QueryAccessEventsRequest,
  type QueryErrorEventsRequest,
  type QuerySecurityEventsRequest,
  type SecurityEventJson,
} from '../../proto/gen/waf/v1/log_pb.ts';
import { callLimits } from '../limits/call-limits.ts';
import { invalidField } from '../domain/errors.ts';
import { eachEvent, type EventStore } from './event-store.ts';
import type { AnyOf, EventFilter } from './events/event-filter.ts';
import { isEventId } from './events/event-id.ts';
import type { EventsByKind, KindName } from './events/event-questions.ts';
import { severityNames } from './attack-types.ts';

const defaultPageSize = 50;
const lastMs = 8.64e15 / 100;

/** One page of events and the cursor of the next page. */
export interface EventPage<E> {
  readonly items: readonly E[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

/**
 * One page of events of a kind, newest first. Reads on until the page is full or nothing is left.
 * Errors: invalid_argument naming the field of the page.
 */
export async function queryEvents<Name extends KindName>(
  store: EventStore,
  kind: Name,
  filter: EventFilter,
  page: CursorRequest | undefined,
  signal?: AbortSignal,
): Promise<EventPage<EventsByKind[Name]>> {
  const { pageSize, offset, beforeId } = readPage(page);
  const question = { ask: 'page', kind, filter, beforeId, offset, limit: pageSize } as const;
  const found = await store.ask(question, signal);
  const items = found.items as readonly EventsByKind[Name][];
  const nextCursor = found.hasMore ? cursorOf(items.at(-1)?.id ?? '') : '';
  return { items, nextCursor, hasMore: found.hasMore };
}

function readPage(page: CursorRequest | undefined): {
  pageSize: number;
  offset: number;
  beforeId: string;
} {
  const { pageSize = 0, offset = 0, cursor = '' } = page ?? {};
  if (pageSize < 0 || pageSize > callLimits.pageSizeMax) {
    throw invalidField(
      'page.pageSize',
      `must be between 1 and ${callLimits.pageSizeMax}; 0 acts as 50`,
    );
  }
  if (offset < 0 || offset > callLimits.offsetMax) {
    throw invalidField('page.offset', `must be between 0 and ${callLimits.offsetMax}`);
  }
  if (offset > 0 && cursor !== '') throw invalidField('page.offset', 'excludes cursor');
  return { pageSize: pageSize || defaultPageSize, offset, beforeId: readCursor(cursor) };
}

/** The id in a cursor; '' for none. Errors: invalid_argument at page.cursor, or at `field`. */
export function readCursor(cursor: string, field = 'page.cursor'): string {
  if (cursor === '') return '';
  const id = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!isEventId(id)) throw invalidField(field, 'is not one of ours');
  return id;
}

/** The cursor of the page after the event with this id. */
export function cursorOf(id: string): string {
  return Buffer.from(id, 'latin1').toString('base64url');
}

/** What all three queries can say. */
interface CommonQuery {
  readonly timeRange?: TimeRange | undefined;
  readonly siteId: string;
  readonly agentId: string;
  readonly uniqueId: string;
}

/** The filter of QuerySecurityEvents. Errors: invalid_argument naming the field. */
export function securityFilter(tenantId: string, query: QuerySecurityEventsRequest): EventFilter {
  const { outcome, minimumSeverity, targetIdentity, ruleIds, attackTypes, path } = query;
  if (outcome === SecurityEventOutcome.UNSPECIFIED) {
    throw invalidField('outcome', 'is required; SECURITY_EVENT_OUTCOME_ANY for every event');
  }
  const common = commonFilter(tenantId, query);
  const { BLOCKED, PASSED } = SecurityEventOutcome;
  const outcomes = outcome === BLOCKED ? ['blocked'] : outcome === PASSED ? ['passed'] : [];
  return {
    ...common,
    networks: readNetworks(query.clientIpCidrs),
    anyOf: [
      ...common.anyOf,
      ...anyOf('target', targetIdentity === '' ? [] : [targetIdentity], 'targetIdentity'),
      ...anyOf('path', single(path), 'path'),
      ...anyOf('rule', ruleIds, 'ruleIds'),
      ...anyOf('attack', attackTypes, 'attackTypes'),
      ...anyOf('outcome', outcomes, 'outcome'),
      ...anyOf('severity', readSeverity(minimumSeverity), 'minimumSeverity'),
    ],
  };
}

/** The filter of QueryAccessEvents. Errors: invalid_argument naming the field. */
export function accessFilter(tenantId: string, query: QueryAccessEventsRequest): EventFilter {
  const { statuses, method, pathPrefix, routeId, upstreamId } = query;
  const common = commonFilter(tenantId, query);
  return {
    ...common,
    networks: readNetworks(query.clientIpCidrs),
    pathPrefix,
    anyOf: [
      ...common.anyOf,
      ...anyOf('status', statuses.map(String), 'statuses'),
      ...anyOf('method', single(method), 'method'),
      ...anyOf('route', single(routeId), 'routeId'),
      ...anyOf('upstream', single(upstreamId), 'upstreamId'),
    ],
  };
}

/** The filter of QueryErrorEvents. Errors: invalid_argument naming the field. */
export function errorFilter(tenantId: string, query: QueryErrorEventsRequest): EventFilter {
  const common = commonFilter(tenantId, query);
  const texts = [
    { property: 'logger', text: query.loggerContains },
    { property: 'message', text: query.messageContains },
  ];
  return {
    ...common,
    anyOf: [...common.anyOf, ...anyOf('level', single(query.level), 'level')],
    contains: texts.filter(({ text }) => text !== ''),
  };
}

/** A filter for a span of time and a site ('' for all). Errors: invalid_argument at timeRange. */
export function plainFilter(
  tenantId: string,
  timeRange: TimeRange | undefined,
  siteId: string,
): EventFilter {
  return commonFilter(tenantId, { timeRange, siteId, agentId: '', uniqueId: '' });
}

function commonFilter(tenantId: string, query: CommonQuery): EventFilter {
  const { timeRange, siteId, agentId, uniqueId } = query;
  const startMs = toMs(timeRange?.start, 0);
  const endMs = toMs(timeRange?.end, lastMs);
  if (endMs < startMs) throw invalidField('timeRange', 'must not end before it starts');
  return {
    tenantId,
    startMs,
    endMs,
    networks: [],
    pathPrefix: '',
    contains: [],
    anyOf: [
      ...anyOf('request', single(uniqueId), 'uniqueId'),
      ...anyOf('site', single(siteId), 'siteId'),
      ...anyOf('agent', single(agentId), 'agentId'),
    ],
  };
}

function single(value: string): readonly string[] {
  return value === '' ? [] : [value];
}

function anyOf(field: string, values: readonly string[], name: string): AnyOf[] {
  if (values.length > callLimits.filterValuesMax) {
    throw invalidField(name, `has at most ${callLimits.filterValuesMax} entries`);
  }
  return values.length === 0 ? [] : [{ field, values }];
}

function readSeverity(minimum: string): readonly string[] {
  if (minimum === '') return [];
  const names: readonly string[] = severityNames;
  const bound = names.indexOf(minimum);
  if (bound < 0) throw invalidField('minimumSeverity', `must be one of ${names.join(', ')}`);
  return names.slice(0, bound + 1);
}

function readNetworks(cidrs: readonly string[]): readonly string[] {
  if (cidrs.length > callLimits.filterValuesMax) {
    throw invalidField('clientIpCidrs', `has at most ${callLimits.filterValuesMax} entries`);
  }
  cidrs.forEach((cidr, at) => {
    const [address = '', bits] = cidr.split('/');
    const version = isIP(address);
    const max = version === 4 ? 32 : 128;
    const length = bits === undefined ? max : Number(bits);
    if (version !== 0 && Number.isInteger(length) && length >= 0 && length <= max) return;
    throw invalidField(
      `clientIpCidrs[${at}]`,
      'must be an address or a network such as 10.0.0.0/8',
    );
  });
  return cidrs;
}

/** Every security event that a query means, newest first. Errors: as `securityFilter`. */
export function matchingEvents(
  store: EventStore,
  tenantId: string,
  query: QuerySecurityEventsRequest,
  signal?: AbortSignal,
): AsyncGenerator<SecurityEventJson> {
  return eachEvent(store, 'security', securityFilter(tenantId, query), signal);
}

function toMs(time: { seconds: bigint; nanos: number } | undefined, absent: number): number {
  return time === undefined ? absent : Number(time.seconds) * 1000 + Math.floor(time.nanos / 1e6);
}
