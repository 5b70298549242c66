/**
 * Passkeys: their registration, sign-in by one, and the step after a password. The authenticator
 * checks the person by a PIN or biometrics, so that a passkey stands for both factors. Private keys
 * never come here. Source: Web Authentication Level 3, sections 7.1 and 7.2.
 */

import { isIP } from 'node:net';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Clock } from '../../base/clock.ts';
import { invalidField, refusal } from '../domain/errors.ts';
import type { UserRecord } from '../domain/records.ts';
import { signInLimits } from '../limits/sign-in-limits.ts';
import { credentials, type CredentialRecord, type PasskeyRecord } from '../store/collections.ts';
import type { Store, WriteStore } from '../store/store.ts';
import { AttemptLimit } from './attempt-limit.ts';
import { settleAttempt, type Attempt, type Proof } from './lock-out.ts';
import { originKey } from './origin-key.ts';
import { Pending } from './pending.ts';

const relyingParty = 'WAF';
const ceremonyMs = 5 * 60_000;

/** Where the console is, as the browser sees it. */
export interface ConsolePlace {
  readonly origin: string;
  /** The host name that passkeys are bound to. */
  readonly rpId: string;
}

/** What a browser is asked to do. */
export interface Ceremony {
  /** Names the ceremony when its answer comes. */
  readonly token: string;
  /** Options of WebAuthn, as JSON. */
  readonly optionsJson: string;
  readonly expiresAtMs: number;
}

/** Passkeys; ceremonies live in memory. */
export interface Passkeys {
  /** Errors: failed_precondition where the user has too many. */
  beginRegistration(user: UserRecord, place: ConsolePlace): Promise<Ceremony>;
  /** Errors: failed_precondition, invalid_argument. */
  finishRegistration(answer: RegistrationAnswer): Promise<PasskeyRecord>;
  /** Errors: resource_exhausted. */
  beginSignIn(place: ConsolePlace, address: string): Promise<Ceremony>;
  /** Errors: unauthenticated, invalid_argument. */
  finishSignIn(token: string, credentialJson: string, address: string): Promise<Proof>;
}

/** What a browser answered to a registration. */
export interface RegistrationAnswer {
  readonly userId: string;
  readonly token: string;
  readonly credentialJson: string;
  readonly name: string;
  /** Notes what was kept, in the same transaction. */
  readonly note: (tx: WriteStore) => void;
}

/** What a passkey has to sign. */
export interface Begun {
  readonly challenge: string;
  readonly place: ConsolePlace;
}

/** Whose passkey it has to be, and how failures count. */
export interface PasskeyAttempt extends Attempt {
  /** That of the proof before, where the password came first. */
  readonly sessionEpoch?: number;
}

interface Registration extends Begun {
  readonly userId: string;
  readonly sessionEpoch: number;
}

/**
 * Where the console is: the address that the deployment states, else the origin of the calling
 * page, which the listener has compared with the host that was asked.
 * Errors: failed_precondition where browsers have no passkeys.
 */
export function consolePlace(origin: string, publicUrl: string): ConsolePlace {
  const stated = publicUrl === '' ? origin : publicUrl;
  const url = URL.canParse(stated) ? new URL(stated) : null;
  if (url === null) throw refusal('failed_precondition', 'passkeys need a browser');
  const { hostname, protocol } = url;
  if (isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0) {
    throw refusal(
      'failed_precondition',
      'passkeys need a host name, not an address: ' +
        'open the console by its name, or set auth.public_url',
    );
  }
  if (protocol !== 'https:' && hostname !== 'localhost') {
    throw refusal('failed_precondition', 'passkeys need HTTPS');
  }
  if (origin !== '' && origin !== url.origin) {
    throw refusal('failed_precondition', `passkeys are for ${url.origin}: open the console there`);
  }
  return { origin: url.origin, rpId: hostname };
}

/** Opens the service. */
export function openPasskeys(store: Store, clock: Clock): Passkeys {
  const { challengesMax, enrollmentsMax, signInsPerAddressMax } = signInLimits;
  const limit = new AttemptLimit(clock, signInsPerAddressMax);
  const registrations = new Pending<Registration>(clock, enrollmentsMax, ceremonyMs);
  const signIns = new Pending<Begun>(clock, challengesMax, ceremonyMs);
  return {
    beginRegistration: async (user, place) => {
      const credential = requireRoom(store.get(credentials, user.id));
      const { generateRegistrationOptions } = await import('@simplewebauthn/server');
      const options = await generateRegistrationOptions({
        rpName: relyingParty,
        rpID: place.rpId,
        userName: user.username,
        userID: new TextEncoder().encode(user.id),
        timeout: ceremonyMs,
        excludeCredentials: passkeysOf(credential).map(({ id }) => ({ id })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      const { challenge } = options;
      const { sessionEpoch } = credential;
      const { key, expiresAtMs } = registrations.add({
        ...{ challenge, place, userId: user.id, sessionEpoch },
      });
      return { token: key, optionsJson: JSON.stringify(options), expiresAtMs };
    },
    finishRegistration: async (answer) => {
      const begun = registrations.take(answer.token);
      if (begun?.userId !== answer.userId) {
        throw refusal('failed_precondition', 'registrationToken: has lapsed; begin again');
      }
      const passkey = await readRegistration(begun, answer, clock.nowMs());
      await store.write((tx) => {
        keepPasskey(tx, begun, passkey);
        answer.note(tx);
      });
      return passkey;
    },
    beginSignIn: async (place, address) => {
      if (!limit.allow(originKey(address))) {
        throw refusal('resource_exhausted', 'too many sign-ins: wait a minute');
      }
      const { begun, optionsJson } = await askForPasskey(place, []);
      const { key, expiresAtMs } = signIns.add(begun);
      return { token: key, optionsJson, expiresAtMs };
    },
    finishSignIn: async (token, credentialJson, address) => {
      const begun = signIns.take(token);
      if (begun === undefined) {
        throw refusal('unauthenticated', 'signInToken: has lapsed; begin again');
      }
      const answer = readSignature(credentialJson);
      const attempt = { userId: userIdOf(answer), address, method: 'passkey' };
      const proof = await proveByPasskey(store, clock, begun, answer, attempt);
      if (proof === null) throw refusal('unauthenticated', 'the passkey is not known here');
      return proof;
    },
  };
}

/** What a browser is asked to sign: by any passkey, or by one of these. */
export async function askForPasskey(
  place: ConsolePlace,
  passkeys: readonly PasskeyRecord[],
): Promise<{ readonly begun: Begun; readonly optionsJson: string }> {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
  const options = await generateAuthenticationOptions({
    rpID: place.rpId,
    timeout: ceremonyMs,
    userVerification: 'required',
    ...(passkeys.length > 0 && { allowCredentials: passkeys.map(({ id }) => ({ id })) }),
  });
  const begun = { challenge: options.challenge, place };
  return { begun, optionsJson: JSON.stringify(options) };
}

/** The passkeys of a user. */
export function passkeysOf(credential: CredentialRecord | undefined): readonly PasskeyRecord[] {
  return credential?.passkeys ?? [];
}

function requireRoom(credential: CredentialRecord | undefined): CredentialRecord {
  if (credential === undefined) throw refusal('failed_precondition', 'this user has no password');
  const { passkeysPerUserMax } = signInLimits;
  if (passkeysOf(credential).length < passkeysPerUserMax) return credential;
  throw refusal('failed_precondition', `a user has at most ${passkeysPerUserMax} passkeys`);
}

/** Errors: unauthenticated where a new password or an end of all sessions came between. */
function keepPasskey(tx: WriteStore, begun: Registration, passkey: PasskeyRecord): void {
  const credential = requireRoom(tx.get(credentials, begun.userId));
  if (credential.sessionEpoch !== begun.sessionEpoch) {
    throw refusal('unauthenticated', 'the session has ended: sign in again');
  }
  const others = passkeysOf(credential).filter(({ id }) => id !== passkey.id);
  tx.put(credentials, { ...credential, passkeys: [...others, passkey] });
}

async function readRegistration(
  { challenge, place }: Registration,
  { credentialJson, name }: RegistrationAnswer,
  nowMs: number,
): Promise<PasskeyRecord> {
  const response = readAnswer(credentialJson) as unknown as RegistrationResponseJSON;
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const asked = {
    ...{ response, expectedChallenge: challenge, expectedOrigin: place.origin },
    ...{ expectedRPID: place.rpId, requireUserVerification: true },
  };
  // The library throws for whatever does not hold; its texts quote the answer.
  const found = await verifyRegistrationResponse(asked).catch(() => null);
  if (found?.registrationInfo === undefined) {
    throw invalidField('credentialJson', 'does not answer this registration');
  }
  const { credential, credentialBackedUp } = found.registrationInfo;
  const createdAt = new Date(nowMs).toISOString();
  return {
    id: credential.id,
    name: name.trim() || createdAt.slice(0, 10),
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    host: place.rpId,
    synced: credentialBackedUp,
    createdAt,
    lastUsedAt: '',
  };
}

/** Null where no passkey of the user, who may sign in, has signed the challenge. */
export async function proveByPasskey(
  store: Store,
  clock: Clock,
  begun: Begun,
  response: AuthenticationResponseJSON,
  attempt: PasskeyAttempt,
): Promise<Proof | null> {
  const { userId, sessionEpoch } = attempt;
  const passkey = passkeysOf(store.get(credentials, userId)).find(({ id }) => id === response.id);
  const used = passkey === undefined ? null : await verify(begun, passkey, response);
  const nowMs = clock.nowMs();
  return store.write((tx) =>
    settleAttempt(tx, nowMs, attempt, (credential) => {
      if (sessionEpoch !== undefined && credential.sessionEpoch !== sessionEpoch) return null;
      const now = passkeysOf(credential).find(({ id }) => id === response.id);
      // It may have been removed, or have signed elsewhere, meanwhile.
      if (used === null || now === undefined || now.counter !== passkey?.counter) return null;
      const next = { ...now, ...used, lastUsedAt: new Date(nowMs).toISOString() };
      const passkeys = passkeysOf(credential).map((one) => (one === now ? next : one));
      return { ...credential, passkeys };
    }),
  );
}

/** What a signature changes of a passkey; null where it does not hold. */
async function verify(
  { challenge, place }: Begun,
  { id, publicKey, counter, host }: PasskeyRecord,
  response: AuthenticationResponseJSON,
): Promise<Pick<PasskeyRecord, 'counter' | 'synced'> | null> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const key = new Uint8Array(Buffer.from(publicKey, 'base64url'));
  // The library throws for whatever does not hold, a counter that went back among it.
  const found = await verifyAuthenticationResponse({
    ...{ response, expectedChallenge: challenge, expectedOrigin: place.origin },
    ...{ expectedRPID: host, requireUserVerification: true },
    credential: { id, publicKey: key, counter },
  }).catch(() => null);
  if (found?.verified !== true) return null;
  const { newCounter, credentialBackedUp } = found.authenticationInfo;
  return { counter: newCounter, synced: credentialBackedUp };
}

/** What a browser answered to a challenge. Errors: invalid_argument. */
export function readSignature(credentialJson: string): AuthenticationResponseJSON {
  return readAnswer(credentialJson) as unknown as AuthenticationResponseJSON;
}

/** Errors: invalid_argument. */
function readAnswer(credentialJson: string): Readonly<Record<string, unknown>> {
  try {
    const answer: unknown = JSON.parse(credentialJson);
    if (typeof answer === 'object' && answer !== null) return answer as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw invalidField('credentialJson', "must be the JSON of a browser's answer");
}

/** The user that the authenticator names; '' for none. */
function userIdOf({ response }: Partial<AuthenticationResponseJSON>): string {
  const handle: unknown = response?.userHandle;
  const id = typeof handle === 'string' ? Buffer.from(handle, 'base64url').toString() : '';
  return /^[\w-]{1,64}$/.test(id) ? id : '';
}
