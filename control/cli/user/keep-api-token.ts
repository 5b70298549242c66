/** `waf auth login --api-token`: keeps an API token where sessions are kept, mode 0600. */

import { createClient, type Interceptor } from '@connectrpc/connect';
import { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import { openTransport } from '../api-client.ts';
import { withLock, writeSession } from '../auth-credentials.ts';
import { readSecretLine } from '../auth-prompt.ts';
import type { CommandContext } from '../command.ts';

/** Tries the token of standard input and keeps it. Errors: those of the call, bad_credentials. */
export async function keepApiToken(
  { options, output }: CommandContext,
  api: string,
): Promise<number> {
  const accessToken = await readSecretLine();
  const withToken: Interceptor = (next) => (request) => {
    request.header.set('Authorization', `Bearer ${accessToken}`);
    return next(request);
  };
  const auth = createClient(AuthService, openTransport(options, [withToken]));
  const { user } = await auth.getUserInfo({});
  const username = user?.username ?? '';
  await withLock(options.credentials, () => {
    const session = { username, accessToken, expiresAt: '', refreshToken: '' };
    writeSession(options.credentials, api, session);
    return Promise.resolve();
  });
  output.result({ api, username }, { columns: ['API', 'USER'], rows: [[api, username]] });
  return 0;
}
