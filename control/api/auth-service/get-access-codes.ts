/** AuthService/GetAccessCodes. */

import type { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import { callerOf } from '../context.ts';
import type { Method } from '../method.ts';
import { accessCodes } from './current-user.ts';

/** The caller's permission codes. */
export function getAccessCodes(): Method<typeof AuthService, 'getAccessCodes'> {
  return (_request, context) => ({ codes: accessCodes(callerOf(context).permissions) });
}
