/**
 * The order of suspected false positives: what legitimate traffic looks like is many clients, few
 * paths, low scores, over a long time. Pure.
 */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { SecurityEvent } from '../../../proto/gen/waf/v1/log_pb.ts';

/** A rule and the argument that it matched in, over the events that were read. */
export interface Suspect {
  readonly ruleId: string;
  readonly place: string;
  readonly message: string;
  readonly events: number;
  readonly clients: number;
  readonly paths: number;
  readonly scoreMean: number;
  readonly hours: number;
  /** 0 to 100; the more, the likelier a false positive. */
  readonly suspicion: number;
  /** At most three. */
  readonly examples: readonly SecurityEvent[];
}

const examplesMax = 3;
const hourMs = 3_600_000;
/** The score from which attacks with one certain rule begin. */
const usualScore = 5;

interface Group {
  readonly message: string;
  readonly events: Map<string, SecurityEvent>;
}

/** Pairs of rule and argument, the most suspicious first; without rules that only sum scores. */
export function suspectsOf(events: readonly SecurityEvent[]): Suspect[] {
  const groups = new Map<string, Group>();
  for (const event of events) {
    for (const message of event.messages) {
      if (message.scoreContribution <= 0) continue;
      const { ruleId, matchVariable, matchKey } = message;
      const place = matchKey === '' ? matchVariable : `${matchVariable}:${matchKey}`;
      const key = JSON.stringify([ruleId, place]);
      const group = groups.get(key) ?? { message: message.message, events: new Map() };
      group.events.set(event.id, event);
      groups.set(key, group);
    }
  }
  return [...groups]
    .map(([key, group]) => {
      const [ruleId, place] = JSON.parse(key) as [string, string];
      return suspectOf(ruleId, place, group);
    })
    .toSorted((a, b) => b.suspicion - a.suspicion || b.events - a.events);
}

function suspectOf(ruleId: string, place: string, { message, events }: Group): Suspect {
  const all = [...events.values()];
  const clients = new Set(all.map(({ clientIp }) => clientIp)).size;
  const paths = new Set(all.map(({ path }) => path.split('?', 1)[0])).size;
  const scoreMean = all.reduce((sum, one) => sum + one.anomalyScore, 0) / all.length;
  const times = all.flatMap(({ occurredAt }) =>
    occurredAt === undefined ? [] : [timestampMs(occurredAt)],
  );
  const hours = times.length === 0 ? 0 : (Math.max(...times) - Math.min(...times)) / hourMs;
  const parts = [
    40 * (1 - 1 / clients),
    25 * Math.min(1, usualScore / Math.max(1, scoreMean)),
    20 / paths,
    15 * Math.min(1, hours / 24),
  ];
  const suspicion = Math.round(parts.reduce((sum, part) => sum + part, 0));
  const facts = { ruleId, place, message, events: all.length, clients, paths, scoreMean, hours };
  return { ...facts, suspicion, examples: examplesOf(all) };
}

/** The newest of each client and path: equal ones show nothing more. */
function examplesOf(newestFirst: readonly SecurityEvent[]): readonly SecurityEvent[] {
  const different = new Map<string, SecurityEvent>();
  for (const one of newestFirst) {
    const key = JSON.stringify([one.clientIp, one.path]);
    if (!different.has(key)) different.set(key, one);
  }
  return [...different.values()].slice(0, examplesMax);
}
