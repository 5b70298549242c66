/** TokenService/RotateApiToken: a new text for a token; of the old ones at most one stays good. */

import type { TokenService } from '../../../proto/gen/waf/access/v1/token_pb.ts';
import { makeTokenText, sha256OfToken } from '../../auth/token-text.ts';
import type { ApiTokenRecord } from '../../store/token-collections.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { keep } from '../resource/owned.ts';
import { endOf, requireManager, showToken, storedToken, tokenKind } from './stored-token.ts';

/** Gives a token a new text, which is in this answer only. */
export function rotateApiToken(
  parts: Uses<'store' | 'clock'>,
): Method<typeof TokenService, 'rotateApiToken'> {
  return async ({ id, overlapSeconds, expiresAt }, context) => {
    const caller = callerOf(context);
    requireManager(caller);
    const secret = makeTokenText(id);
    const stored = await parts.store.write((tx) => {
      const before = storedToken(tx, caller, id);
      const endsAt = new Date(parts.clock.nowMs() + overlapSeconds * 1000).toISOString();
      const present = before.secrets.find((one) => one.endsAt === '');
      const old = present === undefined || overlapSeconds === 0 ? [] : [{ ...present, endsAt }];
      const after: ApiTokenRecord = {
        ...before,
        secrets: [...old, { sha256: sha256OfToken(secret), endsAt: '' }],
        ...(expiresAt === undefined ? {} : { expiresAt: endOf(parts, caller, expiresAt, false) }),
      };
      const metadata = { overlapSeconds: String(overlapSeconds) };
      return keep(tx, caller, tokenKind, before, after, { action: 'rotate', metadata });
    });
    return { token: showToken(parts, stored), secret };
  };
}
