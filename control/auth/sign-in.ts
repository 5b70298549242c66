/**
 * Proves who someone is: password here or at a RADIUS server, then a second factor where there is
 * one. Unknown users, wrong passwords and locked users look and take the same.
 */

import { signInLimits } from '../limits/sign-in-limits.ts';
import type { Clock } from '../../base/clock.ts';
import { refusal } from '../domain/errors.ts';
import { passwordEnabledOf, radiusOf } from '../domain/settings/identity-settings.ts';
import { credentials, users } from '../store/collections.ts';
import type { ReadStore, Store } from '../store/store.ts';
import { AttemptLimit } from './attempt-limit.ts';
import { allows } from './external-accounts.ts';
import { isKnownOrigin, type Proof } from './lock-out.ts';
import { originKey } from './origin-key.ts';
import { askForPasskey, proveByPasskey, readSignature, type ConsolePlace } from './passkeys.ts';
import {
  lapsed,
  nextFactor,
  openedBy,
  passkeyPrompt,
  passkeysFor,
  pendingChallenges,
  radiusStep,
  settingsOf,
  wrongCode,
  type Challenge,
  type OwnStep,
  type SignInParts,
  type SignInResult,
} from './sign-in-challenges.ts';
import { checkPassword, checkTotp } from './sign-in-checks.ts';
import { answerRadius, proveByRadius, wrongPassword } from './sign-in-radius.ts';

/** Proves who someone is. */
export interface SignIn {
  /** Errors: unauthenticated, resource_exhausted, failed_precondition, unavailable. */
  password(given: {
    readonly username: string;
    readonly password: string;
    readonly address: string;
    readonly remember: boolean;
  }): Promise<SignInResult>;
  /** Answers a challenge; another may follow. Errors: unauthenticated, unavailable. */
  answer(challenge: string, code: string, address: string): Promise<SignInResult>;
  /** Options of WebAuthn, as JSON. Errors: unauthenticated, failed_precondition. */
  beginPasskey(challenge: string, place: ConsolePlace): Promise<string>;
  /** Answers a challenge by a passkey. Errors: unauthenticated, invalid_argument. */
  answerPasskey(challenge: string, credentialJson: string, address: string): Promise<SignInResult>;
  /** Continues a sign-in after an identity provider has vouched for a user. */
  vouched(proof: Proof, address: string): SignInResult;
  /** Whether the password is the user's; failures count towards the lock-out. */
  confirm(userId: string, password: string, address: string): Promise<boolean>;
  /** Whether the code is right, and uses it up; failures count towards the lock-out. */
  useFactor(userId: string, code: string, address: string): Promise<boolean>;
}

/**
 * Opens the service. Challenges live in memory: a restart asks for the password again.
 * `perMinute` bounds the attempts by user and by address.
 */
export function openSignIn(
  store: Store,
  clock: Clock,
  perMinute: number = signInLimits.signInsPerAddressMax,
): SignIn {
  const limit = new AttemptLimit(clock, perMinute);
  const { signInsPerUserMax, signInsPerAddressMax } = signInLimits;
  const strangers = new AttemptLimit(clock, (perMinute * signInsPerUserMax) / signInsPerAddressMax);
  const challenges = pendingChallenges(clock);
  const parts: SignInParts = { store, clock, challenges };
  return {
    password: async ({ username, password, address, remember }) => {
      const name = username.trim().toLowerCase();
      // The socket has a limit of its own by user: nobody on the network can use it up.
      const fromHere = limit.allow(
        address === '' ? `socket ${name}` : `address ${originKey(address)}`,
      );
      // An address that is over its limit neither uses up that of users nor fills the table.
      const free = address === '' || signsInFrom(store, name, address);
      if (!fromHere || !(free || strangers.allow(name))) {
        throw refusal('resource_exhausted', 'too many sign-ins: wait a minute');
      }
      return provePassword(parts, name, password, address, remember);
    },
    answer: async (key, code, address) => {
      const challenge = openedBy(challenges, key);
      const { step } = challenge;
      if (step.kind === 'passkey') throw refusal('failed_precondition', passkeyPrompt);
      challenge.attemptsLeft--;
      return step.kind === 'radius'
        ? answerRadius(parts, key, challenge, step, code, address)
        : answerTotp(parts, key, challenge, step, code, address);
    },
    beginPasskey: async (key, place) => {
      const challenge = openedBy(challenges, key);
      const passkeys = passkeysFor(store, challenge.step);
      if (passkeys.length === 0) {
        throw refusal('failed_precondition', 'no passkey answers this challenge');
      }
      const { begun, optionsJson } = await askForPasskey(place, passkeys);
      challenge.begun = begun;
      return optionsJson;
    },
    answerPasskey: (key, credentialJson, address) =>
      answerByPasskey(parts, key, openedBy(challenges, key), credentialJson, address),
    vouched: (proof, address) => nextFactor(parts, proof, address, true, false),
    confirm: async (userId, password, address) => {
      const attempt = { userId, address, method: 'password', further: true };
      return (await checkPassword(parts, attempt, password)) !== null;
    },
    useFactor: async (userId, code, address) => {
      const attempt = { userId, address, method: 'totp', further: true };
      return (await checkTotp(parts, attempt, code)) !== null;
    },
  };
}

/** Whether the user of a name has signed in from an address before. */
function signsInFrom(store: ReadStore, name: string, address: string): boolean {
  const user = store.find(users, 'username', name)[0];
  const credential = user === undefined ? undefined : store.get(credentials, user.id);
  return credential !== undefined && isKnownOrigin(credential, address);
}

async function provePassword(
  parts: SignInParts,
  name: string,
  password: string,
  address: string,
  remember: boolean,
): Promise<SignInResult> {
  const { store } = parts;
  const values = settingsOf(store);
  const radius = radiusOf(values);
  const user = store.find(users, 'username', name)[0];
  const elsewhere =
    radius?.use === 'password' && (user === undefined || allows(user, 'radius')) ? radius : null;
  if (elsewhere === null && address !== '' && !passwordEnabledOf(values)) {
    throw refusal('failed_precondition', 'passwords are off: use an identity provider');
  }
  if (elsewhere !== null) {
    const step = radiusStep(elsewhere, name, null);
    const opened = { step, remember, address };
    return proveByRadius(parts, elsewhere, opened, password, address);
  }
  const attempt = { userId: user?.id ?? '', address, method: 'password' };
  const proof = await checkPassword(parts, attempt, password);
  if (proof === null) throw wrongPassword();
  return nextFactor(parts, proof, address, remember, true);
}

async function answerByPasskey(
  { store, clock, challenges }: SignInParts,
  key: string,
  challenge: Challenge,
  credentialJson: string,
  address: string,
): Promise<SignInResult> {
  const { step, begun, remember, address: beganAt } = challenge;
  const answer = readSignature(credentialJson);
  if (step.kind === 'radius' || begun === null) throw lapsed();
  challenge.attemptsLeft--;
  challenge.begun = null;
  const attempt = { ...step.proof, address, beganAt, method: 'passkey', further: true };
  const proof = await proveByPasskey(store, clock, begun, answer, attempt);
  if (proof === null) throw refusal('unauthenticated', 'the passkey is not known here');
  if (challenges.take(key) === undefined) throw lapsed();
  return { kind: 'user', proof, remember };
}

async function answerTotp(
  parts: SignInParts,
  key: string,
  { remember, address: beganAt }: Challenge,
  { proof: { userId, sessionEpoch } }: OwnStep,
  code: string,
  address: string,
): Promise<SignInResult> {
  const attempt = { userId, address, beganAt, method: 'totp', further: true };
  const proof = await checkTotp(parts, attempt, code, sessionEpoch);
  if (proof === null) throw wrongCode();
  if (parts.challenges.take(key) === undefined) throw lapsed();
  return { kind: 'user', proof, remember };
}
