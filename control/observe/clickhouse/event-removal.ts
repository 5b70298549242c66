/**
 * Removes events and details that are too old. Whole days: a day of a lane is a partition, which
 * goes at once; where sites have days of their own, and for details, rows of a day are rewritten.
 * Nothing goes early, everything within a day.
 */

import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../../../base/errors.ts';
import { clickhouseLimits } from '../../limits/clickhouse-limits.ts';
import type { EventLane } from '../events/event-kind.ts';
import type { Cutoffs, LaneRetention } from '../events/retention.ts';
import { oldestKeptMs, retentionText } from '../events/retention.ts';
import { literalOf } from './conditions.ts';
import { dayMs, type Asking, type LaneDay } from './event-days.ts';
import { kindOfLane, onCluster, storedTableOf, tableOf } from './event-tables.ts';

/** The same, at whole days. */
export function atWholeDays({ events, details }: LaneRetention): LaneRetention {
  return { events: roundCutoffs(events), details: details && roundCutoffs(details) };
}

/** Names what a retention forgets. */
export const textOfRetention = retentionText;

/** Removes the days of a lane of which nothing is to be kept. */
export async function dropDays(
  { server, address }: Asking,
  lane: EventLane,
  days: readonly LaneDay[],
  retention: LaneRetention,
): Promise<void> {
  const oldest = oldestKeptMs(retention);
  const stored = storedTableOf(address, kindOfLane(lane));
  for (const one of days) {
    if (one.lane !== lane || (one.day + 1) * dayMs > oldest) continue;
    await server.command(
      `ALTER TABLE ${stored}${onCluster(address)} DROP PARTITION (${literalOf(lane)}, ${one.day})`,
    );
  }
}

/** Removes single events, and the details of others, each by the days of its site. */
export async function changeRows(
  asking: Asking,
  lane: EventLane,
  { events, details }: LaneRetention,
): Promise<void> {
  const own = `lane = ${literalOf(lane)}`;
  await change(asking, lane, 'DELETE', `${own} AND ${olderThan(events)}`);
  if (details === null) return;
  const withDetails = `${own} AND whole != '' AND ${olderThan(details)}`;
  await change(asking, lane, "UPDATE whole = ''", withDetails);
}

/** Does nothing where no row is meant: a change rewrites the days that it meets. */
async function change(asking: Asking, lane: EventLane, what: string, where: string): Promise<void> {
  const { server, address, signal } = asking;
  const kind = kindOfLane(lane);
  const count = `SELECT count() AS events FROM ${tableOf(address, kind)} WHERE ${where}`;
  const [found] = await server.rows(count, signal);
  if (Number(found?.['events'] ?? 0) === 0) return;
  const stored = storedTableOf(address, kind);
  await server.command(`ALTER TABLE ${stored}${onCluster(address)} ${what} WHERE ${where}`);
  await changed(asking, stored);
}

/** Waits for the servers, which change tables in the background. Errors: events_unwritable. */
async function changed({ server, address, signal }: Asking, stored: string): Promise<void> {
  const { cluster, database } = address;
  const from = cluster === '' ? 'system.mutations' : `cluster(${cluster}, system.mutations)`;
  const table = literalOf(stored.slice(database.length + 1));
  const statement =
    `SELECT count() AS waiting FROM ${from} ` +
    `WHERE database = ${literalOf(database)} AND table = ${table} AND is_done = 0`;
  const { changeTimeoutMs, changePollMs } = clickhouseLimits;
  for (let waited = 0; waited < changeTimeoutMs; waited += changePollMs) {
    const [row] = await server.rows(statement, signal);
    if (Number(row?.['waiting'] ?? 0) === 0) return;
    await wait(changePollMs, undefined, { signal });
  }
  const message = 'ClickHouse still removes old events: that is looked at again later';
  throw new AppError('events_unwritable', message, { source: 'storage', retryable: true });
}

function olderThan({ standardMs, sites }: Cutoffs): string {
  const named = [...sites];
  const others = named.map(([site]) => literalOf(site)).join(', ');
  const standard = `at < ${standardMs}`;
  return `(${[
    others === '' ? standard : `(${standard} AND site NOT IN (${others}))`,
    ...named.map(([site, atMs]) => `(at < ${atMs} AND site = ${literalOf(site)})`),
  ].join(' OR ')})`;
}

function roundCutoffs({ standardMs, sites }: Cutoffs): Cutoffs {
  const round = (atMs: number): number => Math.max(0, Math.floor(atMs / dayMs) * dayMs);
  const rounded = [...sites].map(([site, atMs]) => [site, round(atMs)] as const);
  return { standardMs: round(standardMs), sites: new Map(rounded) };
}
