/** Owns AuthService/GetLoginOptions. */

import type { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import type { Method } from '../method.ts';

/** Name and password; identity providers are not built yet. */
export function getLoginOptions(): Method<typeof AuthService, 'getLoginOptions'> {
  return () => ({ passwordEnabled: true, providers: [] });
}
