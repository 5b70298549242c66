/** PartService. It is no part of the contract with clients. */

import type { PartService } from '../../../proto/gen/waf/runtime/v1/parts_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { fetchParts } from './fetch-parts.ts';

/** PartService. */
export function partService(
  parts: Uses<'store' | 'clock' | 'logger' | 'publisher'>,
): Built<typeof PartService> {
  return { fetchParts: fetchParts(parts) };
}
