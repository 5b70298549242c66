/** Starts what sends metrics, events and traces by OpenTelemetry's protocol, where it is set up. */

import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { MetricFamily } from './api/metrics/metrics-text.ts';
import { metricsRequest } from './api/metrics/metrics-otlp.ts';
import { readFact } from './export/fact.ts';
import { logRecordOf, logsRequest } from './export/otlp/otlp-logs.ts';
import { postOtlp, type PostResult } from './export/otlp/otlp-post.ts';
import type { OtlpQueue, OtlpSettings, OtlpTarget } from './export/otlp/otlp-settings.ts';
import { spansOf, tracesRequest } from './export/otlp/otlp-traces.ts';
import { otlpAttributes, type OtlpAttribute, type OtlpRecord } from './export/otlp/otlp-values.ts';
import { RecordExporter, type OtlpStats } from './export/otlp/record-exporter.ts';
import { otlpLimits } from './limits/otlp-limits.ts';
import type { EventStore } from './observe/event-store.ts';

/** What it works with. */
export interface OtlpParts {
  readonly settings: OtlpSettings | null;
  readonly events: Pick<EventStore, 'onFacts'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the product. */
  readonly version: string;
}

/** The exports while they run. */
export interface OtlpExports {
  /** Of log records and of spans, where they are sent. */
  stats(): OtlpStats;
  /** Begins to send metrics, at regular times; `installedAt` is RFC 3339. */
  sendMetrics(families: () => readonly MetricFamily[], installedAt: string): void;
  close(): Promise<void>;
}

/** Starts to send security and error events, and spans; metrics when `sendMetrics` is called. */
export function startOtlp(parts: OtlpParts): OtlpExports {
  const { settings } = parts;
  if (settings === null) {
    return { stats: () => [], sendMetrics: () => undefined, close: () => Promise.resolve() };
  }
  const resource = otlpAttributes({
    'host.name': hostname(),
    'service.version': parts.version,
    ...settings.resource,
  });
  const ending = new AbortController();
  const startedMs = parts.clock.nowMs();
  const queues = [
    ...(settings.logs === null ? [] : [startLogs(parts, settings, settings.logs, resource)]),
    ...(settings.traces === null ? [] : [startTraces(parts, settings, settings.traces, resource)]),
  ];
  let round: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  return {
    stats: () => queues.map((queue) => queue.stats()),
    sendMetrics: (families, installedAt) => {
      const { metrics: target } = settings;
      if (target === null) return;
      const since = { installationMs: Date.parse(installedAt), processMs: startedMs };
      const request = (): object =>
        metricsRequest(families(), resource, parts.version, since, parts.clock.nowMs());
      const send = metricsSender(parts, target, request, ending.signal);
      timer = setInterval(() => {
        // The next one has newer values: nobody waits for a slow collector.
        round ??= send().finally(() => (round = null));
      }, settings.metricIntervalMs).unref();
    },
    close: async () => {
      if (timer !== null) clearInterval(timer);
      ending.abort();
      await round;
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}

/** One signal's records on their way. */
interface RunningQueue {
  stats(): OtlpStats[number];
  close(): Promise<void>;
}

function startLogs(
  parts: OtlpParts,
  { logQueue }: OtlpSettings,
  target: OtlpTarget,
  resource: readonly OtlpAttribute[],
): RunningQueue {
  const exporter = startQueue(parts, 'logs', target, logQueue, (records) =>
    logsRequest(resource, parts.version, records),
  );
  const undo = parts.events.onFacts((kind, facts) => {
    if (kind === 'access') return;
    for (const fact of facts) {
      const exported = readFact(kind, fact.bytes, fact);
      if (exported !== null) exporter.offer(() => logRecordOf(exported), fact.bytes.length);
    }
  });
  return queueOf(parts, 'logs', exporter, undo);
}

function startTraces(
  parts: OtlpParts,
  { spanQueue }: OtlpSettings,
  target: OtlpTarget,
  resource: readonly OtlpAttribute[],
): RunningQueue {
  const exporter = startQueue(parts, 'traces', target, spanQueue, (spans) =>
    tracesRequest(resource, parts.version, spans),
  );
  const undo = parts.events.onFacts((kind, facts) => {
    if (kind !== 'access') return;
    for (const fact of facts) {
      const exported = readFact(kind, fact.bytes, fact);
      if (exported === null) continue;
      for (const span of spansOf(exported)) exporter.offer(() => span, fact.bytes.length);
    }
  });
  return queueOf(parts, 'traces', exporter, undo);
}

const signalTexts = { logs: 'log records', traces: 'spans' } as const;

function startQueue(
  { logger }: OtlpParts,
  signal: 'logs' | 'traces',
  target: OtlpTarget,
  queue: OtlpQueue,
  requestOf: (records: readonly OtlpRecord[]) => object,
): RecordExporter {
  return new RecordExporter({
    ...queue,
    send: (records, ending) => postOtlp(target, requestOf(records), ending),
    onState: (problem) => tellState(logger, signalTexts[signal], problem),
  });
}

function queueOf(
  { logger }: OtlpParts,
  signal: 'logs' | 'traces',
  exporter: RecordExporter,
  undo: () => void,
): RunningQueue {
  return {
    stats: () => ({ signal, ...exporter.stats() }),
    close: async () => {
      undo();
      const { dropped } = exporter.stats();
      await exporter.close();
      const lost = exporter.stats().dropped - dropped;
      if (lost === 0) return;
      const what = signalTexts[signal];
      logger.warn('records for the OTLP collector were lost at the end', { what, lost });
    },
  };
}

/**
 * Sends the present values. A collector that is busy is asked again a few times, with newer values;
 * what fails for good is in the next round: counts are cumulative.
 */
function metricsSender(
  { logger }: OtlpParts,
  target: OtlpTarget,
  request: () => object,
  signal: AbortSignal,
): () => Promise<void> {
  let last = '';
  const attempt = async (): Promise<PostResult> => {
    try {
      return await postOtlp(target, request(), signal);
    } catch (error) {
      const problem = `the metrics cannot be read: ${toAppError(error).message}`;
      return { state: 'refused', problem, waitMs: 0 };
    }
  };
  return async () => {
    if (signal.aborted) return;
    let result = await attempt();
    const { metricRetriesMax, retryMinMs, retryMaxMs } = otlpLimits;
    for (let retry = 0; retry < metricRetriesMax && result.state === 'busy'; retry++) {
      const wait = Math.max(result.waitMs, retryMinMs * 2 ** retry);
      // An abort is the early end of a pause.
      await sleep(Math.min(retryMaxMs, wait), undefined, { signal, ref: false }).catch(() => null);
      if (signal.aborted) return;
      result = await attempt();
    }
    const problem = result.state === 'taken' ? '' : result.problem;
    if (problem !== last && !signal.aborted) tellState(logger, 'metrics', problem);
    last = problem;
  };
}

function tellState(logger: Logger, what: string, reason: string): void {
  if (reason === '') logger.info('the OTLP collector takes what is sent again', { what });
  else logger.warn('the OTLP collector does not take what is sent', { what, reason });
}
