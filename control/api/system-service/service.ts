/** Owns which methods of SystemService are built. */

import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Built } from '../method.ts';
import { version } from './version.ts';

/** SystemService. */
export function systemService(parts: ApiParts): Built<typeof SystemService> {
  return { version: version(parts) };
}
