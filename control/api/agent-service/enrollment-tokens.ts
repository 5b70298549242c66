/** AgentService/IssueEnrollmentToken and GetNodeInstallStatus. */

import { randomBytes, randomUUID } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { AgentService } from '../../../proto/gen/waf/v1/agent_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import {
  checkTokenWish,
  type EnrollmentTokenRecord,
  type TokenWish,
} from '../../domain/release/enrollment.ts';
import { refusal } from '../../domain/errors.ts';
import { nodeLimits } from '../../limits/node-limits.ts';
import { enrollments, enrollmentTokens } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import { requireText } from '../convert.ts';
import { hashSecret } from '../nodes/admit-node.ts';
import type { Method } from '../method.ts';
import { requireOurs } from '../resource/owned.ts';

/** A token whose secret is shown once. */
export interface IssuedToken {
  readonly token: string;
  readonly record: EnrollmentTokenRecord;
}

/** Issues a token; only its hash is kept. */
export function issueEnrollmentToken(
  parts: Uses<'store' | 'clock'>,
): Method<typeof AgentService, 'issueEnrollmentToken'> {
  return async (request, context) => {
    const { token, record } = await issueToken(parts, callerOf(context), request);
    return {
      token,
      tokenId: record.id,
      maxNodes: record.maxNodes,
      expiresAt: timestampFromDate(new Date(record.expiresAt)),
    };
  };
}

/** Makes and keeps a token. Errors: invalid_argument, resource_exhausted. */
export async function issueToken(
  parts: Uses<'store' | 'clock'>,
  caller: Caller,
  asked: TokenWish,
): Promise<IssuedToken> {
  const { tags, ttlSeconds, maxNodes } = checkTokenWish(asked);
  const nowMs = parts.clock.nowMs();
  const now = new Date(nowMs).toISOString();
  const id = `enroll-${randomUUID()}`;
  const secret = randomBytes(32).toString('base64url');
  const record: EnrollmentTokenRecord = {
    id,
    tenantId: caller.tenantId,
    secretSha256: hashSecret(secret),
    tags,
    maxNodes,
    createdAt: now,
    updatedAt: now,
    expiresAt: new Date(nowMs + ttlSeconds * 1000).toISOString(),
  };
  await parts.store.write((tx) => {
    makeRoom(tx, now);
    tx.put(enrollmentTokens, record);
    const note = { ...actorNote(caller), action: 'issue_enrollment_token' };
    const metadata = { maxNodes: String(maxNodes), expiresAt: record.expiresAt };
    tx.audit({ ...note, resourceType: 'enrollment_token', resourceId: id, metadata });
  });
  return { token: `${id}.${secret}`, record };
}

/** The parts of a token as its holder sends it; empty texts for what is none. */
export function readToken(token: string): { readonly id: string; readonly secret: string } {
  const [, id = '', secret = ''] = /^(enroll-[0-9a-f-]{36})\.([\w-]{43})$/.exec(token) ?? [];
  return { id, secret };
}

/** How far a token is used. */
export function getNodeInstallStatus(
  parts: Uses<'store'>,
): Method<typeof AgentService, 'getNodeInstallStatus'> {
  return ({ tokenId }, context) => {
    const found = parts.store.get(enrollmentTokens, requireText(tokenId, 'tokenId'));
    const token = requireOurs(found, callerOf(context), 'enrollment token', tokenId);
    return {
      tokenId,
      expiresAt: timestampFromDate(new Date(token.expiresAt)),
      updatedAt: timestampFromDate(new Date(token.updatedAt)),
      maxNodes: token.maxNodes,
      registeredNodes: parts.store.count(enrollments, 'token', token.id),
    };
  };
}

/** The oldest tokens that have ended go. Errors: resource_exhausted when all are good. */
function makeRoom(tx: WriteStore, now: string): void {
  if (tx.count(enrollmentTokens) < nodeLimits.tokensMax) return;
  const ended = tx.list(enrollmentTokens).filter(({ expiresAt }) => expiresAt <= now);
  if (ended.length === 0) {
    throw refusal('resource_exhausted', 'there are too many enrollment tokens: let some expire');
  }
  for (const { id } of ended) {
    for (const row of tx.find(enrollments, 'token', id)) tx.remove(enrollments, row.id);
    tx.remove(enrollmentTokens, id);
  }
}
