/** Proves a password or a code at RADIUS servers. */

import { refusal } from '../domain/errors.ts';
import { radiusOf, type RadiusConfig } from '../domain/settings/identity-settings.ts';
import { users } from '../store/collections.ts';
import { resolveAccount } from './external-accounts.ts';
import { settleAttempt, type Attempt } from './lock-out.ts';
import { askRadius, type RadiusAnswer } from './radius-client.ts';
import {
  lapsed,
  nextFactor,
  openChallenge,
  settingsOf,
  wrongCode,
  type Challenge,
  type RadiusStep,
  type SignInParts,
  type SignInResult,
} from './sign-in-challenges.ts';

interface OpenRadius {
  readonly step: RadiusStep;
  readonly remember: boolean;
  /** Where the sign-in began. */
  readonly address: string;
}

/** Asks the servers; what they say of a known user counts towards its lock-out. */
export async function proveByRadius(
  parts: SignInParts,
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
  { store, clock }: SignInParts,
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

/** Answers a challenge of the servers. Errors: unauthenticated, unavailable. */
export async function answerRadius(
  parts: SignInParts,
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

/** A name or a password that is wrong. */
export function wrongPassword(): Error {
  return refusal('unauthenticated', 'the user name or the password is wrong');
}
