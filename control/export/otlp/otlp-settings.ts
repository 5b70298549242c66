/**
 * Where telemetry goes, by OpenTelemetry's own environment variables. Nothing is sent unless an
 * endpoint is named. Special addresses are not refused, as those of other targets are: a collector
 * mostly is on loopback, and who sets the environment owns the host; no API call reaches this.
 * Pure. Source: OpenTelemetry specification 1.x, "OpenTelemetry Protocol Exporter" and
 * "Environment Variable Specification".
 */

import { AppError } from '../../../base/errors.ts';
import type { TracingSettings } from '../../domain/settings/tracing-settings.ts';
import { otlpLimits } from '../../limits/otlp-limits.ts';

/** Where one signal goes. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** The queue of one signal. */
export interface OtlpQueue {
  /** Records that wait at most, and that leave together. */
  readonly queueRecords: number;
  readonly batchRecords: number;
  /** How long records wait for others. */
  readonly scheduleDelayMs: number;
}

/** What is sent, and how. */
export interface OtlpSettings {
  /** Null: this signal is not sent. */
  readonly metrics: OtlpTarget | null;
  readonly logs: OtlpTarget | null;
  readonly traces: OtlpTarget | null;
  readonly metricIntervalMs: number;
  readonly logQueue: OtlpQueue;
  readonly spanQueue: OtlpQueue;
  /** Which requests are sampled, where traces are sent. */
  readonly tracing: TracingSettings;
  /** Attributes of the resource, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>;
}

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

type Signal = 'metrics' | 'logs' | 'traces';

const prefix = 'OTEL_EXPORTER_OTLP';

/** The settings; null where nothing is to be sent. Errors: AppError otlp_settings. */
export function readOtlpSettings(env: Environment): OtlpSettings | null {
  if (textOf(env, 'OTEL_SDK_DISABLED').toLowerCase() === 'true') return null;
  const [metrics, logs] = [targetOf(env, 'metrics'), targetOf(env, 'logs')];
  const traces = targetOf(env, 'traces');
  if (metrics === null && logs === null && traces === null) return null;
  refuseUnsupported(env);
  const limits = otlpLimits;
  const interval = [limits.metricIntervalMsMin, limits.metricIntervalMsMax] as const;
  return {
    metrics,
    logs,
    traces,
    metricIntervalMs: numberOf(
      ...([env, 'OTEL_METRIC_EXPORT_INTERVAL', limits.metricIntervalMs, interval] as const),
    ),
    logQueue: queueOf(env, 'OTEL_BLRP', limits.scheduleDelayMs),
    spanQueue: queueOf(env, 'OTEL_BSP', limits.spanDelayMs),
    tracing: tracingOf(env),
    resource: {
      'service.name': 'waf',
      ...pairsOf(env, 'OTEL_RESOURCE_ATTRIBUTES'),
      ...(textOf(env, 'OTEL_SERVICE_NAME') !== '' && {
        'service.name': textOf(env, 'OTEL_SERVICE_NAME'),
      }),
    },
  };
}

function queueOf(
  env: Environment,
  batches: 'OTEL_BLRP' | 'OTEL_BSP',
  standardDelayMs: number,
): OtlpQueue {
  const { queueRecords: standard, queueRecordsMax, batchRecords, scheduleDelayMsMax } = otlpLimits;
  const queueRecords = numberOf(env, `${batches}_MAX_QUEUE_SIZE`, standard, [1, queueRecordsMax]);
  const batch = numberOf(env, `${batches}_MAX_EXPORT_BATCH_SIZE`, batchRecords, [1, queueRecords]);
  const delay = [0, scheduleDelayMsMax] as const;
  return {
    queueRecords,
    batchRecords: Math.min(queueRecords, batch),
    scheduleDelayMs: numberOf(env, `${batches}_SCHEDULE_DELAY`, standardDelayMs, delay),
  };
}

/** Variables of traces that are not OpenTelemetry's. */
const perSecondName = 'WAF_TRACES_PER_SECOND';

/**
 * `OTEL_TRACES_SAMPLER` by name: whether senders that are proved decide, and the share of others.
 */
const samplers: Readonly<Record<string, Pick<TracingSettings, 'parents'> & { ratio?: number }>> = {
  always_on: { parents: false, ratio: 1 },
  always_off: { parents: false, ratio: 0 },
  traceidratio: { parents: false },
  parentbased_always_on: { parents: true, ratio: 1 },
  parentbased_always_off: { parents: true, ratio: 0 },
  parentbased_traceidratio: { parents: true },
};

function tracingOf(env: Environment): TracingSettings {
  const name = textOf(env, 'OTEL_TRACES_SAMPLER');
  const sampler = samplers[name === '' ? 'parentbased_always_on' : name];
  if (sampler === undefined) {
    throw problem('OTEL_TRACES_SAMPLER', `must be one of ${Object.keys(samplers).join(', ')}`);
  }
  const { tracesPerSecond, tracesPerSecondMax } = otlpLimits;
  const text = textOf(env, 'OTEL_TRACES_SAMPLER_ARG');
  if (text !== '' && sampler.ratio !== undefined) {
    throw problem('OTEL_TRACES_SAMPLER_ARG', 'has an effect on samplers with traceidratio only');
  }
  const ratio = sampler.ratio ?? (text === '' ? 1 : ratioOf(text));
  const perSecond = numberOf(env, perSecondName, tracesPerSecond, [1, tracesPerSecondMax]);
  return { ratio, parents: sampler.parents, perSecond };
}

function ratioOf(text: string): number {
  const value = /^(?:\d(?:\.\d{0,9})?|\.\d{1,9})$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= 1) return value;
  throw problem('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1');
}

function targetOf(env: Environment, signal: Signal): OtlpTarget | null {
  const upper = signal.toUpperCase();
  const exporter = textOf(env, `OTEL_${upper}_EXPORTER`);
  if (exporter === 'none') return null;
  const own = `${prefix}_${upper}_ENDPOINT`;
  const common = `${prefix}_ENDPOINT`;
  // The common endpoint is a base, that of a signal is used as it is.
  const found =
    textOf(env, own) !== ''
      ? urlOf(own, textOf(env, own))
      : textOf(env, common) !== ''
        ? urlOf(common, `${textOf(env, common).replace(/\/+$/, '')}/v1/${signal}`)
        : null;
  if (found === null) return null;
  if (exporter !== '' && exporter !== 'otlp') {
    throw problem(`OTEL_${upper}_EXPORTER`, 'must be otlp or none');
  }
  const timeoutName = [`${prefix}_${upper}_TIMEOUT`, `${prefix}_TIMEOUT`];
  const timeout = timeoutName.find((name) => textOf(env, name) !== '') ?? `${prefix}_TIMEOUT`;
  return {
    url: found,
    headers: {
      ...headersOf(env, `${prefix}_HEADERS`),
      ...headersOf(env, `${prefix}_${upper}_HEADERS`),
    },
    timeoutMs: numberOf(env, timeout, otlpLimits.timeoutMs, [1, otlpLimits.timeoutMsMax]),
  };
}

/** Fields that say how a request is framed and what it holds: they are not the operator's. */
const ownFields: ReadonlySet<string> = new Set([
  ...['connection', 'content-encoding', 'content-length', 'content-type', 'expect', 'host'],
  ...['keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** Fields of requests, names in lower case; what HTTP cannot carry would never arrive. */
function headersOf(env: Environment, name: string): Record<string, string> {
  const headers = new Headers();
  for (const [field, value] of Object.entries(pairsOf(env, name))) {
    if (ownFields.has(field.toLowerCase())) throw problem(name, 'sets a field that is not free');
    try {
      headers.set(field, value);
    } catch {
      throw problem(name, 'has a name or value that no HTTP field can have');
    }
  }
  return Object.fromEntries(headers);
}

/** Variables that have one value here, whatever the signal. */
const fixed: Readonly<Record<string, string>> = {
  OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'cumulative',
  OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: 'explicit_bucket_histogram',
};

/** Variables that have no effect here, and what stands in their place. */
const replaced: Readonly<Record<string, string>> = {
  OTEL_METRIC_EXPORT_TIMEOUT: `${prefix}_METRICS_TIMEOUT`,
  OTEL_BLRP_EXPORT_TIMEOUT: `${prefix}_LOGS_TIMEOUT`,
  OTEL_BSP_EXPORT_TIMEOUT: `${prefix}_TRACES_TIMEOUT`,
};

/** What would be ignored in silence otherwise. */
function refuseUnsupported(env: Environment): void {
  for (const [name, only] of Object.entries(fixed)) {
    const text = textOf(env, name).toLowerCase();
    if (text !== '' && text !== only) throw problem(name, `must be ${only}`);
  }
  for (const [name, other] of Object.entries(replaced)) {
    if (textOf(env, name) !== '') throw problem(name, `has no effect here: use ${other}`);
  }
  const propagators = textOf(env, 'OTEL_PROPAGATORS').toLowerCase();
  const names = propagators.split(',').map((name) => name.trim());
  const known = names.every((name) => name === 'tracecontext' || name === 'baggage');
  if (propagators !== '' && !(known && names.includes('tracecontext'))) {
    throw problem('OTEL_PROPAGATORS', 'must be tracecontext, or tracecontext,baggage');
  }
  for (const signal of ['', '_METRICS', '_LOGS', '_TRACES']) {
    const protocol = textOf(env, `${prefix}${signal}_PROTOCOL`);
    if (protocol !== '' && protocol !== 'http/json') {
      throw problem(`${prefix}${signal}_PROTOCOL`, 'must be http/json: nothing else is sent');
    }
    const compression = textOf(env, `${prefix}${signal}_COMPRESSION`);
    if (compression !== '' && compression !== 'none') {
      throw problem(`${prefix}${signal}_COMPRESSION`, 'must be none');
    }
    for (const name of ['CERTIFICATE', 'CLIENT_KEY', 'CLIENT_CERTIFICATE']) {
      if (textOf(env, `${prefix}${signal}_${name}`) === '') continue;
      throw problem(`${prefix}${signal}_${name}`, 'has no effect here: use NODE_EXTRA_CA_CERTS');
    }
  }
}

function urlOf(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw problem(name, 'must be a URL such as http://127.0.0.1:4318');
  }
  if (url.username !== '' || url.password !== '') {
    throw problem(name, `must hold no credentials: use ${prefix}_HEADERS`);
  }
  return url.href;
}

/** `key=value,key=value`; values are percent-encoded. */
function pairsOf(env: Environment, name: string): Record<string, string> {
  const text = textOf(env, name);
  if (text === '') return {};
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  if (pairs.length > otlpLimits.pairsMax) {
    throw problem(name, `has at most ${otlpLimits.pairsMax} pairs`);
  }
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf('=');
      const key = pair.slice(0, equals).trim();
      if (equals < 1 || key === '') throw problem(name, 'must be pairs: key=value,key=value');
      try {
        return [key, decodeURIComponent(pair.slice(equals + 1).trim())];
      } catch {
        throw problem(name, 'holds a value whose percent-encoding is wrong');
      }
    }),
  );
}

function numberOf(
  env: Environment,
  name: string,
  standard: number,
  [least, most]: readonly [number, number],
): number {
  const text = textOf(env, name);
  if (text === '') return standard;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw problem(name, `must be a whole number from ${least} to ${most}`);
}

function textOf(env: Environment, name: string): string {
  const text = (env[name] ?? '').trim();
  if (text.length <= otlpLimits.variableCharactersMax) return text;
  throw problem(name, `has at most ${otlpLimits.variableCharactersMax} characters`);
}

/** Values may be secrets: the message has the name only. */
function problem(name: string, what: string): AppError {
  return new AppError('otlp_settings', `the environment variable ${name} ${what}`, {
    source: 'config',
  });
}
