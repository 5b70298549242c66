/** Wires front threads to what counts, logs and reports their requests. Holds no logic. */

import type { RequestError } from './contract/request-error.ts';
import type { RoutesConfig } from './contract/site.ts';
import { startFrontThreads, type FrontThreads } from './front/threads/threads.ts';
import type { EngineParts } from './engine-parts.ts';
import { threadEntry } from './threads/thread-entry.ts';

/** Starts the front threads over a configuration; what they tell goes to the parts. */
export function startThreads(parts: EngineParts, routes: RoutesConfig): Promise<FrontThreads> {
  const { host, port, workers, listener, listenFds, secure, proxyHeaderFrom } = parts.options;
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
      for (const event of events) parts.link?.observe(event);
      parts.errorLines.write(events);
      parts.events?.write(events);
      parts.accessLog?.write(events);
    },
    onEvidence: (records, dropped) => parts.link?.evidence(records, dropped),
    onCounters: (deltas) => parts.link?.count(deltas),
    onRankings: (deltas) => parts.link?.rank(deltas),
    onEndpoints: (deltas) => parts.link?.learnEndpoints(deltas),
    onLearning: (deltas) => parts.link?.learnBodies(deltas),
    onApiCounts: (deltas) => parts.link?.countApis(deltas),
    onClientNotes: (notes) => parts.clientMemory.receive(notes),
    onOrigins: (notes) => parts.origins.receive(notes),
    useChallenge: (id, seconds) => parts.rateExchange?.use(id, seconds) ?? alone,
    onOverload: (status) => parts.overload.take(status),
    onCollected: parts.trim,
    onThreadDied: (cause) => {
      parts.log.error('a front thread died; it is being replaced', { reason: cause?.message });
      parts.link?.fault(threadDied);
    },
  });
}

const alone = Promise.resolve('alone' as const);

/** Its requests end without an answer. */
const threadDied: RequestError = {
  level: 'error',
  logger: 'engine',
  reason: 'front_thread_died',
  message: 'A front thread died and was replaced; its connections were cut.',
};
