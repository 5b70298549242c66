/**
 * What is asked of who has proved a password: the challenges that are open, and which comes next.
 */

import { signInLimits } from '../limits/sign-in-limits.ts';
import type { Clock } from '../../base/clock.ts';
import { refusal } from '../domain/errors.ts';
import { radiusOf, type RadiusConfig } from '../domain/settings/identity-settings.ts';
import {
  credentials,
  settingsId,
  systemSettings,
  users,
  type PasskeyRecord,
} from '../store/collections.ts';
import type { ReadStore, Store } from '../store/store.ts';
import type { Proof } from './lock-out.ts';
import { passkeysOf, type Begun } from './passkeys.ts';
import { Pending } from './pending.ts';

const challengeMs = 5 * 60_000;
const challengeAttempts = 5;
/** The message where a passkey has to answer. */
export const passkeyPrompt = 'This account asks for a passkey: sign in with a browser';
const totpPrompt = 'Enter the code of your authenticator app';

/** Who signed in, or the challenge that must be answered first. */
export type SignInResult =
  | { readonly kind: 'user'; readonly proof: Proof; readonly remember: boolean }
  | {
      readonly kind: 'challenge';
      readonly challenge: string;
      readonly expiresAtMs: number;
      readonly challengeKind: 'totp' | 'radius' | 'passkey';
      readonly prompt: string;
      /** A passkey answers it, too. */
      readonly passkeyAllowed: boolean;
    };

/** An open challenge. */
export interface Challenge {
  readonly remember: boolean;
  /** Where the sign-in began; failures count there, wherever answers come from. */
  readonly address: string;
  readonly step: OwnStep | RadiusStep;
  attemptsLeft: number;
  /** What a passkey has to sign; null until somebody asks, and once it was answered. */
  begun: Begun | null;
}

/** A factor that is checked here. */
export interface OwnStep {
  readonly kind: 'totp' | 'passkey';
  readonly proof: Proof;
}

/** A password or a code that RADIUS servers check. */
export interface RadiusStep {
  readonly kind: 'radius';
  readonly username: string;
  /** Who has proved the password; null while RADIUS itself checks it. */
  readonly proof: Proof | null;
  readonly prompt: string;
  state: Buffer | null;
  roundsLeft: number;
}

/** What a sign-in works with. */
export interface SignInParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly challenges: Pending<Challenge>;
}

/** Challenges live in memory: a restart asks for the password again. */
export function pendingChallenges(clock: Clock): Pending<Challenge> {
  return new Pending<Challenge>(clock, signInLimits.challengesMax, challengeMs);
}

/** The second factor of a user who has proved a first one. */
export function nextFactor(
  parts: SignInParts,
  proof: Proof,
  address: string,
  remember: boolean,
  passwordIsOurs: boolean,
): SignInResult {
  const { store } = parts;
  const { totp, passkeySecondFactor } = store.get(credentials, proof.userId) ?? {};
  if (totp !== undefined && totp.confirmedAt !== '') {
    return openChallenge(parts, { kind: 'totp', proof }, address, remember);
  }
  const radius = radiusOf(settingsOf(store));
  const user = store.get(users, proof.userId);
  if (!passwordIsOurs || radius?.use !== 'second_factor' || user === undefined) {
    return passkeySecondFactor === true
      ? openChallenge(parts, { kind: 'passkey', proof }, address, remember)
      : { kind: 'user', proof, remember };
  }
  const step = radiusStep(radius, user.username, proof);
  return openChallenge(parts, step, address, remember);
}

/** Opens a challenge, and says what it asks. */
export function openChallenge(
  { challenges, store }: SignInParts,
  step: Challenge['step'],
  address: string,
  remember: boolean,
): SignInResult {
  const opened = { step, remember, address, attemptsLeft: challengeAttempts, begun: null };
  const { key: challenge, expiresAtMs } = challenges.add(opened);
  const own = step.kind === 'totp' ? totpPrompt : passkeyPrompt;
  const prompt = step.kind === 'radius' ? step.prompt : own;
  const passkeyAllowed = passkeysFor(store, step).length > 0;
  const said = { challenge, expiresAtMs, challengeKind: step.kind, prompt, passkeyAllowed };
  return { kind: 'challenge', ...said };
}

/** The passkeys that answer a challenge. */
export function passkeysFor(store: ReadStore, step: Challenge['step']): readonly PasskeyRecord[] {
  return step.kind === 'radius' ? [] : passkeysOf(store.get(credentials, step.proof.userId));
}

/** An open challenge. Errors: unauthenticated. */
export function openedBy(challenges: Pending<Challenge>, key: string): Challenge {
  const challenge = challenges.get(key);
  if (challenge === undefined || challenge.attemptsLeft <= 0) throw lapsed();
  return challenge;
}

/** Asks the servers that are set up, from the beginning. */
export function radiusStep(
  { prompt }: RadiusConfig,
  username: string,
  proof: Proof | null,
): RadiusStep {
  const roundsLeft = signInLimits.radiusRoundsMax;
  return { kind: 'radius', username, proof, prompt, state: null, roundsLeft };
}

/** Settings of the deployment. */
export function settingsOf(store: ReadStore): Readonly<Record<string, unknown>> {
  return store.get(systemSettings, settingsId)?.values ?? {};
}

/** A code that is wrong. */
export function wrongCode(): Error {
  return refusal('unauthenticated', 'code: is wrong or was used before');
}

/** A challenge that is over. */
export function lapsed(): Error {
  return refusal('unauthenticated', 'the challenge has lapsed: sign in again');
}
