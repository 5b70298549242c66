/** Wires front threads to what counts, logs and reports their requests. Holds no logic. */

import { systemClock } from '../base/clock.ts';
import { toAppError } from '../base/errors.ts';
import type { RequestEvent } from './contract/events.ts';
import type { RequestError } from './contract/request-error.ts';
import type { RoutesConfig } from './contract/site.ts';
import { startFrontThreads, type FrontThreads } from './front/threads/threads.ts';
import { FactFaultReport } from './process/fact-fault-report.ts';
import type { EngineParts } from './engine-parts.ts';
import { threadEntry } from './threads/thread-entry.ts';

/** Starts the front threads over a configuration; what they tell goes to the parts. */
export function startThreads(parts: EngineParts, routes: RoutesConfig): Promise<FrontThreads> {
  const { host, port, workers, listener, listenFds, secure, proxyHeaderFrom } = parts.options;
  const faults = new FactFaultReport(systemClock, parts.log, (error) => parts.link?.fault(error));
  return startFrontThreads({
    entry: threadEntry('front-thread'),
    count: workers,
    listen: { host, port, proxyHeaderFrom },
    inheritedFds: listenFds,
    listenSecure: secure,
    inheritedSecureFds: secure?.fds ?? [],
    listener,
    routes,
    extra: parts.settings,
    ...(parts.tally && { tallyPath: parts.tally.path }),
    onEvents: (events, dropped) => {
      if (dropped > 0) parts.log.warn('finished requests were not reported', { dropped });
      for (const event of events) observe(parts, event, faults);
      parts.errorLines.write(events);
      parts.events?.write(events);
      parts.accessLog?.write(events);
    },
    onEvidence: (records, dropped) => parts.link?.evidence(records, dropped),
    onCounters: (deltas) => parts.link?.count(deltas),
    onRankings: (deltas) => parts.link?.rank(deltas),
    onEndpoints: (deltas) => parts.link?.learnEndpoints(deltas),
    onLearning: (deltas) => parts.link?.learnBodies(deltas),
    onClients: (deltas) => parts.link?.learnClients(deltas),
    onShadows: (deltas) => parts.link?.compare(deltas),
    onApiCounts: (deltas) => parts.link?.countApis(deltas),
    onClientNotes: (notes) => parts.clientMemory.receive(notes),
    onOrigins: (notes) => parts.origins.receive(notes),
    useChallenge: (id, seconds) => parts.rateExchange?.use(id, seconds) ?? alone,
    onOverload: (status) => parts.overload.take(status),
    onCollected: parts.trim,
    onFactFaults: (found) => faults.take(found),
    onThreadDied: (cause) => {
      parts.log.error('a front thread died; it is being replaced', { reason: cause?.message });
      parts.link?.fault(threadDied);
    },
  });
}

/** One event that cannot be encoded costs no other. */
function observe(parts: EngineParts, event: RequestEvent, faults: FactFaultReport): void {
  try {
    parts.link?.observe(event);
  } catch (thrown) {
    faults.take([{ part: 'event', count: 1, message: toAppError(thrown, 'facts').message }]);
  }
}

const alone = Promise.resolve('alone' as const);

/** Its requests end without an answer. */
const threadDied: RequestError = {
  level: 'error',
  logger: 'engine',
  reason: 'front_thread_died',
  message: 'A front thread died and was replaced; its connections were cut.',
};
