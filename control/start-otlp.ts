/** Starts what sends metrics and events by OpenTelemetry's protocol, where it is set up. */

import { hostname } from 'node:os';
import type { Clock } from '../engine/base/clock.ts';
import { toAppError } from '../engine/base/errors.ts';
import type { Logger } from '../engine/base/log.ts';
import type { MetricFamily } from './api/metrics-text.ts';
import { metricsRequest } from './api/metrics-otlp.ts';
import { readFact } from './export/fact.ts';
import { LogExporter, type OtlpLogStats } from './export/otlp/log-exporter.ts';
import { logRecordOf, logsRequest } from './export/otlp/otlp-logs.ts';
import { postOtlp } from './export/otlp/otlp-post.ts';
import type { OtlpSettings, OtlpTarget } from './export/otlp/otlp-settings.ts';
import { otlpAttributes, type OtlpAttribute } from './export/otlp/otlp-values.ts';
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
  /** Of log records; null where none are sent. */
  stats(): OtlpLogStats | null;
  /** Begins to send metrics, at regular times. */
  sendMetrics(families: () => readonly MetricFamily[]): void;
  close(): Promise<void>;
}

/** Starts to send security and error events; metrics when `sendMetrics` is called. */
export function startOtlp(parts: OtlpParts): OtlpExports {
  const { settings } = parts;
  if (settings === null) {
    return { stats: () => null, sendMetrics: () => undefined, close: () => Promise.resolve() };
  }
  const resource = otlpAttributes({
    'host.name': hostname(),
    'service.version': parts.version,
    ...settings.resource,
  });
  const ending = new AbortController();
  const logs = settings.logs === null ? null : startLogs(parts, settings, settings.logs, resource);
  let round: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  return {
    stats: () => logs?.stats() ?? null,
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
      await logs?.close();
    },
  };
}

function startLogs(
  { events, logger, version }: OtlpParts,
  { queueRecords, batchRecords, scheduleDelayMs }: OtlpSettings,
  target: OtlpTarget,
  resource: readonly OtlpAttribute[],
): { stats(): OtlpLogStats; close(): Promise<void> } {
  const exporter = new LogExporter({
    ...{ queueRecords, batchRecords, scheduleDelayMs },
    send: (records, signal) => postOtlp(target, logsRequest(resource, version, records), signal),
    onState: (problem) => tellState(logger, 'log records', problem),
  });
  const undo = events.onFacts((kind, facts) => {
    if (kind === 'access') return;
    for (const fact of facts) {
      const exported = readFact(kind, fact.bytes, fact);
      if (exported !== null) exporter.offer(() => logRecordOf(exported), fact.bytes.length);
    }
  });
  return {
    stats: () => exporter.stats(),
    close: async () => {
      undo();
      const { dropped } = exporter.stats();
      await exporter.close();
      const lost = exporter.stats().dropped - dropped;
      if (lost > 0)
        logger.warn('log records for the OTLP collector were lost at the end', { lost });
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
