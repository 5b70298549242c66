/**
 * Owns access tokens: EdDSA JWTs of this installation. Never decides what a token's user may do.
 */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import type { Clock } from '../../engine/base/clock.ts';
import { keys, type KeyRecord } from '../store/collections.ts';
import type { Store } from '../store/store.ts';

const issuer = 'waf';
const audience = 'waf-management';

/** What a token says. */
export interface TokenClaims {
  readonly userId: string;
  readonly sessionId: string;
}

/** Issues and verifies access tokens. */
export interface AccessTokens {
  /** A token that ends at `expiresAtMs`. */
  issue(claims: TokenClaims, expiresAtMs: number): Promise<string>;
  /** The claims of a valid token, null for any other text. */
  verify(token: string): Promise<TokenClaims | null>;
}

/** Opens the signing keys, making the first one where there is none. The newest key signs. */
export async function openAccessTokens(store: Store, clock: Clock): Promise<AccessTokens> {
  let records = store.find(keys, 'purpose', 'access_token');
  if (records.length === 0) {
    const record = makeKey(clock);
    await store.write((tx) => tx.put(keys, record));
    records = [record];
  }
  const publicKeys = new Map<string, KeyObject>(
    records.map(({ id, privateKeyPem }) => [id, createPublicKey(privateKeyPem)]),
  );
  const newest = records.reduce((left, right) => (left.createdAt > right.createdAt ? left : right));
  const privateKey = createPrivateKey(newest.privateKeyPem);
  return {
    issue: async ({ userId, sessionId }, expiresAtMs) => {
      const { SignJWT } = await import('jose');
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: 'EdDSA', kid: newest.id })
        .setSubject(userId)
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(Math.floor(clock.nowMs() / 1000))
        .setExpirationTime(Math.floor(expiresAtMs / 1000))
        .sign(privateKey);
    },
    verify: async (token) => {
      const { jwtVerify } = await import('jose');
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid }) => {
            const key = publicKeys.get(kid ?? '');
            if (key === undefined) throw new Error('unknown key');
            return key;
          },
          { issuer, audience, algorithms: ['EdDSA'], currentDate: new Date(clock.nowMs()) },
        );
        const { sub, sid } = payload;
        if (typeof sub !== 'string' || typeof sid !== 'string') return null;
        return { userId: sub, sessionId: sid };
      } catch {
        return null;
      }
    },
  };
}

function makeKey(clock: Clock): KeyRecord {
  const { privateKey } = generateKeyPairSync('ed25519');
  return {
    id: `token-${clock.nowMs()}`,
    purpose: 'access_token',
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    createdAt: new Date(clock.nowMs()).toISOString(),
  };
}
