/** How long parts of a request may take by its path, of the rules of its site. Pure. */

import type { TimeoutConfig } from '../contract/delivery.ts';
import type { ClientTimes, OriginTimes } from '../contract/request-times.ts';
import { upstreamLimits } from '../../base/delivery-limits.ts';

type TimeName = Exclude<keyof TimeoutConfig, 'pathPrefix'>;

const timeNames: readonly TimeName[] = [
  'bodyPauseMs',
  'sendPauseMs',
  'originConnectMs',
  'originAnswerMs',
  'originPauseMs',
  'totalMs',
  'keepAliveMs',
  'websocketPauseMs',
];

/**
 * The rules, those given with the longest prefix first, each with what it leaves to shorter
 * prefixes.
 */
export function withInheritedTimes(rules: readonly TimeoutConfig[]): readonly TimeoutConfig[] {
  return rules.map((rule, at) => {
    const holding = rules.slice(at).filter((other) => holds(other.pathPrefix, rule.pathPrefix));
    return withTimes(rule, (name) => holding.find((other) => other[name] !== 0)?.[name] ?? 0);
  });
}

/** The shorter of each time, of two rules for a path that origins may read in several ways. */
export function shorterTimes(one: TimeoutConfig, other: TimeoutConfig): TimeoutConfig {
  return withTimes(one, (name) => Math.min(one[name] || other[name], other[name] || one[name]));
}

/** The times towards the client; `standard` where the rule states none. */
export function clientTimes(rule: TimeoutConfig, standard: ClientTimes): ClientTimes {
  return {
    bodyProgressTimeoutMs: rule.bodyPauseMs || standard.bodyProgressTimeoutMs,
    sendProgressTimeoutMs: rule.sendPauseMs || standard.sendProgressTimeoutMs,
    requestTotalTimeoutMs: rule.totalMs || standard.requestTotalTimeoutMs,
    keepAliveTimeoutMs: rule.keepAliveMs || standard.keepAliveTimeoutMs,
    websocketIdleMs: rule.websocketPauseMs || standard.websocketIdleMs,
  };
}

/** The times towards the origin. */
export function originTimes(rule: TimeoutConfig): OriginTimes {
  return {
    connectTimeoutMs: rule.originConnectMs || upstreamLimits.connectTimeoutMs,
    firstByteTimeoutMs: rule.originAnswerMs || upstreamLimits.firstByteTimeoutMs,
    readProgressTimeoutMs: rule.originPauseMs || upstreamLimits.readProgressTimeoutMs,
  };
}

/** Whether what lies under `inner` lies under `outer`: folded prefixes, '' for every path. */
function holds(outer: string, inner: string): boolean {
  return outer === inner || inner.startsWith(`${outer}/`);
}

function withTimes(rule: TimeoutConfig, timeOf: (name: TimeName) => number): TimeoutConfig {
  const times: Partial<Record<TimeName, number>> = {};
  for (const name of timeNames) times[name] = timeOf(name);
  return { ...rule, ...times };
}
