/**
 * Which events of a segment are too old, and which are too old for their details: each by the days
 * of its own site. Times are whole hours, so that a segment is looked at once an hour. Pure.
 */

import type { Entry } from './entry.ts';
import { timeOfEventId } from './event-id.ts';
import type { EventKind, StoredEvent } from './event-kind.ts';
import { eventOfEntry } from './read-entry.ts';
import type { SegmentInfo } from './segment-list.ts';
import type { SegmentReader } from './segment.ts';

/** When events are too old, milliseconds since the Unix epoch. */
export interface Cutoffs {
  /** Of sites that are not named. */
  readonly standardMs: number;
  readonly sites: ReadonlyMap<string, number>;
}

/** What a lane keeps. */
export interface LaneRetention {
  readonly events: Cutoffs;
  /** Until when events keep their details; null where they are kept as long as the events. */
  readonly details: Cutoffs | null;
}

/** What becomes of a segment: its entries, and up to when each site's details are gone. */
export interface Rewritten {
  readonly entries: readonly Entry[];
  readonly stripped: Readonly<Record<string, number>>;
}

const hourMs = 3_600_000;

/** The same, at whole hours: nothing goes early, everything within an hour. */
export function atWholeHours({ events, details }: LaneRetention): LaneRetention {
  return { events: roundCutoffs(events), details: details && roundCutoffs(details) };
}

/** Two retentions with the same text forget the same events. */
export function retentionText({ events, details }: LaneRetention): string {
  return JSON.stringify([textOf(events), details && textOf(details)]);
}

/** Events older than this are too old whatever their site. */
export function oldestKeptMs({ events }: LaneRetention): number {
  return Math.min(events.standardMs, ...events.sites.values());
}

/** Events that are not older than this stay as they are, whatever their site. */
export function firstUntouchedMs({ events, details }: LaneRetention): number {
  const all = [events, ...(details === null ? [] : [details])];
  return Math.max(...all.flatMap(({ standardMs, sites }) => [standardMs, ...sites.values()]));
}

/** What a segment becomes; null where nothing of it is too old. Cost: all of it is read then. */
export function rewriteSegment<E extends StoredEvent>(
  kind: EventKind<E>,
  segment: SegmentReader,
  retention: LaneRetention,
): Rewritten | null {
  const { info } = segment;
  const { events, details } = retention;
  const sites = sitesOf(kind, segment);
  const stripped: Record<string, number> = { ...info.stripped };
  const fates = sites.map((site, event) => {
    const atMs = segment.timeOf(event);
    if (atMs < cutoffOf(events, site)) return 'gone';
    if (details === null || kind.withoutDetails === undefined) return 'kept';
    if (atMs >= cutoffOf(details, site) || atMs < (info.stripped?.[site] ?? 0)) return 'kept';
    stripped[site] = cutoffOf(details, site);
    return 'stripped';
  });
  if (fates.every((fate) => fate === 'kept')) return null;
  const entries = fates.flatMap((fate, event) => {
    const entry = fate === 'gone' ? null : segment.entry(event);
    if (entry === null) return [];
    return [fate === 'stripped' ? withoutDetails(kind, entry) : entry];
  });
  return { entries, stripped };
}

/** True where a segment has events that may be too old. */
export function mayBeTooOld({ minId }: SegmentInfo, retention: LaneRetention): boolean {
  return timeOfEventId(minId) < firstUntouchedMs(retention);
}

/** An entry that cannot be read has nothing to take away; it is left out when it is written. */
function withoutDetails<E extends StoredEvent>(kind: EventKind<E>, entry: Entry): Entry {
  try {
    return kind.withoutDetails?.(entry) ?? entry;
  } catch {
    // Damaged: the segment that is built next leaves it out, too.
    return entry;
  }
}

/** The site of each event; '' for none. */
function sitesOf<E extends StoredEvent>(kind: EventKind<E>, segment: SegmentReader): string[] {
  const column = segment.column('site');
  const terms = segment.terms('site');
  return Array.from({ length: segment.info.count }, (_, event) => {
    let site = '';
    if (column !== null) column.each(event, (place) => (site = terms[place] ?? ''));
    else {
      const entry = segment.entry(event);
      site = (entry === null ? null : eventOfEntry(kind, entry))?.siteId ?? '';
    }
    return site;
  });
}

function cutoffOf({ standardMs, sites }: Cutoffs, site: string): number {
  return sites.get(site) ?? standardMs;
}

function roundCutoffs({ standardMs, sites }: Cutoffs): Cutoffs {
  const round = (atMs: number): number => Math.floor(atMs / hourMs) * hourMs;
  const rounded = [...sites].map(([site, atMs]) => [site, round(atMs)] as const);
  return { standardMs: round(standardMs), sites: new Map(rounded) };
}

function textOf({ standardMs, sites }: Cutoffs): readonly unknown[] {
  return [standardMs, [...sites].toSorted(([one], [other]) => (one < other ? -1 : 1))];
}
