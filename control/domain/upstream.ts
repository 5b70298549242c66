/** Owns what an upstream pool may be. */

import type { UpstreamJson } from '../../proto/gen/waf/v1/upstream_pb.ts';
import { invalidField } from './errors.ts';
import { checkEndpoint } from './site.ts';

const endpointsMax = 64;
const headersMax = 64;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const controls = /[\0\r\n]/;

/** Errors: invalid_argument naming the field. */
export function checkUpstream(upstream: UpstreamJson): void {
  const name = (upstream.name ?? '').trim();
  if (name === '') throw invalidField('upstream.name', 'is required');
  if (name.length > 128) throw invalidField('upstream.name', 'has at most 128 characters');
  const endpoints = upstream.endpoints ?? [];
  if (endpoints.length === 0) throw invalidField('upstream.endpoints', 'needs at least one entry');
  if (endpoints.length > endpointsMax) {
    throw invalidField('upstream.endpoints', `has at most ${endpointsMax} entries`);
  }
  let tls: boolean | undefined;
  endpoints.forEach((endpoint, at) => {
    const field = `upstream.endpoints[${at}]`;
    const parsed = checkEndpoint(endpoint, field);
    if (tls !== undefined && tls !== parsed.tls) {
      throw invalidField(`${field}.url`, 'must have the scheme of the other endpoints');
    }
    tls = parsed.tls;
    checkPath(endpoint.healthCheckPath, `${field}.healthCheckPath`);
  });
  checkHealth(upstream);
  checkHeaders(upstream.requestHeaders ?? {});
}

function checkHealth({ healthCheck, resilience }: UpstreamJson): void {
  checkPath(healthCheck?.path, 'upstream.healthCheck.path');
  const within = (field: string, value: number | undefined, min: number, max: number): void => {
    if (value === undefined || (value >= min && value <= max)) return;
    throw invalidField(`upstream.${field}`, `must be between ${min} and ${max}`);
  };
  within('healthCheck.expectedStatus', healthCheck?.expectedStatus, 0, 599);
  within('healthCheck.intervalSeconds', healthCheck?.intervalSeconds, 0, 3600);
  within('healthCheck.timeoutSeconds', healthCheck?.timeoutSeconds, 0, 300);
  within('healthCheck.unhealthyThreshold', healthCheck?.unhealthyThreshold, 0, 100);
  within('healthCheck.healthyThreshold', healthCheck?.healthyThreshold, 0, 100);
  within('resilience.passiveFailDurationSeconds', resilience?.passiveFailDurationSeconds, 0, 3600);
  within('resilience.passiveMaxFails', resilience?.passiveMaxFails, 0, 1000);
  within('resilience.retryDurationSeconds', resilience?.retryDurationSeconds, 0, 300);
  within('resilience.retryIntervalMilliseconds', resilience?.retryIntervalMilliseconds, 0, 60_000);
}

function checkPath(path: string | undefined, field: string): void {
  if (path === undefined || path === '') return;
  if (!path.startsWith('/') || /\s/.test(path) || path.length > 1024) {
    throw invalidField(field, 'must begin with a slash and have no spaces');
  }
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const entries = Object.entries(headers);
  if (entries.length > headersMax) {
    throw invalidField('upstream.requestHeaders', `has at most ${headersMax} entries`);
  }
  for (const [name, value] of entries) {
    if (token.test(name) && !controls.test(value) && value.length <= 4096) continue;
    throw invalidField('upstream.requestHeaders', 'holds a name or value that HTTP cannot carry');
  }
}
