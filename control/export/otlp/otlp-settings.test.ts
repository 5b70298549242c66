/** OpenTelemetry's environment variables: what they turn on, and which mistakes are named. */

import { expect, test } from 'vitest';
import { readOtlpSettings } from './otlp-settings.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' };

test('nothing is sent unless an endpoint is named, or where it is switched off', () => {
  expect(readOtlpSettings({})).toBeNull();
  expect(readOtlpSettings({ OTEL_SERVICE_NAME: 'edge' })).toBeNull();
  expect(readOtlpSettings({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeNull();
  const none = { OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };
  expect(readOtlpSettings({ ...endpoint, ...none })).toBeNull();
});

test('the common endpoint is a base, that of a signal is used as it is', () => {
  const own = { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'https://logs.example/in' };
  expect(readOtlpSettings({ ...endpoint, ...own })).toMatchObject({
    metrics: { url: 'http://127.0.0.1:4318/v1/metrics', headers: {}, timeoutMs: 10_000 },
    logs: { url: 'https://logs.example/in' },
    metricIntervalMs: 60_000,
    queueRecords: 2_048,
    batchRecords: 512,
    resource: { 'service.name': 'waf' },
  });
  expect(readOtlpSettings(own)?.metrics).toBeNull();
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
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=lab,service.name=other',
    OTEL_SERVICE_NAME: 'edge',
  });
  expect(settings).toMatchObject({
    metrics: { headers: { authorization: 'Bearer abc', 'x-team': 'metrics' }, timeoutMs: 5000 },
    logs: { headers: { authorization: 'Bearer abc', 'x-team': 'edge' }, timeoutMs: 3000 },
    ...{ metricIntervalMs: 15_000, queueRecords: 100, batchRecords: 50, scheduleDelayMs: 0 },
    resource: { 'service.name': 'edge', 'deployment.environment.name': 'lab' },
  });
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
])('%s=%s is refused by name, without its value', (name, value, told) => {
  const read = (): unknown => readOtlpSettings({ ...endpoint, [name]: value });
  expect(read).toThrow(told);
  expect(read).toThrow(name);
  expect(read).not.toThrow('secret');
});
