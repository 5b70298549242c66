/** AuthService. */

import type { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { getAccessCodes } from './get-access-codes.ts';
import { getLoginOptions } from './get-login-options.ts';
import { getUserInfo } from './get-user-info.ts';
import { changePassword } from './change-password.ts';
import { completeAuthenticationChallenge, login } from './login.ts';
import {
  beginTotpEnrollment,
  confirmTotpEnrollment,
  disableTotp,
  getMfaStatus,
  regenerateRecoveryCodes,
} from './second-factor.ts';
import { logout } from './logout.ts';
import { refresh } from './refresh.ts';

/** AuthService. */
export function authService(
  parts: Uses<'store' | 'clock' | 'sessions' | 'signIn' | 'secureCookies'>,
): Built<typeof AuthService> {
  return {
    getLoginOptions: getLoginOptions(parts),
    login: login(parts),
    logout: logout(parts),
    refresh: refresh(parts),
    getUserInfo: getUserInfo(parts),
    getAccessCodes: getAccessCodes(),
    completeAuthenticationChallenge: completeAuthenticationChallenge(parts),
    changePassword: changePassword(parts),
    getMFAStatus: getMfaStatus(parts),
    beginTOTPEnrollment: beginTotpEnrollment(parts),
    confirmTOTPEnrollment: confirmTotpEnrollment(parts),
    disableTOTP: disableTotp(parts),
    regenerateRecoveryCodes: regenerateRecoveryCodes(parts),
  };
}
