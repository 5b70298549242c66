/** How sites of a bundle are delivered, as plain data. Pure. */

import type { RuntimeSite } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { encodeUtf8 } from '../../base/byte-string.ts';
import { AppError } from '../../base/errors.ts';
import { readStatedPath, withoutForcedEscapes } from '../../base/stated-path.ts';
import { noDelivery, type DeliveryConfig, type RewriteConfig } from '../contract/delivery.ts';

/** Undefined where nothing is set. Errors: AppError bundle_invalid for what is no JSON. */
export function deliveryOf({
  name,
  deliveryJson,
}: Pick<RuntimeSite, 'name' | 'deliveryJson'>): DeliveryConfig | undefined {
  if (deliveryJson.length === 0) return undefined;
  let stated: DeliveryConfig;
  try {
    const text = Buffer.from(deliveryJson).toString('utf8');
    stated = { ...noDelivery, ...(JSON.parse(text) as Partial<DeliveryConfig>) };
  } catch (cause) {
    const message = `site ${name}: its delivery is not JSON`;
    throw new AppError('bundle_invalid', message, { source: 'config', cause });
  }
  const { maintenance } = stated;
  return {
    ...stated,
    basicAuth: byLength(stated.basicAuth),
    forwardAuth: byLength(stated.forwardAuth),
    bodyLimits: byLength(stated.bodyLimits),
    timeouts: byLength(stated.timeouts),
    cors: byLength(stated.cors),
    compression: byLength(stated.compression),
    redirects: stated.redirects.map(asBytes),
    rewrites: stated.rewrites.map((rule) => ({
      ...asBytes(rule),
      pathPrefix: readStatedPath(rule.path),
    })),
    ...(maintenance && {
      maintenance: { ...maintenance, allowedPaths: maintenance.allowedPaths.map(readStatedPath) },
    }),
  };
}

function asBytes<T extends Pick<RewriteConfig, 'path' | 'target'>>(rule: T): T {
  const path = withoutForcedEscapes(encodeUtf8(rule.path));
  return { ...rule, path, target: encodeUtf8(rule.target) };
}

/** Folded prefixes, the longest first. */
function byLength<T extends { readonly pathPrefix: string }>(rules: readonly T[]): T[] {
  return rules
    .map((rule) => ({ ...rule, pathPrefix: readStatedPath(rule.pathPrefix) }))
    .toSorted((left, right) => right.pathPrefix.length - left.pathPrefix.length);
}
