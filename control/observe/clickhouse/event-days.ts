/** Which days have events, as the servers know without reading any. */

import { eventLanes, type EventLane } from '../events/event-kind.ts';
import type { LaneUse } from '../events/event-log.ts';
import type { KindName } from '../events/event-questions.ts';
import type { ClickhouseServer } from './clickhouse-client.ts';
import type { ClickhouseAddress } from './clickhouse-option.ts';
import { literalOf } from './conditions.ts';
import { fieldColumns, storedTableOf } from './event-tables.ts';

/** Milliseconds of a day. */
export const dayMs = 86_400_000;

/** What questions are asked with. */
export interface Asking {
  readonly server: ClickhouseServer;
  readonly address: ClickhouseAddress;
  readonly signal: AbortSignal | undefined;
}

/** A day of a lane. */
export interface LaneDay {
  readonly lane: EventLane;
  readonly day: number;
  readonly events: number;
  readonly bytes: number;
}

/** All days of all lanes, as the servers have them on disk. */
export async function readDays({ server, address, signal }: Asking): Promise<LaneDay[]> {
  const { cluster, database } = address;
  const parts = cluster === '' ? 'system.parts' : `cluster(${cluster}, system.parts)`;
  const tables = (Object.keys(fieldColumns) as KindName[]).map((kind) =>
    literalOf(storedTableOf(address, kind).slice(database.length + 1)),
  );
  const rows = await server.rows(
    'SELECT partition AS name, sum(rows) AS events, sum(bytes_on_disk) AS size ' +
      `FROM ${parts} WHERE active AND database = ${literalOf(database)} ` +
      `AND table IN (${tables.join(', ')}) GROUP BY partition`,
    signal,
  );
  return rows.flatMap((row) => {
    const found = /^\('(\w+)',(\d+)\)$/.exec(String(row['name']));
    const lane = eventLanes.find((one) => one === found?.[1]);
    if (lane === undefined) return [];
    const [events, bytes] = [Number(row['events']), Number(row['size'])];
    return [{ lane, day: Number(found?.[2]), events, bytes }];
  });
}

/** What each lane holds. */
export function useOfDays(days: readonly LaneDay[]): Record<EventLane, LaneUse> {
  const sumOf = (lane: EventLane): LaneUse => {
    const own = days.filter((one) => one.lane === lane);
    return {
      events: own.reduce((sum, { events }) => sum + events, 0),
      bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  };
  return {
    security: sumOf('security'),
    access: sumOf('access'),
    access_sample: sumOf('access_sample'),
    error: sumOf('error'),
  };
}
