/** Starts what sends metrics, events and traces by OpenTelemetry's protocol, where it is set up. */

import { hostname } from 'node:os';
import type { Clock } from '../engine/base/clock.ts';
import { toAppError } from '../engine/base/errors.ts';
import type { Logger } from '../engine/base/log.ts';
import type { MetricFamily } from './api/metrics-text.ts';
import { metricsRequest } from './api/metrics-otlp.ts';
import { readFact } from './export/fact.ts';
import { logRecordOf, logsRequest } from './export/otlp/otlp-logs.ts';
import { postOtlp } from './export/otlp/otlp-post.ts';
import type { OtlpQueue, OtlpSettings, OtlpTarget } from './export/otlp/otlp-settings.ts';
import { spansOf, tracesRequest } from './export/otlp/otlp-traces.ts';
import { otlpAttributes, type OtlpAttribute, type OtlpRecord } from './export/otlp/otlp-values.ts';
import { RecordExporter, type OtlpStats } from './export/otlp/record-exporter.ts';
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
  /** Begins to send metrics, at regular times. */
  sendMetrics(families: () => readonly MetricFamily[]): void;
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
  const queues = [
    ...(settings.logs === null ? [] : [startLogs(parts, settings, settings.logs, resource)]),
    ...(settings.traces === null ? [] : [startTraces(parts, settings, settings.traces, resource)]),
  ];
  let round: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  return {
    stats: () => queues.map(({ stats }) => stats()),
    sendMetrics: (families) => {
      const { metrics: target } = settings;
      if (target === null) return;
      const send = metricsSender(parts, target, resource, families, ending.signal);
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

/** Sends the present values; those of a failed attempt are in the next one: they are cumulative. */
function metricsSender(
  { clock, logger, version }: OtlpParts,
  target: OtlpTarget,
  resource: readonly OtlpAttribute[],
  families: () => readonly MetricFamily[],
  signal: AbortSignal,
): () => Promise<void> {
  let last = '';
  return async () => {
    if (signal.aborted) return;
    let problem: string;
    try {
      const body = metricsRequest(families(), resource, version, clock.nowMs());
      const result = await postOtlp(target, body, signal);
      problem = result.state === 'taken' ? '' : result.problem;
    } catch (error) {
      problem = `the metrics cannot be read: ${toAppError(error).message}`;
    }
    if (problem !== last && !signal.aborted) tellState(logger, 'metrics', problem);
    last = problem;
  };
}

function tellState(logger: Logger, what: string, reason: string): void {
  if (reason === '') logger.info('the OTLP collector takes what is sent again', { what });
  else logger.warn('the OTLP collector does not take what is sent', { what, reason });
}
