/** What a bundle says of signs that are content of a site's values, as plain data. */

import type { RuntimeBundle } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { AppError } from '../../base/errors.ts';
import { bundleLimits } from '../base/limits.ts';
import {
  detectionContentFormat,
  signFamilies,
  type DetectionContent,
} from '../contract/detection-content.ts';

/** By site. Errors: AppError bundle_invalid for another format or what is too large. */
export function detectionContentOf({
  detectionContent,
}: Pick<RuntimeBundle, 'detectionContent'>): ReadonlyMap<string, DetectionContent> {
  return new Map(
    detectionContent.map(({ siteId, contentJson }) => [siteId, read(siteId, contentJson)]),
  );
}

function read(siteId: string, bytes: Uint8Array): DetectionContent {
  if (bytes.length > bundleLimits.detectionContentBytesMax) throw invalid(siteId, 'too large');
  let content: DetectionContent;
  try {
    content = JSON.parse(Buffer.from(bytes).toString('utf8')) as DetectionContent;
  } catch (cause) {
    throw invalid(siteId, 'not JSON', cause);
  }
  if (content.format !== detectionContentFormat) throw invalid(siteId, 'of an unknown format');
  if (content.siteId !== siteId) throw invalid(siteId, 'those of another site');
  if (!content.rules.every(({ family }) => signFamilies.includes(family))) {
    throw invalid(siteId, 'of an unknown family');
  }
  return content;
}

function invalid(siteId: string, problem: string, cause?: unknown): AppError {
  const message = `the learned contents of site ${siteId} are ${problem}`;
  return new AppError('bundle_invalid', message, { source: 'config', cause });
}
