/** What an upstream pool may be, and its stored form. */

import { UpstreamSchema, type UpstreamJson } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import { invalidField } from '../errors.ts';
import { checkName } from '../names.ts';
import { checkBounds } from '../proto-bounds.ts';
import { checkRequestHeaders } from './request-headers.ts';
import { checkEndpoint } from './site.ts';
import { checkUpstreamTls } from './upstream-tls.ts';
import { withProbeDefaults, withResilienceDefaults } from './upstream-behavior.ts';

const probeMethods = ['GET', 'HEAD', 'OPTIONS'];

/**
 * The pool with standard values where it states none. Errors: invalid_argument naming the field.
 */
export function checkUpstream(upstream: UpstreamJson): UpstreamJson {
  const name = checkName(upstream.name, 'upstream.name');
  checkBounds(UpstreamSchema, upstream, 'upstream');
  const status = upstream.status ?? 'RESOURCE_STATUS_ACTIVE';
  if (status !== 'RESOURCE_STATUS_ACTIVE' && status !== 'RESOURCE_STATUS_DISABLED') {
    const problem = 'must be RESOURCE_STATUS_ACTIVE or RESOURCE_STATUS_DISABLED';
    throw invalidField('upstream.status', problem);
  }
  checkUpstreamTls(upstream.tls, checkEndpoints(upstream), 'upstream.tls');
  checkHealth(upstream);
  const { healthCheck, resilience } = upstream;
  checkRequestHeaders(upstream.requestHeaders ?? {}, 'upstream.requestHeaders');
  return {
    ...upstream,
    name,
    status,
    ...(healthCheck === undefined ? {} : { healthCheck: withProbeDefaults(healthCheck) }),
    ...(resilience === undefined ? {} : { resilience: withResilienceDefaults(resilience) }),
  };
}

/** True when they speak TLS. */
function checkEndpoints({ endpoints = [] }: UpstreamJson): boolean {
  if (endpoints.length === 0) throw invalidField('upstream.endpoints', 'needs at least one entry');
  let tls: boolean | undefined;
  const seen = new Set<string>();
  endpoints.forEach((endpoint, at) => {
    const field = `upstream.endpoints[${at}]`;
    const parsed = checkEndpoint(endpoint, field);
    if (tls !== undefined && tls !== parsed.tls) {
      throw invalidField(`${field}.url`, 'must have the scheme of the other endpoints');
    }
    tls = parsed.tls;
    const address = `${parsed.host}:${parsed.port}`;
    if (seen.has(address)) throw invalidField(`${field}.url`, 'is an address of this pool already');
    seen.add(address);
    checkPath(endpoint.healthCheckPath, `${field}.healthCheckPath`);
  });
  return tls === true;
}

function checkHealth({ healthCheck }: UpstreamJson): void {
  if (healthCheck === undefined) return;
  const at = 'upstream.healthCheck';
  checkPath(healthCheck.path, `${at}.path`);
  const method = healthCheck.method ?? '';
  if (method !== '' && !probeMethods.includes(method)) {
    throw invalidField(`${at}.method`, `must be one of ${probeMethods.join(', ')}`);
  }
  const interval = healthCheck.intervalSeconds || 30;
  if ((healthCheck.timeoutSeconds ?? 0) > interval) {
    throw invalidField(`${at}.timeoutSeconds`, 'must not be above intervalSeconds');
  }
  const host = healthCheck.host ?? '';
  if (host !== '' && !/^[A-Za-z0-9_.:[\]-]{1,255}$/.test(host)) {
    throw invalidField(`${at}.host`, 'must be a host name, with a port or without');
  }
}

function checkPath(path: string | undefined, field: string): void {
  if (path === undefined || path === '') return;
  if (!/^\/[\x21-\x7e]{0,1023}$/.test(path)) {
    throw invalidField(field, 'must begin with a slash and have no spaces');
  }
}
