/** TokenService. */

import type { TokenService } from '../../../proto/gen/waf/access/v1/token_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { createApiToken } from './create-token.ts';
import { getApiToken, listApiTokens } from './read-tokens.ts';
import { revokeApiToken } from './revoke-token.ts';
import { rotateApiToken } from './rotate-token.ts';

/** TokenService. */
export function tokenService(parts: Uses<'store' | 'clock'>): Built<typeof TokenService> {
  return {
    createApiToken: createApiToken(parts),
    listApiTokens: listApiTokens(parts),
    getApiToken: getApiToken(parts),
    rotateApiToken: rotateApiToken(parts),
    revokeApiToken: revokeApiToken(parts),
  };
}
