/** Reads the first page of an origin, for who asks which application it is. */

import { upstreamLimits } from '../../base/delivery-limits.ts';
import { startTimeLimit } from '../../base/time-limit.ts';
import type { FirstPage } from '../contract/health.ts';
import type { UpstreamConfig } from '../contract/site.ts';
import { endpointName } from './endpoint-pool.ts';
import { askAddress } from './probe-address.ts';

/**
 * The page under `/` of the first address, redirects on it followed; null where none comes within
 * `upstreamLimits.firstPageTimeoutMs`. Never throws.
 */
export async function readFirstPage(
  upstream: UpstreamConfig,
  host: string,
): Promise<FirstPage | null> {
  const [endpoint] = upstream.endpoints;
  if (endpoint === undefined) return null;
  const limit = startTimeLimit(upstreamLimits.firstPageTimeoutMs);
  try {
    const request = { method: 'GET', path: '/', host, followRedirects: true, wantsBody: true };
    const answer = await askAddress(upstream, endpointName(endpoint), request, limit.signal);
    if (answer === null) return null;
    const cookies = answer.fields['set-cookie'] ?? [];
    const cookieNames = cookies.map((one) => one.split('=', 1)[0]!.trim());
    return { status: answer.status, cookieNames, text: answer.body };
  } catch {
    // Whether an origin can be reached is what probes say.
    return null;
  } finally {
    limit.end();
  }
}
