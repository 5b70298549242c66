/**
 * Finds what conditions hold now: over the facts of nodes, certificates, origins and storage, and
 * over counts of security events. Pure.
 */

import type { AlertCondition } from './alert-condition.ts';
import { matchCounts } from './alert-counts.ts';
import type {
  AlertFactSet,
  AlertFinding,
  AlertMatch,
  NodeFact,
  OriginFact,
} from './alert-facts.ts';

const dayMs = 86_400_000;
const known = (): boolean => false;

/** What a condition finds in the facts. */
export function findMatches(condition: AlertCondition, facts: AlertFactSet): AlertFinding {
  switch (condition.kind) {
    case 'security_threshold':
      return { matches: matchCounts(condition, facts), unknown: known };
    case 'node_offline':
      return ofNodes(condition, facts, ({ online }) => (online === null ? null : !online));
    case 'config_not_applied':
      return ofNodes(condition, facts, waitsForConfig);
    case 'config_apply_failed':
      return ofNodes(condition, facts, ({ online, applyFailed }) =>
        online === null ? null : applyFailed,
      );
    case 'cert_expiring':
      return { matches: expiring(condition, facts), unknown: known };
    case 'origin_down':
      return downOrigins(condition, facts);
    case 'log_storage':
      return storage(condition, facts);
  }
}

/** Online and not applied; a node that is offline is another condition. */
function waitsForConfig({ online, current }: NodeFact): boolean | null {
  if (online === null || current === null) return null;
  return online && !current;
}

function ofNodes(
  { filter }: AlertCondition,
  { nodes }: AlertFactSet,
  holds: (node: NodeFact) => boolean | null,
): AlertFinding {
  const meant = nodes.filter(({ id }) => filter.agentId === '' || filter.agentId === id);
  const unknown = new Set(meant.filter((node) => holds(node) === null).map(({ id }) => id));
  const matches = meant.filter((node) => holds(node) === true);
  return {
    unknown: (key) => unknown.has(key),
    matches: matches.map(({ id, name, lastSeenAt, revision, applyError }) => ({
      key: id,
      siteId: '',
      agentId: id,
      subject: name,
      payload: {
        ...(lastSeenAt === '' ? {} : { lastSeenAt }),
        ...(revision === '' ? {} : { revision }),
        ...(applyError === '' ? {} : { error: applyError }),
      },
    })),
  };
}

function expiring(
  { filter, withinDays }: AlertCondition,
  { certificates, nowMs }: AlertFactSet,
): AlertMatch[] {
  return certificates
    .filter(({ id, siteIds, endsAtMs }) => {
      const meant = filter.certificateId === '' || filter.certificateId === id;
      const served = filter.siteId === '' || siteIds.includes(filter.siteId);
      return meant && served && endsAtMs - nowMs <= withinDays * dayMs;
    })
    .map(({ id, name, endsAtMs, siteIds }) => ({
      key: id,
      siteId: filter.siteId || onlyOne(siteIds),
      agentId: '',
      subject: name,
      payload: {
        certificateId: id,
        siteIds: [...siteIds],
        notAfter: new Date(endsAtMs).toISOString(),
        daysLeft: Math.floor((endsAtMs - nowMs) / dayMs),
      },
    }));
}

function downOrigins({ filter }: AlertCondition, { origins }: AlertFactSet): AlertFinding {
  const meant = origins.filter(
    ({ nodeId, upstreamId, siteIds }) =>
      (filter.agentId === '' || filter.agentId === nodeId) &&
      (filter.upstreamId === '' || filter.upstreamId === upstreamId) &&
      (filter.siteId === '' || siteIds.includes(filter.siteId)),
  );
  const keyOf = ({ nodeId, upstreamId, endpoint }: OriginFact): string =>
    `${nodeId} ${upstreamId} ${endpoint}`;
  const unknown = new Set(meant.filter(({ healthy }) => healthy === null).map(keyOf));
  return {
    unknown: (key) => unknown.has(key),
    matches: meant
      .filter(({ healthy }) => healthy === false)
      .map((origin) => ({
        key: keyOf(origin),
        siteId: filter.siteId || onlyOne(origin.siteIds),
        agentId: origin.nodeId,
        subject: `${origin.endpoint} of ${origin.owner}`,
        payload: {
          upstreamId: origin.upstreamId,
          endpoint: origin.endpoint,
          ...(origin.error === '' ? {} : { error: origin.error }),
        },
      })),
  };
}

/** An alert names one site; what concerns several names none. */
function onlyOne(siteIds: readonly string[]): string {
  return siteIds.length === 1 ? siteIds[0]! : '';
}

function storage({ filter }: AlertCondition, facts: AlertFactSet): AlertFinding {
  const { status, availableBytes, estimatedRemainingSeconds } = facts.storage;
  const holds =
    status === 'critical' || (status === 'warning' && filter.minimumStatus === 'warning');
  const match: AlertMatch = {
    key: 'log-storage',
    siteId: '',
    agentId: '',
    subject: status,
    payload: { status, availableBytes, estimatedRemainingSeconds },
  };
  return { matches: holds ? [match] : [], unknown: () => status === 'unknown' };
}
