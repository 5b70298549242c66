/**
 * Proves who someone is: password here or at a RADIUS server, then a second factor where there is
 * one. Unknown users, wrong passwords and locked users look and take the same.
 */

import { signInLimits } from '../limits/sign-in-limits.ts';
import type { Clock } from '../../base/clock.ts';
import { refusal } from '../domain/errors.ts';
import {
  passwordEnabledOf,
  radiusOf,
  type RadiusConfig,
} from '../domain/settings/identity-settings.ts';
import {
  credentials,
  settingsId,
  systemSettings,
  users,
  type CredentialRecord,
  type PasskeyRecord,
} from '../store/collections.ts';
import type { ReadStore, Store } from '../store/store.ts';
import { AttemptLimit } from './attempt-limit.ts';
import { allows, resolveAccount } from './external-accounts.ts';
import { isKnownOrigin, settleAttempt, type Attempt, type Proof } from './lock-out.ts';
import { originKey } from './origin-key.ts';
import { verifyPassword } from './passwords.ts';
import {
  askForPasskey,
  passkeysOf,
  proveByPasskey,
  readSignature,
  type Begun,
  type ConsolePlace,
} from './passkeys.ts';
import { Pending } from './pending.ts';
import { askRadius, type RadiusAnswer } from './radius-client.ts';
import { useSecondFactor } from './totp.ts';

const challengeMs = 5 * 60_000;
const challengeAttempts = 5;
const passkeyPrompt = 'This account asks for a passkey: sign in with a browser';
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

interface Challenge {
  readonly remember: boolean;
  /** Where the sign-in began; failures count there, wherever answers come from. */
  readonly address: string;
  readonly step: OwnStep | RadiusStep;
  attemptsLeft: number;
  /** What a passkey has to sign; null until somebody asks, and once it was answered. */
  begun: Begun | null;
}

interface OwnStep {
  readonly kind: 'totp' | 'passkey';
  readonly proof: Proof;
}

interface RadiusStep {
  readonly kind: 'radius';
  readonly username: string;
  /** Who has proved the password; null while RADIUS itself checks it. */
  readonly proof: Proof | null;
  readonly prompt: string;
  state: Buffer | null;
  roundsLeft: number;
}

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly challenges: Pending<Challenge>;
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
  const challenges = new Pending<Challenge>(clock, signInLimits.challengesMax, challengeMs);
  const parts: Parts = { store, clock, challenges };
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
  parts: Parts,
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
    const step: RadiusStep = {
      kind: 'radius',
      username: name,
      proof: null,
      prompt: elsewhere.prompt,
      state: null,
      roundsLeft: signInLimits.radiusRoundsMax,
    };
    const opened = { step, remember, address };
    return proveByRadius(parts, elsewhere, opened, password, address);
  }
  const attempt = { userId: user?.id ?? '', address, method: 'password' };
  const proof = await checkPassword(parts, attempt, password);
  if (proof === null) throw wrongPassword();
  return nextFactor(parts, proof, address, remember, true);
}

interface OpenRadius {
  readonly step: RadiusStep;
  readonly remember: boolean;
  /** Where the sign-in began. */
  readonly address: string;
}

/** Asks the servers; what they say of a known user counts towards its lock-out. */
async function proveByRadius(
  parts: Parts,
  config: RadiusConfig,
  { step, remember, address: beganAt }: OpenRadius,
  secret: string,
  address: string,
): Promise<SignInResult> {
  const answer = await ask(config, step, secret, address);
  if (answer.kind === 'challenge') {
    const next: RadiusStep = {
      ...step,
      state: answer.state,
      prompt: answer.prompt || config.prompt,
      roundsLeft: step.roundsLeft - 1,
    };
    if (next.roundsLeft < 0) throw lapsed();
    return openChallenge(parts, next, beganAt, remember);
  }
  const accepted = answer.kind === 'accept';
  const userId =
    step.proof?.userId ?? parts.store.find(users, 'username', step.username)[0]?.id ?? '';
  const further = step.proof !== null || step.state !== null;
  const attempt = { userId, address, beganAt, method: 'radius', further };
  const settled = await settleKnown(parts, attempt, step, accepted);
  if (!settled) throw step.state === null && step.proof === null ? wrongPassword() : wrongCode();
  if (step.proof !== null) return { kind: 'user', proof: step.proof, remember };
  const identity = {
    provider: 'radius',
    issuer: '',
    subject: step.username,
    username: step.username,
    verifiedEmail: '',
    displayName: '',
    groups: answer.kind === 'accept' ? answer.groups : [],
  };
  const { store, clock } = parts;
  const proof = await resolveAccount(store, clock, config, identity, address).catch(() => {
    throw wrongPassword();
  });
  return nextFactor(parts, proof, address, remember, false);
}

/** False when the user is kept out or the answer is no. Names without a user pass when accepted. */
function settleKnown(
  { store, clock }: Parts,
  attempt: Attempt,
  step: RadiusStep,
  accepted: boolean,
): Promise<boolean> {
  return store.write((tx) => {
    if (accepted && attempt.userId === '') return true;
    const proof = settleAttempt(tx, clock.nowMs(), attempt, (credential) => {
      const stale = step.proof !== null && step.proof.sessionEpoch !== credential.sessionEpoch;
      return accepted && !stale ? credential : null;
    });
    return proof !== null;
  });
}

async function ask(
  config: RadiusConfig,
  step: RadiusStep,
  password: string,
  address: string,
): Promise<Exclude<RadiusAnswer, { kind: 'silent' }>> {
  const state = step.state === null ? {} : { state: step.state };
  const answer = await askRadius(config, { username: step.username, password, address, ...state });
  if (answer.kind !== 'silent') return answer;
  throw refusal('unavailable', 'no RADIUS server answers: try again, or ask an administrator');
}

/** The second factor of a user who has proved a first one. */
function nextFactor(
  parts: Parts,
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
  const step: RadiusStep = {
    kind: 'radius',
    username: user.username,
    proof,
    prompt: radius.prompt,
    state: null,
    roundsLeft: signInLimits.radiusRoundsMax,
  };
  return openChallenge(parts, step, address, remember);
}

function openChallenge(
  { challenges, store }: Parts,
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

function passkeysFor(store: ReadStore, step: Challenge['step']): readonly PasskeyRecord[] {
  return step.kind === 'radius' ? [] : passkeysOf(store.get(credentials, step.proof.userId));
}

/** Errors: unauthenticated. */
function openedBy(challenges: Pending<Challenge>, key: string): Challenge {
  const challenge = challenges.get(key);
  if (challenge === undefined || challenge.attemptsLeft <= 0) throw lapsed();
  return challenge;
}

async function answerByPasskey(
  { store, clock, challenges }: Parts,
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
  parts: Parts,
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

async function answerRadius(
  parts: Parts,
  key: string,
  opened: Challenge,
  step: RadiusStep,
  code: string,
  address: string,
): Promise<SignInResult> {
  const radius = radiusOf(settingsOf(parts.store));
  const use = step.proof === null ? 'password' : 'second_factor';
  if (radius === null || radius.use !== use) throw lapsed();
  const result = await proveByRadius(parts, radius, { ...opened, step }, code, address);
  if (parts.challenges.take(key) === undefined) throw lapsed();
  return result;
}

/** Null when the code is wrong, was used before, or the user is kept out. */
async function checkTotp(
  { store, clock }: Parts,
  attempt: Attempt,
  code: string,
  sessionEpoch?: number,
): Promise<Proof | null> {
  const totp = store.get(credentials, attempt.userId)?.totp;
  const next = totp === undefined ? null : await useSecondFactor(totp, code, clock.nowMs());
  return store.write((tx) =>
    settleAttempt(tx, clock.nowMs(), attempt, (credential) => {
      // Another answer may have used the same code meanwhile.
      const fresh = JSON.stringify(credential.totp) === JSON.stringify(totp);
      const current = sessionEpoch === undefined || credential.sessionEpoch === sessionEpoch;
      return next !== null && fresh && current ? { ...credential, totp: next } : null;
    }),
  );
}

/** Null when the password is wrong or the user is kept out; the work is the same for everybody. */
async function checkPassword(
  { store, clock }: Parts,
  attempt: Attempt,
  password: string,
): Promise<Proof | null> {
  const known: CredentialRecord | undefined = store.get(credentials, attempt.userId);
  const fits = await verifyPassword(known?.passwordHash || undefined, password);
  return store.write((tx) =>
    settleAttempt(tx, clock.nowMs(), attempt, (credential) => {
      // The password may have been changed while the old one was being compared.
      const current = credential.passwordHash === known?.passwordHash;
      return fits && current ? credential : null;
    }),
  );
}

function settingsOf(store: ReadStore): Readonly<Record<string, unknown>> {
  return store.get(systemSettings, settingsId)?.values ?? {};
}

function wrongPassword(): Error {
  return refusal('unauthenticated', 'the user name or the password is wrong');
}

function wrongCode(): Error {
  return refusal('unauthenticated', 'code: is wrong or was used before');
}

function lapsed(): Error {
  return refusal('unauthenticated', 'the challenge has lapsed: sign in again');
}
