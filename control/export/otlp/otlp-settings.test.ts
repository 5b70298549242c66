/** OpenTelemetry's environment variables: what they turn on, and which mistakes are named. */

import { expect, test } from 'vitest';
import { readOtlpSettings } from './otlp-settings.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' };

test('nothing is sent unless an endpoint is named, or where it is switched off', () => {
  expect(readOtlpSettings({})).toBeNull();
  expect(readOtlpSettings({ OTEL_SERVICE_NAME: 'edge' })).toBeNull();
  expect(readOtlpSettings({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeNull();
  const metricsAndLogs = { OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };
  const none = { ...metricsAndLogs, OTEL_TRACES_EXPORTER: 'none' };
  expect(readOtlpSettings({ ...endpoint, ...none })).toBeNull();
});

test('the common endpoint is a base, that of a signal is used as it is', () => {
  const own = { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'https://logs.example/in' };
  expect(readOtlpSettings({ ...endpoint, ...own })).toMatchObject({
    metrics: { url: 'http://127.0.0.1:4318/v1/metrics', headers: {}, timeoutMs: 10_000 },
    logs: { url: 'https://logs.example/in' },
    traces: { url: 'http://127.0.0.1:4318/v1/traces' },
    metricIntervalMs: 60_000,
    logQueue: { queueRecords: 2_048, batchRecords: 512, scheduleDelayMs: 1_000 },
    spanQueue: { queueRecords: 2_048, batchRecords: 512, scheduleDelayMs: 5_000 },
    tracing: { ratio: 1, parents: true, perSecond: 100 },
    resource: { 'service.name': 'waf' },
  });
  expect(readOtlpSettings(own)).toMatchObject({ metrics: null, traces: null });
});

test('headers, times, queue and resource', () => {
  const settings = readOtlpSettings({
    ...endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc,x-team=edge',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-team=metrics',
    OTEL_EXPORTER_OTLP_TIMEOUT: '5000',
    OTEL_EXPORTER_OTLP_LOGS_TIMEOUT: '3000',
    OTEL_METRIC_EXPORT_INTERVAL: '15000',
    OTEL_BLRP_MAX_QUEUE_SIZE: '100',
    OTEL_BLRP_MAX_EXPORT_BATCH_SIZE: '50',
    OTEL_BLRP_SCHEDULE_DELAY: '0',
    OTEL_BSP_MAX_QUEUE_SIZE: '20',
    OTEL_BSP_SCHEDULE_DELAY: '10',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-team=traces',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=lab,service.name=other',
    OTEL_SERVICE_NAME: 'edge',
  });
  expect(settings).toMatchObject({
    metrics: { headers: { authorization: 'Bearer abc', 'x-team': 'metrics' }, timeoutMs: 5000 },
    logs: { headers: { authorization: 'Bearer abc', 'x-team': 'edge' }, timeoutMs: 3000 },
    traces: { headers: { authorization: 'Bearer abc', 'x-team': 'traces' }, timeoutMs: 5000 },
    metricIntervalMs: 15_000,
    logQueue: { queueRecords: 100, batchRecords: 50, scheduleDelayMs: 0 },
    spanQueue: { queueRecords: 20, batchRecords: 20, scheduleDelayMs: 10 },
    resource: { 'service.name': 'edge', 'deployment.environment.name': 'lab' },
  });
});

test.each([
  ['always_on', { ratio: 1, parents: false }],
  ['always_off', { ratio: 0, parents: false }],
  ['traceidratio', { ratio: 1, parents: false }],
  ['parentbased_always_on', { ratio: 1, parents: true }],
  ['parentbased_always_off', { ratio: 0, parents: true }],
  ['parentbased_traceidratio', { ratio: 1, parents: true }],
])('the sampler %s', (name, sampled) => {
  const env = { ...endpoint, OTEL_TRACES_SAMPLER: name, WAF_TRACES_PER_SECOND: '7' };
  expect(readOtlpSettings(env)?.tracing).toEqual({ ...sampled, perSecond: 7 });
});

test('the share that a sampler takes', () => {
  for (const [text, ratio] of [
    ['0', 0],
    ['1', 1],
    ['1.0', 1],
    ['.25', 0.25],
    ['0.001', 0.001],
  ]) {
    const names = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: String(text) };
    expect(readOtlpSettings({ ...endpoint, ...names })?.tracing.ratio).toBe(ratio);
  }
  const propagators = { OTEL_PROPAGATORS: 'tracecontext,baggage' };
  expect(readOtlpSettings({ ...endpoint, ...propagators })?.traces).not.toBeNull();
});

test.each([['1.1'], ['-0'], ['half'], ['1e0']])('the share %s is refused', (text) => {
  const names = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: text };
  expect(() => readOtlpSettings({ ...endpoint, ...names })).toThrow(
    'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1',
  );
});

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318', 'must be a URL'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:secret@a.example', 'must hold no credentials'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'must be http/json'],
  ['OTEL_EXPORTER_OTLP_LOGS_PROTOCOL', 'http/protobuf', 'must be http/json'],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip', 'must be none'],
  ['OTEL_EXPORTER_OTLP_CERTIFICATE', '/secret.pem', 'NODE_EXTRA_CA_CERTS'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'secret', 'must be pairs'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%secret', 'percent-encoding'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a secret=b', 'no HTTP field can have'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=secret%0D%0Ab', 'no HTTP field can have'],
  ['OTEL_EXPORTER_OTLP_LOGS_HEADERS', 'Content-Length=1', 'a field that is not free'],
  ['OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', 'delta', 'must be cumulative'],
  ['OTEL_METRIC_EXPORT_TIMEOUT', '500', 'use OTEL_EXPORTER_OTLP_METRICS_TIMEOUT'],
  ['OTEL_BLRP_EXPORT_TIMEOUT', '500', 'use OTEL_EXPORTER_OTLP_LOGS_TIMEOUT'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '0', 'a whole number from 1 to 60000'],
  ['OTEL_METRIC_EXPORT_INTERVAL', 'often', 'a whole number from 1000 to 3600000'],
  ['OTEL_BLRP_MAX_QUEUE_SIZE', '1000000', 'a whole number from 1 to 65536'],
  ['OTEL_LOGS_EXPORTER', 'console', 'must be otlp or none'],
  ['OTEL_TRACES_EXPORTER', 'zipkin', 'must be otlp or none'],
  ['OTEL_TRACES_SAMPLER', 'secret', 'must be one of always_on, always_off, traceidratio'],
  ['OTEL_TRACES_SAMPLER_ARG', '0.5', 'samplers with traceidratio only'],
  ['OTEL_PROPAGATORS', 'b3', 'must be tracecontext'],
  ['OTEL_PROPAGATORS', 'baggage', 'must be tracecontext'],
  ['OTEL_BSP_EXPORT_TIMEOUT', '500', 'use OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '0', 'a whole number from 1 to 65536'],
  ['WAF_TRACES_PER_SECOND', '0', 'a whole number from 1 to 10000'],
])('%s=%s is refused by name, without its value', (name, value, told) => {
  const read = (): unknown => readOtlpSettings({ ...endpoint, [name]: value });
  expect(read).toThrow(told);
  expect(read).toThrow(name);
  expect(read).not.toThrow('secret');
});
