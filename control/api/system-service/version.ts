/** Owns SystemService/Version. */

import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Method } from '../method.ts';

/** The build that runs. */
export function version(parts: ApiParts): Method<typeof SystemService, 'version'> {
  return () => ({ build: { version: parts.version, commit: '', buildDate: '' } });
}
