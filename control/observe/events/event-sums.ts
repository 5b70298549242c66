/**
 * Adds events up from the columns of segments, without reading the events: totals, a trend,
 * rankings. Exact: what filters say is compared with the values themselves, not with their hashes.
 */

import type { SecuritySummaryDimensionJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { SecurityEventJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import { paced, type Pace } from '../paced.ts';
import { isAttackBy } from '../security-event.ts';
import { ruleTextSeparator } from '../security-terms.ts';
import { BoundedCounts } from '../bounded-counts.ts';
import { entriesOf, SummarySums, type SecuritySummary, type TopEntry } from '../summary.ts';
import { addressCheck, prepareFilter, type EventFilter } from './event-filter.ts';
import { timeOfEventId } from './event-id.ts';
import type { EventKind, EventTerms, StoredEvent } from './event-kind.ts';
import { spanOf, type LaneSource } from './event-scan.ts';
import { eventOfEntry } from './read-entry.ts';
import { segmentsFrom } from './segment-list.ts';
import { SegmentReader } from './segment.ts';
import { indexRow, type TailRow } from './tail.ts';

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

/** The index field of each dimension. */
export const fieldOfDimension: Readonly<Partial<Record<SecuritySummaryDimensionJson, string>>> = {
  SECURITY_SUMMARY_DIMENSION_ATTACKER: 'client',
  SECURITY_SUMMARY_DIMENSION_SITE: 'site',
  SECURITY_SUMMARY_DIMENSION_TARGET: 'target',
  SECURITY_SUMMARY_DIMENSION_ATTACK_TYPE: 'first_attack',
  SECURITY_SUMMARY_DIMENSION_PATH: 'path',
  SECURITY_SUMMARY_DIMENSION_METHOD: 'method',
  SECURITY_SUMMARY_DIMENSION_RULE: 'rule_text',
};

/** Adds security events up. */
export async function summarizeSecurity(
  sources: readonly LaneSource<SecurityEventJson>[],
  { filter, wanted, topLimit, withTrend }: SummaryWishes,
  pace: Pace,
): Promise<SecuritySummary> {
  const sums = new SummarySums(wanted, withTrend);
  const fields = wanted.flatMap((one) => {
    const field = fieldOfDimension[one];
    return field === undefined ? [] : [[one, field] as const];
  });
  const add = (event: Picked): void => {
    const blocked = event.first('outcome') === 'blocked';
    const attack = isAttackBy(blocked, event.first('severity'));
    sums.addEvent(event.atMs(), blocked);
    for (const [dimension, field] of fields) {
      // Rules are ranked by what matched, the others by attacks.
      if (!attack && field !== 'rule_text') continue;
      event.each(field, (text) => sums.addValue(dimension, ...labeled(field, text)));
    }
  };
  for await (const event of paced(pickEvents(sources, filter), pace)) {
    if (event !== null) add(event);
  }
  return sums.result(topLimit);
}

/** Ranks the values of one field of events. */
export async function rankValues<E extends StoredEvent>(
  sources: readonly LaneSource<E>[],
  wishes: { readonly filter: EventFilter; readonly field: string; readonly limit: number },
  pace: Pace,
): Promise<Ranked> {
  const counts = new BoundedCounts();
  let events = 0;
  for await (const event of paced(pickEvents(sources, wishes.filter), pace)) {
    if (event === null) continue;
    events++;
    event.each(wishes.field, (text) => counts.add(text));
  }
  return { entries: entriesOf(counts, wishes.limit), events, limited: counts.limited };
}

function labeled(field: string, text: string): [key: string, label: string] {
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
    for (const row of tail()) yield* pickRow(kind, row, filter);
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

/** Events of the tail, by their index values. */
function* pickRow<E extends StoredEvent>(
  kind: EventKind<E>,
  row: TailRow,
  filter: EventFilter,
): Generator<Picked | null> {
  const { startId, endId } = spanOf(filter, '');
  const conditions = conditionsOf(filter);
  const { matches } = prepareFilter(kind, filter);
  yield* indexRow(kind, row);
  for (const [at, entry] of row.entries.entries()) {
    const terms = row.terms[at] ?? null;
    if (terms === null || entry.id < startId || entry.id >= endId) continue;
    if (entry.tenantId !== filter.tenantId) continue;
    let told = conditions.every(([field, fits]) => (terms[field] ?? []).some(fits));
    if (told && filter.contains.length > 0) {
      const event = eventOfEntry(kind, entry);
      told = event !== null && matches(event);
    }
    yield told ? pickedTerms(terms, timeOfEventId(entry.id)) : null;
  }
}

function pickedTerms(terms: EventTerms, atMs: number): Picked {
  return {
    atMs: () => atMs,
    first: (field) => terms[field]?.[0] ?? '',
    each: (field, take) => terms[field]?.forEach((value) => take(value)),
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
    yield event !== null && matches(event)
      ? pickedTerms(source.kind.termsOf(event), segment.timeOf(at))
      : null;
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
  filter: EventFilter,
): ((event: number) => boolean)[] | null {
  const checks: ((event: number) => boolean)[] = [];
  for (const [field, fits] of conditionsOf(filter)) {
    const column = segment.column(field)!;
    const places = segment.terms(field).flatMap((value, place) => (fits(value) ? [place] : []));
    if (places.length === 0) return null;
    const marks = column.marks(places);
    checks.push((event) => marks[event] === 1);
  }
  return checks;
}

type Condition = readonly [field: string, fits: (value: string) => boolean];

/** What values of index fields say exactly; what a text contains, they do not say. */
function conditionsOf({ anyOf, networks, pathPrefix }: EventFilter): Condition[] {
  const conditions: Condition[] = anyOf.map(({ field, values }) => {
    const wanted = new Set(values);
    return [field, (value) => wanted.has(value)];
  });
  const inNetworks = addressCheck(networks);
  if (inNetworks !== null) conditions.push(['client', inNetworks]);
  if (pathPrefix !== '') conditions.push(['path', (value) => value.startsWith(pathPrefix)]);
  return conditions;
}
