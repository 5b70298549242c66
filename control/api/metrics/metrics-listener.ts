/**
 * Serves metrics to scrapers on an address of its own, without a session: whoever reaches the
 * address reads them. Off unless it is asked for.
 */

import { createServer } from 'node:http';
import { AppError } from '../../../base/errors.ts';
import { metricLimits } from '../../limits/observation-limits.ts';
import type { ApiParts } from '../context.ts';
import { metrics, openMetrics } from './probes.ts';

/** Where to listen. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** Starts it. Errors: AppError address_unusable. */
export async function startMetricsListener(
  parts: ApiParts,
  { host, port }: MetricsAddress,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    const found = path === '/metrics' && request.method === 'GET';
    response.statusCode = found ? 200 : 404;
    response.setHeader('content-type', found ? openMetrics : 'text/plain');
    response.setHeader('x-content-type-options', 'nosniff');
    response.end(found ? metrics(parts) : 'Unknown path or method.\n');
  });
  server.maxConnections = metricLimits.scrapersMax;
  server.requestTimeout = metricLimits.scrapeTimeoutMs;
  server.headersTimeout = metricLimits.scrapeTimeoutMs;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  }).catch((error: unknown) => {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    const message = `the address ${host}:${port} cannot be listened on (${code}); see --metrics-listen`;
    throw new AppError('address_unusable', message, { source: 'config', cause: error });
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
