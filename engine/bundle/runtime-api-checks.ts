/** What a bundle says of API checks, as plain data. */

import type { RuntimeBundle } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { AppError } from '../../base/errors.ts';
import { bundleLimits } from '../base/limits.ts';
import { apiChecksFormat, type ApiChecks } from '../contract/api-checks.ts';

/** The checks of a site, their text apart: threads share it. */
export interface RuntimeApiChecks {
  readonly api: ApiChecks;
  readonly apiCode: Uint8Array;
}

/** Checks by site. Errors: AppError bundle_invalid for another format or what is too large. */
export function apiChecksOf({
  apiChecks,
}: Pick<RuntimeBundle, 'apiChecks'>): ReadonlyMap<string, RuntimeApiChecks> {
  const sites = new Map<string, RuntimeApiChecks>();
  for (const { siteId, checksJson } of apiChecks) {
    if (checksJson.length > bundleLimits.apiChecksBytesMax) throw invalid(siteId, 'too large');
    const { code, ...api } = read(siteId, checksJson);
    sites.set(siteId, { api: { ...api, code: '' }, apiCode: sharedBytes(code) });
  }
  return sites;
}

function read(siteId: string, bytes: Uint8Array): ApiChecks {
  let checks: ApiChecks;
  try {
    checks = JSON.parse(Buffer.from(bytes).toString('utf8')) as ApiChecks;
  } catch (cause) {
    throw invalid(siteId, 'not JSON', cause);
  }
  if (checks.format !== apiChecksFormat) throw invalid(siteId, 'of an unknown format');
  if (checks.siteId !== siteId) throw invalid(siteId, 'those of another site');
  return checks;
}

function sharedBytes(text: string): Uint8Array {
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text, 'utf8')));
  bytes.write(text, 'utf8');
  return new Uint8Array(bytes.buffer);
}

function invalid(siteId: string, problem: string, cause?: unknown): AppError {
  const message = `the API checks of site ${siteId} are ${problem}`;
  return new AppError('bundle_invalid', message, { source: 'config', cause });
}
