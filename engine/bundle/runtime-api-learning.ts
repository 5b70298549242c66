/** What a bundle says of endpoints that learn, as plain data. */

import type { RuntimeBundle } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { AppError } from '../../base/errors.ts';
import { bundleLimits } from '../base/limits.ts';
import { apiLearningFormat, type ApiLearning } from '../contract/api-learning.ts';

/** Endpoints by site. Errors: AppError bundle_invalid for another format or what is too large. */
export function apiLearningOf({
  apiLearning,
}: Pick<RuntimeBundle, 'apiLearning'>): ReadonlyMap<string, ApiLearning> {
  const sites = new Map<string, ApiLearning>();
  for (const { siteId, learningJson } of apiLearning) {
    if (learningJson.length > bundleLimits.apiLearningBytesMax) throw invalid(siteId, 'too large');
    sites.set(siteId, read(siteId, learningJson));
  }
  return sites;
}

function read(siteId: string, bytes: Uint8Array): ApiLearning {
  let learning: ApiLearning;
  try {
    learning = JSON.parse(Buffer.from(bytes).toString('utf8')) as ApiLearning;
  } catch (cause) {
    throw invalid(siteId, 'not JSON', cause);
  }
  if (learning.format !== apiLearningFormat) throw invalid(siteId, 'of an unknown format');
  if (learning.siteId !== siteId) throw invalid(siteId, 'those of another site');
  return learning;
}

function invalid(siteId: string, problem: string, cause?: unknown): AppError {
  const message = `the learning endpoints of site ${siteId} are ${problem}`;
  return new AppError('bundle_invalid', message, { source: 'config', cause });
}
