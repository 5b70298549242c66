/** How passwords are kept and compared: argon2id, never in clear. */

import { invalidField } from '../domain/errors.ts';
import { whyKnown } from './known-passwords.ts';

const charactersMin = 12;
const charactersMax = 1024;

/** Parameters of argon2id: 19 MiB, two passes, one lane (OWASP's minimum). */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Errors: invalid_argument at `field` for a password that is too short, too long or well known. */
export function checkPassword(password: string, field: string, username: string): void {
  if ([...password].length < charactersMin) {
    throw invalidField(field, `needs at least ${charactersMin} characters`);
  }
  if (password.length > charactersMax) {
    throw invalidField(field, `has at most ${charactersMax} characters`);
  }
  const known = whyKnown(password, username);
  if (known !== null) throw invalidField(field, `${known}: choose another one`);
}

/** argon2id in PHC form. Cost: about 20 ms on a worker thread. */
export async function hashPassword(password: string): Promise<string> {
  const { hash } = await import('@node-rs/argon2');
  return hash(password, parameters);
}

/**
 * Whether `password` fits `phc`; without one it works as long and says no, so that an unknown user
 * cannot be told from a wrong password.
 */
export async function verifyPassword(phc: string | undefined, password: string): Promise<boolean> {
  const { verify } = await import('@node-rs/argon2');
  if (password.length > charactersMax) return false;
  decoy ??= hashPassword('no user has this password');
  const fits = await verify(phc ?? (await decoy), password);
  return phc !== undefined && fits;
}

let decoy: Promise<string> | undefined;
