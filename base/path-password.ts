/**
 * Hashes of passwords that open paths of a site: made by the command line, checked by the engine.
 * Shape: `scrypt:salt:key`, both in base64url. Source: RFC 7914 with N = 16384, r = 8, p = 1.
 */

import { randomBytes, scrypt, scryptSync, timingSafeEqual } from 'node:crypto';

const saltBytes = 16;
const keyBytes = 32;
const cost = { N: 16_384, r: 8, p: 1 } as const;
const form = /^scrypt:([\w-]{22}):([\w-]{43})$/;

/** Whether a text has the form of a hash. */
export function isPathPasswordHash(text: string): boolean {
  return form.test(text);
}

/** The hash of a password. Cost: some 40 ms. */
export function hashPathPassword(password: string, salt = randomBytes(saltBytes)): string {
  const key = scryptSync(Buffer.from(password, 'utf8'), salt, keyBytes, cost);
  return `scrypt:${salt.toString('base64url')}:${key.toString('base64url')}`;
}

/** Whether a password, as UTF-8 bytes, has a hash; false for what is no hash. */
export function checkPathPassword(password: Uint8Array, hash: string): Promise<boolean> {
  const parts = partsOf(hash);
  if (parts === null) return Promise.resolve(false);
  return new Promise((resolve, reject) => {
    scrypt(password, parts.salt, keyBytes, cost, (error, key) => {
      if (error === null) resolve(timingSafeEqual(key, parts.key));
      else reject(error);
    });
  });
}

/** The same while the caller waits, for trials. */
export function checkPathPasswordSync(password: Uint8Array, hash: string): boolean {
  const parts = partsOf(hash);
  if (parts === null) return false;
  return timingSafeEqual(scryptSync(password, parts.salt, keyBytes, cost), parts.key);
}

function partsOf(hash: string): { readonly salt: Buffer; readonly key: Buffer } | null {
  const match = form.exec(hash);
  if (match === null) return null;
  return { salt: Buffer.from(match[1]!, 'base64url'), key: Buffer.from(match[2]!, 'base64url') };
}
