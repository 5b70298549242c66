/**
 * Metrics of what is configured and of control itself: origins, certificates, the log store, the
 * process. Labels hold no addresses of clients and no paths.
 */

import { getHeapStatistics } from 'node:v8';
import { overloadStates } from '../../../base/overload-states.ts';
import { residentBytes } from '../../../base/resident-bytes.ts';
import { certificates, sites } from '../../store/collections.ts';
import { metricLimits } from '../../limits/observation-limits.ts';
import type { Uses } from '../context.ts';
import { overloadOf } from '../nodes/node-overload.ts';
import type { MetricFamily, MetricSample } from './metrics-text.ts';

/** Health of origins, as nodes probe them and requests find them. */
export function originMetrics({ nodes }: Uses<'nodes'>): MetricFamily[] {
  const samples = nodes
    .list()
    .flatMap(({ id, upstreamHealth }) =>
      upstreamHealth.map(({ upstreamId, address, status }): MetricSample => {
        const labels = { node_id: id, upstream_id: upstreamId, endpoint: address };
        return { suffix: '', labels, value: status === 'healthy' ? 1 : 0 };
      }),
    )
    .slice(0, metricLimits.originsMax);
  const help = 'Whether an address of an origin is healthy.';
  return [{ name: 'waf_upstream_endpoint_healthy', type: 'gauge', help, samples }];
}

/** What connected nodes say of their overload. */
export function overloadMetrics({ nodes }: Uses<'nodes'>): MetricFamily[] {
  const overloads = overloadOf(nodes.list()).slice(0, metricLimits.originsMax);
  const labels = overloads.map(({ nodeId }) => ({ node_id: nodeId }));
  return [
    gauge(
      'waf_overload_inspected_ratio',
      'Share of requests that a node inspects; less than 1 under overload.',
      overloads.map(({ probePercent }, at) => {
        return { suffix: '', labels: labels[at]!, value: probePercent / 100 };
      }),
    ),
    gauge(
      'waf_overload_state',
      'The state of overload of a node.',
      overloads.flatMap(({ state }, at) =>
        overloadStates.map((name) => {
          return { suffix: '', labels: { ...labels[at]!, state: name }, value: +(name === state) };
        }),
      ),
    ),
  ];
}

/** When certificates end. */
export function certificateMetrics({ store }: Uses<'store'>): MetricFamily[] {
  const samples = store
    .list(certificates)
    .slice(0, metricLimits.certificatesMax)
    .map(({ id, name, notAfter = '' }): MetricSample => {
      const seconds = Math.floor(Date.parse(notAfter) / 1000);
      return { suffix: '', labels: { certificate_id: id, name }, value: seconds };
    })
    .filter(({ value }) => Number.isFinite(value));
  const name = 'waf_certificate_expiry_timestamp_seconds';
  return [{ name, type: 'gauge', help: 'When a certificate ends.', samples }];
}

/** The log store: how much it holds, what evidence had no room. */
export function storageMetrics({ events, evidence }: Uses<'events' | 'evidence'>) {
  const lanes = Object.entries(events.use());
  const ofLanes = (valueOf: (use: (typeof lanes)[number][1]) => number): MetricSample[] =>
    lanes.map(([lane, use]) => ({ suffix: '', labels: { lane }, value: valueOf(use) }));
  const { storedBytes, quotaBytes, quotaRejected, writeFailed } = evidence.use();
  const one = (value: number, suffix = ''): MetricSample[] => [{ suffix, labels: {}, value }];
  const families: MetricFamily[] = [
    gauge(
      'waf_events_stored',
      'Events that are kept.',
      ofLanes((use) => use.events),
    ),
    gauge(
      'waf_events_stored_bytes',
      'Bytes of events.',
      ofLanes((use) => use.bytes),
    ),
    gauge('waf_evidence_stored_bytes', 'Bytes of evidence of requests.', one(storedBytes)),
    gauge('waf_evidence_quota_bytes', 'Bytes that evidence may have.', one(quotaBytes)),
    {
      name: 'waf_evidence_rejected',
      type: 'counter',
      help: 'Evidence that was not kept since control began.',
      ofProcess: true,
      samples: [
        { suffix: '_total', labels: { reason: 'quota' }, value: quotaRejected },
        { suffix: '_total', labels: { reason: 'write_failed' }, value: writeFailed },
      ],
    },
  ];
  return families;
}

/** The process of control. */
export function processMetrics(): MetricFamily[] {
  const { user, system } = process.cpuUsage();
  const { used_heap_size: heapUsed } = getHeapStatistics();
  const started = Math.round(Date.now() / 1000 - process.uptime());
  const one = (value: number, suffix = ''): MetricSample[] => [{ suffix, labels: {}, value }];
  return [
    gauge('process_resident_memory_bytes', 'Memory of control.', one(residentBytes())),
    gauge('process_start_time_seconds', 'When control began.', one(started)),
    gauge('nodejs_heap_size_used_bytes', 'Heap of control in use.', one(heapUsed)),
    {
      name: 'process_cpu_seconds',
      type: 'counter',
      help: 'CPU time of control.',
      ofProcess: true,
      samples: one((user + system) / 1e6, '_total'),
    },
  ];
}

/** The API inventory by site: endpoints of traffic and catalogs, and what found no place. */
export function inventoryMetrics(parts: Uses<'store' | 'inventory'>): MetricFamily[] {
  const samples = parts.store
    .list(sites)
    .slice(0, metricLimits.sitesMax)
    .flatMap(({ id, tenantId }) => {
      const { assets, cataloged, hidden, omitted } = parts.inventory.of(tenantId, id);
      const count = (field: string, value: number): MetricSample => {
        return { suffix: '', labels: { site_id: id, field }, value };
      };
      return [
        count('assets', assets),
        count('cataloged', cataloged),
        count('hidden', hidden),
        count('omitted_requests', omitted),
      ];
    });
  return [gauge('waf_api_inventory_value', 'Assets of the API inventory.', samples)];
}

function gauge(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: 'gauge', help, samples };
}
