/**
 * What API tokens may call beyond their permissions: nothing that is a person's own, tokens only
 * where they may manage them, and for tokens of single sites only the calls listed here, which name
 * their site. What is not on the list is refused.
 */

import type { Interceptor } from '@connectrpc/connect';
import type { CallingToken } from '../auth/permissions.ts';
import { refusal } from '../domain/errors.ts';
import { callerKey } from './context.ts';

/** Calls that need a person. */
const forPeople = new Set([
  'AuthService/ChangePassword',
  'AuthService/GetMFAStatus',
  'AuthService/BeginTOTPEnrollment',
  'AuthService/ConfirmTOTPEnrollment',
  'AuthService/DisableTOTP',
  'AuthService/RegenerateRecoveryCodes',
  'SessionService/ListSessions',
  'SessionService/EndSession',
  'PasskeyService/BeginPasskeyRegistration',
  'PasskeyService/FinishPasskeyRegistration',
  'PasskeyService/ListPasskeys',
  'PasskeyService/RenamePasskey',
  'PasskeyService/RemovePasskey',
  'PasskeyService/SetPasskeySecondFactor',
]);

/** Calls of site tokens, with the path of the field that names the site; '' for none. */
const siteCalls: ReadonlyMap<string, string> = new Map([
  ['AuthService/GetUserInfo', ''],
  ['AuthService/GetAccessCodes', ''],
  ['MenuService/ListMenus', ''],
  ['TokenService/CreateApiToken', ''],
  ['TokenService/ListApiTokens', ''],
  ['TokenService/GetApiToken', ''],
  ['TokenService/RotateApiToken', ''],
  ['TokenService/RevokeApiToken', ''],
  ['SiteService/ListSites', ''],
  ['SiteService/GetSite', 'id'],
  ['SiteService/UpdateSite', 'site.id'],
  ['SiteService/DeleteSite', 'id'],
  ['SiteService/EnableSite', 'id'],
  ['SiteService/DisableSite', 'id'],
  ['SiteService/ExportSite', 'id'],
  ['LearningService/ListProposals', 'siteId'],
  ['LearningService/AcceptProposal', 'siteId'],
  ['LearningService/DismissProposal', 'siteId'],
  ['LearningService/ResetLearning', 'siteId'],
  ['LearningService/ExportLearning', 'siteId'],
  ['SiteService/GetSiteRouting', 'siteId'],
  ['SiteService/UpdateSiteRouting', 'siteId'],
  ['SiteService/GetSitePolicyOverride', 'siteId'],
  ['SiteService/UpsertSitePolicyOverride', 'override.siteId'],
  ['SiteService/DeleteSitePolicyOverride', 'siteId'],
  ['TrustService/GetTrustProfile', 'siteId'],
  ['TrustService/SetTrustProfile', 'siteId'],
  ['TrustService/ResetTrustProfile', 'siteId'],
  ['TrustService/ExplainTrust', 'siteId'],
  ['LogService/GetSiteLogPolicy', 'siteId'],
  ['LogService/UpsertSiteLogPolicyOverride', 'override.siteId'],
  ['LogService/DeleteSiteLogPolicyOverride', 'siteId'],
  ['LogService/QuerySecurityEvents', 'siteId'],
  ['LogService/QueryAccessEvents', 'siteId'],
  ['LogService/QueryErrorEvents', 'siteId'],
  ['LogService/TailSecurityEvents', 'siteId'],
  ['LogService/GetAccessLogSummary', 'siteId'],
  ['LogService/GetAccessLogRankings', 'siteId'],
  ['SystemService/GetDashboardOverview', 'siteId'],
  ['SystemService/GetTrafficTimeseries', 'siteId'],
  ['SystemService/GetAttackDistribution', 'siteId'],
  ['SystemService/GetTopAttackers', 'siteId'],
]);

/** Refuses calls that the caller's token may not make. */
export function tokenScopeInterceptor(): Interceptor {
  return (next) => async (request) => {
    const token = request.contextValues.get(callerKey)?.token;
    if (token === undefined) return next(request);
    const { parent, name } = request.method;
    const call = `${parent.name}/${name}`;
    if (forPeople.has(call)) {
      throw refusal('permission_denied', 'an API token cannot make this call: sign in');
    }
    if (token.siteIds === null) return next(request);
    if (!request.stream) {
      requireSite(token, call, request.message);
      return next(request);
    }
    return next({ ...request, message: checked(token, call, request.message) });
  };
}

/** Errors: permission_denied, for a message that names no site of the token. */
function requireSite(token: CallingToken, call: string, message: unknown): void {
  const path = siteCalls.get(call);
  if (path === undefined) throw refusal('permission_denied', 'this API token is for single sites');
  if (path === '') return;
  let found = message;
  for (const key of path.split('.')) {
    found = (found as Readonly<Record<string, unknown>> | undefined)?.[key];
  }
  if (typeof found === 'string' && token.siteIds?.has(found) === true) return;
  throw refusal('permission_denied', `${path}: this API token is for other sites`);
}

async function* checked<M>(
  token: CallingToken,
  call: string,
  messages: AsyncIterable<M>,
): AsyncGenerator<M> {
  for await (const message of messages) {
    requireSite(token, call, message);
    yield message;
  }
}
