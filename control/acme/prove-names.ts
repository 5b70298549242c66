/**
 * Proves names to an authority: over HTTP by the nodes, or in DNS by a provider's driver. One name
 * after another, so that two proofs of one DNS name never meet; each is taken back at the end.
 */

import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import { toAppError } from '../../base/errors.ts';
import type { AcmeClient, Authorization } from './acme-client.ts';
import type { ChallengeBoard } from './challenge-board.ts';
import { dnsError, type DnsDriver } from './dns/driver.ts';

/** A driver with the time its records need to spread. */
export interface DnsProof {
  readonly driver: DnsDriver;
  readonly propagationMs: number;
}

/** What proves names. */
export interface ProofParts {
  readonly board: ChallengeBoard;
  /** Errors: AppError dns_provider when no account answers for the name. */
  dnsFor(name: string): DnsProof;
  readonly logger: Logger;
}

/** Proves what is not proved yet. Errors: AcmeProblem, AppError. */
export async function proveNames(
  client: AcmeClient,
  urls: readonly string[],
  type: 'http-01' | 'dns-01',
  parts: ProofParts,
): Promise<void> {
  for (const url of urls) {
    const authorization = await client.authorization(url);
    if (authorization.status === 'pending') await proveOne(client, authorization, type, parts);
  }
}

async function proveOne(
  client: AcmeClient,
  { url, name, challenges }: Authorization,
  type: 'http-01' | 'dns-01',
  parts: ProofParts,
): Promise<void> {
  const challenge = challenges.find((one) => one.type === type);
  if (challenge === undefined || !/^[\w-]{1,512}$/.test(challenge.token)) {
    throw dnsError(`the authority offers no ${type} proof for ${name}: choose the other type`);
  }
  const keyAuthorization = client.keyAuthorization(challenge.token);
  const takeBack =
    type === 'http-01'
      ? await overHttp(parts.board, challenge.token, keyAuthorization)
      : await inDns(parts.dnsFor(name), name, keyAuthorization);
  try {
    await client.answerChallenge(challenge.url);
    await client.awaitAuthorization(url);
  } finally {
    await takeBack().catch((error: unknown) => {
      // The proof has served or failed already; a leftover proves nothing anew.
      const reason = toAppError(error).message;
      parts.logger.warn('a proof for an authority could not be taken back', { name, reason });
    });
  }
}

async function overHttp(
  board: ChallengeBoard,
  token: string,
  keyAuthorization: string,
): Promise<() => Promise<void>> {
  const takeBack = (): Promise<void> => Promise.resolve(board.withdraw(token));
  try {
    await board.publish(token, keyAuthorization);
  } catch (error) {
    await takeBack();
    throw error;
  }
  return takeBack;
}

/** RFC 8555 section 8.4. */
async function inDns(
  { driver, propagationMs }: DnsProof,
  name: string,
  keyAuthorization: string,
): Promise<() => Promise<void>> {
  const value = createHash('sha256').update(keyAuthorization).digest('base64url');
  const takeBack = await driver.add(`_acme-challenge.${name}`, value);
  if (propagationMs > 0) await pause(propagationMs);
  return takeBack;
}
