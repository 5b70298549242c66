/**
 * Access tokens: EdDSA JWTs of this installation, and the keys that sign them, which are replaced
 * every month. Never decides what a token's user may do.
 */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { keys, type KeyRecord } from '../store/collections.ts';
import type { Store } from '../store/store.ts';

const issuer = 'waf';
const audience = 'waf-management';
const dayMs = 24 * 3600_000;
/** A key signs for so long. */
const signingMs = 30 * dayMs;
/** Longest lifetime of an access token; a key that no longer signs is kept as long. */
const tokenMs = dayMs;

/** What a token says. */
export interface TokenClaims {
  readonly userId: string;
  readonly sessionId: string;
}

/** Issues and verifies access tokens. */
export interface AccessTokens {
  /** A token that ends at `expiresAtMs`, at most a day from now. */
  issue(claims: TokenClaims, expiresAtMs: number): Promise<string>;
  /** The claims of a valid token, null for any other text. */
  verify(token: string): Promise<TokenClaims | null>;
}

interface Key {
  readonly id: string;
  readonly createdMs: number;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Opens the signing keys; makes one where there is none, or where the newest is due. */
export async function openAccessTokens(store: Store, clock: Clock): Promise<AccessTokens> {
  let known = store.find(keys, 'purpose', 'access_token').map(toKey);
  let changes = store.changesOf([keys.name]);
  /** Keys also come from other controllers of the store. */
  const look = (): Key[] => {
    const now = store.changesOf([keys.name]);
    if (now !== changes) known = store.find(keys, 'purpose', 'access_token').map(toKey);
    changes = now;
    return known;
  };
  let replacing: Promise<Key> | null = null;
  const replace = async (): Promise<Key> => {
    const record = makeKey(clock);
    const spent = look().filter((key) => key.createdMs + signingMs + tokenMs <= clock.nowMs());
    await store.write((tx) => {
      tx.put(keys, record);
      for (const { id } of spent) tx.remove(keys, id);
    });
    return toKey(record);
  };
  const signingKey = async (): Promise<Key> => {
    const newest = look().toSorted((left, right) => right.createdMs - left.createdMs)[0];
    if (newest !== undefined && newest.createdMs + signingMs > clock.nowMs()) return newest;
    replacing ??= replace().finally(() => (replacing = null));
    return replacing;
  };
  await signingKey();
  return {
    issue: async ({ userId, sessionId }, expiresAtMs) => {
      const { SignJWT } = await import('jose');
      const key = await signingKey();
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: 'EdDSA', kid: key.id })
        .setSubject(userId)
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(Math.floor(clock.nowMs() / 1000))
        .setExpirationTime(Math.floor(Math.min(expiresAtMs, clock.nowMs() + tokenMs) / 1000))
        .sign(key.privateKey);
    },
    verify: (token) => verifyToken(token, look(), clock),
  };
}

async function verifyToken(
  token: string,
  known: readonly Key[],
  clock: Clock,
): Promise<TokenClaims | null> {
  const { jwtVerify } = await import('jose');
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = known.find((one) => one.id === kid);
        if (key === undefined) throw new Error('unknown key');
        return key.publicKey;
      },
      { issuer, audience, algorithms: ['EdDSA'], currentDate: new Date(clock.nowMs()) },
    );
    const { sub, sid } = payload;
    if (typeof sub !== 'string' || typeof sid !== 'string') return null;
    return { userId: sub, sessionId: sid };
  } catch {
    return null;
  }
}

function toKey({ id, privateKeyPem, createdAt }: KeyRecord): Key {
  return {
    id,
    createdMs: Date.parse(createdAt),
    privateKey: createPrivateKey(privateKeyPem),
    publicKey: createPublicKey(privateKeyPem),
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
