/** The spans of time that views offer, as they stand in addresses. */

import { timestampFromMs, type Timestamp } from '@bufbuild/protobuf/wkt';

/** Names of the spans, the shortest first. */
export const spans = ['1h', '24h', '7d', '30d'] as const;

/** One of the spans. */
export type Span = (typeof spans)[number];

const hours: Readonly<Record<Span, number>> = { '1h': 1, '24h': 24, '7d': 168, '30d': 720 };

/** The span that an address names; a day unless it names one. */
export function spanOf(text: string | null): Span {
  return spans.find((one) => one === text) ?? '24h';
}

/** The span as calls want it, until now or some time ago. */
export function timeRange(span: Span, agoMs = 0): { start: Timestamp; end: Timestamp } {
  const end = Date.now() - agoMs;
  return { start: timestampFromMs(end - hours[span] * 3_600_000), end: timestampFromMs(end) };
}
