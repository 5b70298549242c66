/**
 * The metrics that monitoring reads, as OpenMetrics text: exact counts of nodes, and how control
 * itself is. Values from outside stand in labels only, escaped.
 */

import { metricLimits } from '../../limits/observation-limits.ts';
import { durationBoundsSeconds, type SiteCounts } from '../../observe/counter-store.ts';

/** One value of a family. */
export interface MetricSample {
  /** After the family's name: `_total`, `_sum`; '' for gauges. */
  readonly suffix: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A family of values under one name. */
export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Counted since this process began; what is not is kept from the first start on. */
  readonly ofProcess?: true;
  readonly samples: readonly MetricSample[];
}

/** Source: OpenMetrics 1.0, text format. */
export function metricsText(families: readonly MetricFamily[]): string {
  const lines = families.flatMap(({ name, type, help, samples }) => [
    `# TYPE ${name} ${type}`,
    `# HELP ${name} ${help}`,
    ...samples.map(({ suffix, labels, value }) => {
      const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(text)}"`);
      return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
    }),
  ]);
  return [...lines, '# EOF', ''].join('\n');
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** What nodes counted; `siteName` gives a site's name for its id, '' when it is gone. */
export function trafficMetrics(
  counts: readonly SiteCounts[],
  siteName: (siteId: string) => string,
): MetricFamily[] {
  const labelsOf = (one: SiteCounts): Record<string, string> => ({
    site_id: one.siteId,
    site: siteName(one.siteId),
    policy_id: one.policyId,
  });
  const plain = (name: string, help: string, valueOf: (one: SiteCounts) => number): MetricFamily =>
    counter(name, help, counts, (one) => [[labelsOf(one), valueOf(one)]]);
  const by = (name: string, help: string, family: string, label: string): MetricFamily =>
    counter(name, help, counts, (one) =>
      Object.entries(one.entries[family] ?? {}).map(([key, count]) => {
        return [{ ...labelsOf(one), [label]: key }, count];
      }),
    );
  return [
    plain('waf_requests', 'Requests that ended.', (one) => one.requests),
    by('waf_request_outcomes', 'Requests by how they ended.', 'outcome', 'outcome'),
    by('waf_responses', 'Answers by status; 0 where none was sent.', 'status', 'status'),
    by('waf_verdicts', 'Inspected requests by verdict.', 'verdict', 'action'),
    by('waf_refusals', 'Requests that the proxy refused by itself.', 'refusal', 'reason'),
    by('waf_origin_errors', 'Requests that their origin failed.', 'origin_error', 'reason'),
    by('waf_inspection_failures', 'Requests by failed inspection.', 'failure', 'reason'),
    by('waf_inspection_limits', 'Requests by limit of inspection reached.', 'limit', 'limit'),
    by('waf_guard_verdicts', 'Verdicts by guard and action.', 'guard', 'verdict'),
    by('waf_websocket_messages', 'Inspected messages of WebSockets.', 'message', 'fate'),
    ruleHits(counts, labelsOf),
    by('waf_events', 'Events cut, lost or left out of traces, being too many.', 'event', 'fate'),
    plain('waf_request_bytes', 'Body bytes from clients.', (one) => one.bytesIn),
    plain('waf_response_bytes', 'Body bytes to clients.', (one) => one.bytesOut),
    plain('waf_inspected_requests', 'Requests that were inspected.', (one) => one.inspected),
    plain('waf_inspection_seconds', 'Time of inspection.', (one) => one.inspectionUs / 1e6),
    durations(counts, labelsOf),
  ];
}

function counter(
  name: string,
  help: string,
  counts: readonly SiteCounts[],
  samplesOf: (one: SiteCounts) => readonly (readonly [Record<string, string>, number])[],
): MetricFamily {
  const samples = counts.flatMap((one) =>
    samplesOf(one).map(([labels, value]) => ({ suffix: '_total', labels, value })),
  );
  return { name, type: 'counter', help, samples };
}

/** Hits by rule, those with the most first: there may be more than a scrape should hold. */
function ruleHits(
  counts: readonly SiteCounts[],
  labelsOf: (one: SiteCounts) => Record<string, string>,
): MetricFamily {
  const samples = counts
    .flatMap((one) =>
      Object.entries(one.entries['rule'] ?? {}).map(([rule, value]) => {
        return { suffix: '_total', labels: { ...labelsOf(one), rule_id: rule }, value };
      }),
    )
    .toSorted((one, other) => other.value - one.value)
    .slice(0, metricLimits.ruleHitsMax);
  const help = 'Requests by rule that matched; the most frequent ones.';
  return { name: 'waf_rule_hits', type: 'counter', help, samples };
}

function durations(
  counts: readonly SiteCounts[],
  labelsOf: (one: SiteCounts) => Record<string, string>,
): MetricFamily {
  const samples = counts.flatMap((one) => {
    const labels = labelsOf(one);
    let below = 0;
    const buckets = one.durations.map((count, at) => {
      below += count;
      const le = String(durationBoundsSeconds[at] ?? '+Inf');
      return { suffix: '_bucket', labels: { ...labels, le }, value: below };
    });
    return [
      ...buckets,
      { suffix: '_count', labels, value: one.requests },
      { suffix: '_sum', labels, value: one.durationUs / 1e6 },
    ];
  });
  const help = 'Time from the first byte of a request to the last byte of its answer.';
  return { name: 'waf_request_duration_seconds', type: 'histogram', help, samples };
}
