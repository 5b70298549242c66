/**
 * Adds events up from the columns of segments, without reading the events: totals, a trend,
 * rankings. Exact: what filters say is compared with the values themselves, not with their hashes.
 */

import type { SecuritySummaryDimensionJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { AccessEventJson, SecurityEventJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import { paced } from '../paced.ts';
import { isAttackBy, ruleTextSeparator } from '../security-event.ts';
import { BoundedCounts } from '../bounded-counts.ts';
import { entriesOf, SummarySums, type SecuritySummary, type TopEntry } from '../summary.ts';
import { addressCheck, prepareFilter, type EventFilter } from './event-filter.ts';
import type { StoredEvent } from './event-kind.ts';
import { eventOfEntry, spanOf, type LaneSource } from './event-scan.ts';
import { SegmentReader, segmentsFrom } from './segment.ts';

/** What a summary is asked for. */
export interface SummaryWishes {
  readonly filter: EventFilter;
  readonly wanted: readonly SecuritySummaryDimensionJson[];
  readonly topLimit: number;
  readonly withTrend: boolean;
}

/** Values by how many events have them, and how many events were looked at. */
export interface Ranked {
  readonly entries: readonly TopEntry[];
  readonly events: number;
  /** Whether there were more values than are counted. */
  readonly limited: boolean;
}

const fieldOf: Readonly<Partial<Record<SecuritySummaryDimensionJson, string>>> = {
  SECURITY_SUMMARY_DIMENSION_ATTACKER: 'client',
  SECURITY_SUMMARY_DIMENSION_SITE: 'site',
  SECURITY_SUMMARY_DIMENSION_TARGET: 'target',
  SECURITY_SUMMARY_DIMENSION_ATTACK_TYPE: 'first_attack',
  SECURITY_SUMMARY_DIMENSION_PATH: 'path',
  SECURITY_SUMMARY_DIMENSION_METHOD: 'method',
  SECURITY_SUMMARY_DIMENSION_RULE: 'rule_text',
};

/** Adds security events up. */
export async function summariseSecurity(
  sources: readonly LaneSource<SecurityEventJson>[],
  { filter, wanted, topLimit, withTrend }: SummaryWishes,
  signal: AbortSignal | undefined,
): Promise<SecuritySummary> {
  const sums = new SummarySums(wanted, withTrend);
  const fields = wanted.flatMap((one) => {
    const field = fieldOf[one];
    return field === undefined ? [] : [[one, field] as const];
  });
  const add = (event: Picked): void => {
    const blocked = event.first('outcome') === 'blocked';
    const attack = isAttackBy(blocked, event.first('severity'));
    sums.addEvent(event.atMs(), blocked);
    for (const [dimension, field] of fields) {
      // Rules are ranked by what matched, the others by attacks.
      if (!attack && field !== 'rule_text') continue;
      event.each(field, (text) => sums.addValue(dimension, ...labelled(field, text)));
    }
  };
  for await (const event of paced(pickEvents(sources, filter), signal)) {
    if (event !== null) add(event);
  }
  return sums.result(topLimit);
}

/** Ranks the values of one field of access events. */
export async function rankAccess(
  sources: readonly LaneSource<AccessEventJson>[],
  wishes: { readonly filter: EventFilter; readonly field: string; readonly limit: number },
  signal: AbortSignal | undefined,
): Promise<Ranked> {
  const counts = new BoundedCounts();
  let events = 0;
  for await (const event of paced(pickEvents(sources, wishes.filter), signal)) {
    if (event === null) continue;
    events++;
    event.each(wishes.field, (text) => counts.add(text));
  }
  return { entries: entriesOf(counts, wishes.limit), events, limited: counts.limited };
}

function labelled(field: string, text: string): [key: string, label: string] {
  if (field !== 'rule_text') return [text, ''];
  const end = text.indexOf(ruleTextSeparator);
  return [text.slice(0, end), text.slice(end + 1)];
}

/** An event that is being added up; the same object stands for one after the other. */
interface Picked {
  atMs(): number;
  /** The first value of a field; '' without one. */
  first(field: string): string;
  each(field: string, take: (value: string) => void): void;
}

/** Events that fit, in no order; null now and then where none does. */
function* pickEvents<E extends StoredEvent>(
  sources: readonly LaneSource<E>[],
  filter: EventFilter,
): Generator<Picked | null> {
  const { startId, endId } = spanOf(filter, '');
  if (endId <= startId) return;
  for (const source of sources) {
    const { kind, reader, lane, tail } = source;
    const { matches } = prepareFilter(kind, filter);
    for (const entry of tail()) {
      if (entry.id < startId || entry.id >= endId) continue;
      const event = eventOfEntry(kind, entry);
      yield event !== null && matches(event) ? pickedEvent(source, event) : null;
    }
    for (const info of segmentsFrom(reader, lane, startId)) {
      yield null;
      if (info.minId >= endId || !info.tenants.includes(filter.tenantId)) continue;
      const segment = new SegmentReader(reader, lane, info);
      const whole = info.minId >= startId && info.maxId < endId && info.tenants.length === 1;
      if (whole && columnsSuffice(source, segment, filter)) yield* pickColumns(segment, filter);
      else yield* pickEntries(source, segment, filter);
    }
  }
}

function pickedEvent<E extends StoredEvent>({ kind }: LaneSource<E>, event: E): Picked {
  const terms = kind.termsOf(event);
  return {
    atMs: () => Date.parse(event.occurredAt ?? ''),
    first: (field) => terms[field]?.[0] ?? '',
    each: (field, take) => terms[field]?.forEach(take),
  };
}

/** Where a span cuts a segment, or columns do not say enough: event by event. */
function* pickEntries<E extends StoredEvent>(
  source: LaneSource<E>,
  segment: SegmentReader,
  filter: EventFilter,
): Generator<Picked | null> {
  const { startId, endId } = spanOf(filter, '');
  const { matches } = prepareFilter(source.kind, filter);
  for (let at = 0; at < segment.info.count; at++) {
    const id = segment.idOf(at);
    if (id < startId || id >= endId) continue;
    const entry = segment.entry(at);
    const event = entry === null ? null : eventOfEntry(source.kind, entry);
    yield event !== null && matches(event) ? pickedEvent(source, event) : null;
  }
}

function columnsSuffice<E extends StoredEvent>(
  { kind }: LaneSource<E>,
  segment: SegmentReader,
  filter: EventFilter,
): boolean {
  const fields = filter.anyOf.map(({ field }) => field);
  if (filter.networks.length > 0) fields.push('client');
  if (filter.pathPrefix !== '') fields.push('path');
  if (filter.contains.length > 0) return false;
  return fields.every((field) => kind.ranked.includes(field) && segment.column(field) !== null);
}

function* pickColumns(segment: SegmentReader, filter: EventFilter): Generator<Picked | null> {
  const checks = exactChecks(segment, filter);
  if (checks === null) return;
  const known = new Map<string, readonly string[]>();
  const textsOf = (field: string): readonly string[] => {
    let texts = known.get(field);
    if (texts === undefined) known.set(field, (texts = segment.terms(field)));
    return texts;
  };
  let at = 0;
  const picked: Picked = {
    atMs: () => segment.timeOf(at),
    first: (field) => {
      let first = '';
      segment.column(field)?.each(at, (place) => (first ||= textsOf(field)[place] ?? ''));
      return first;
    },
    each: (field, take) => {
      segment.column(field)?.each(at, (place) => take(textsOf(field)[place] ?? ''));
    },
  };
  for (; at < segment.info.count; at++) if (checks.every((fits) => fits(at))) yield picked;
}

/** One check a condition; null when nothing in the segment can fit. */
function exactChecks(
  segment: SegmentReader,
  { anyOf, networks, pathPrefix }: EventFilter,
): ((event: number) => boolean)[] | null {
  const conditions: [field: string, fits: (value: string) => boolean][] = anyOf.map(
    ({ field, values }) => [field, (value) => values.includes(value)],
  );
  const inNetworks = addressCheck(networks);
  if (inNetworks !== null) conditions.push(['client', inNetworks]);
  if (pathPrefix !== '') conditions.push(['path', (value) => value.startsWith(pathPrefix)]);
  const checks: ((event: number) => boolean)[] = [];
  for (const [field, fits] of conditions) {
    const column = segment.column(field)!;
    const places = Uint8Array.from(segment.terms(field), (value) => (fits(value) ? 1 : 0));
    if (!places.includes(1)) return null;
    checks.push((event) => column.has(event, places));
  }
  return checks;
}
