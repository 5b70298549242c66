/** What is served beside RPCs: liveness everywhere, readiness and metrics on the socket only. */

import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { sites } from '../../store/collections.ts';
import { laneStats } from '../../observe/lane-stats.ts';
import type { ApiParts, Uses, Entrance } from '../context.ts';
import { checkStore } from './store-check.ts';
import { alertMetrics } from './metrics-alerts.ts';
import {
  certificateMetrics,
  inventoryMetrics,
  originMetrics,
  overloadMetrics,
  processMetrics,
  storageMetrics,
} from './metrics-resources.ts';
import { metricsText, trafficMetrics, type MetricFamily } from './metrics-text.ts';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const json = 'application/json';
/** The type of that text. */
export const openMetrics = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** What an answer needs of a response, whatever the version of HTTP. */
interface ProbeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

/** Answers a request that is no RPC. */
export function answerProbe(
  parts: ApiParts,
  entrance: Entrance,
  request: IncomingMessage | Http2ServerRequest,
  response: ProbeResponse,
): void {
  const path = (request.url ?? '').split('?', 1)[0] ?? '';
  const reading = request.method === 'GET' || request.method === 'HEAD';
  const answer = reading ? probe(parts, entrance, path) : notFound;
  response.statusCode = answer.status;
  response.setHeader('content-type', answer.type);
  response.setHeader('cache-control', 'no-store');
  response.setHeader('x-content-type-options', 'nosniff');
  response.end(request.method === 'HEAD' ? '' : answer.body);
}

const notFound: Answer = {
  status: 404,
  type: json,
  body: '{"code":"not_found","message":"Unknown path or method."}',
};

function probe(parts: ApiParts, entrance: Entrance, path: string): Answer {
  if (path === '/healthz') return { status: 200, type: json, body: '{"status":"ok"}' };
  if (path === '/bootstrap/ca.pem') return bootstrapAuthority(parts);
  if (entrance !== 'socket') return notFound;
  if (path === '/readyz') return readiness(parts);
  if (path === '/metrics') return { status: 200, type: openMetrics, body: metrics(parts) };
  return notFound;
}

/** Nodes compare its hash with the one in their command before they believe it. */
function bootstrapAuthority(parts: Uses<'managementAuthority'>): Answer {
  const body = parts.managementAuthority();
  return body === '' ? notFound : { status: 200, type: 'application/x-pem-file', body };
}

/** Ready when the store can be read and the local engine serves the present configuration. */
export function readiness(parts: Uses<'store' | 'events' | 'publisher' | 'nodes'>): Answer {
  const { ok: store, message } = checkStore(parts);
  const wanted = parts.publisher.current()?.signed.sha256 ?? '';
  const local = parts.nodes.get('local');
  const serving = local?.connected === true && wanted !== '' && local.configHash === wanted;
  const ready = store && serving;
  const reason = store ? {} : { reason: message };
  const body = JSON.stringify({ status: ready ? 'ready' : 'not_ready', store, serving, ...reason });
  return { status: ready ? 200 : 503, type: json, body };
}

/** SIEM targets as lanes: messages, and what waits. */
function siemLanes({ siem }: Uses<'siem'>) {
  return siem.stats().map((target) => {
    const { attempted, admitted, written, dropped, retried, pendingItems, pendingBytes } = target;
    const fields = { attempted, admitted, written, dropped, retried, pendingItems, pendingBytes };
    return { name: `siem:${target.id}`, fields };
  });
}

/** Log records and spans for an OTLP collector as lanes. */
function otlpLanes({ otlpQueues }: Uses<'otlpQueues'>) {
  return otlpQueues().map((queue) => {
    const { attempted, admitted, written, dropped, retried, pendingItems, pendingBytes } = queue;
    const fields = { attempted, admitted, written, dropped, retried, pendingItems, pendingBytes };
    return { name: `otlp:${queue.signal}`, fields };
  });
}

/** All metrics as OpenMetrics text. */
export function metrics(parts: ApiParts): string {
  return metricsText(metricFamilies(parts));
}

/** All metrics. */
export function metricFamilies(parts: ApiParts): MetricFamily[] {
  const revision = parts.publisher.current()?.revision ?? '0';
  const nodes = parts.nodes.list();
  const connected = nodes.filter((node) => node.connected).length;
  const failed = nodes.filter((node) => node.apply?.success === false).length;
  const names = new Map(parts.store.list(sites).map(({ id, name }) => [id, name]));
  const gauge = (name: string, help: string, value: number): MetricFamily => {
    return { name, type: 'gauge', help, samples: [{ suffix: '', labels: {}, value }] };
  };
  const counts = parts.counters.list();
  const all = [...laneStats(parts.pipeline), ...siemLanes(parts), ...otlpLanes(parts)];
  const lanes = all.flatMap(({ name: lane, fields }) =>
    Object.entries(fields).map(([field, value]) => {
      return { suffix: '', labels: { lane, field }, value };
    }),
  );
  return [
    gauge('waf_config_revision', 'Configuration that control has published.', Number(revision)),
    gauge('waf_nodes_connected', 'Nodes whose stream to this controller is up.', connected),
    gauge('waf_nodes_apply_failed', 'Nodes that could not serve it.', failed),
    gauge('waf_security_events', 'Security events that are kept.', parts.events.count()),
    {
      name: 'waf_observation_lane_value',
      type: 'gauge',
      help: 'What became of observations since control began, by stream.',
      samples: lanes,
    },
    {
      name: 'waf_observation_pipeline_value',
      type: 'gauge',
      help: 'What control keeps of observations.',
      samples: [
        { suffix: '', labels: { field: 'security_events' }, value: parts.events.count() },
        { suffix: '', labels: { field: 'counted_series' }, value: counts.length },
        { suffix: '', labels: { field: 'siem_delivery_losses' }, value: parts.siem.losses() },
      ],
    },
    ...processMetrics(),
    ...originMetrics(parts),
    ...overloadMetrics(parts),
    ...certificateMetrics(parts),
    ...storageMetrics(parts),
    ...inventoryMetrics(parts),
    ...alertMetrics(parts),
    ...trafficMetrics(counts, (siteId) => names.get(siteId) ?? ''),
  ];
}
