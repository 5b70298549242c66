/**
 * EvidenceKeyService: which keys encrypt evidence of requests, and a new one at once. Never answers
 * the bytes of a key.
 */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { EvidenceKeyService } from '../../../proto/gen/waf/evidence/v1/evidence_key_pb.ts';
import { refusal } from '../../domain/errors.ts';
import { evidenceKeyLimits } from '../../limits/observation-limits.ts';
import type { EvidenceKeys } from '../../observe/evidence/evidence-keyring.ts';
import { toAppError } from '../../../base/errors.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import type { Built, Method } from '../method.ts';

/** EvidenceKeyService. */
export function evidenceKeyService(
  parts: Uses<'store' | 'clock' | 'evidence' | 'evidenceKeys'>,
): Built<typeof EvidenceKeyService> {
  return {
    listEvidenceKeys: () => {
      const lostMs = lastWithoutKeyMs(parts);
      return {
        items: showKeys(parts.evidenceKeys),
        ...(lostMs !== null && { unreadableBefore: timestampFromMs(lostMs + 1) }),
      };
    },
    rotateEvidenceKey: rotateEvidenceKey(parts),
  };
}

function rotateEvidenceKey({
  store,
  clock,
  evidenceKeys: keys,
}: Uses<'store' | 'clock' | 'evidenceKeys'>): Method<
  typeof EvidenceKeyService,
  'rotateEvidenceKey'
> {
  return async ({ currentKeyId }, context) => {
    const caller = callerOf(context);
    await store.write((tx) => {
      const { id: before } = keys.current();
      if (currentKeyId !== '' && currentKeyId !== before) {
        throw refusal('aborted', 'currentKeyId: another key is in use by now; list the keys');
      }
      requireRoom(keys, clock.nowMs());
      renew(keys);
      const { id } = keys.current();
      tx.audit({
        ...actorNote(caller),
        ...{ resourceType: 'evidence_key', resourceId: id, resourceName: id },
        ...{ action: 'rotate', before: { id: before }, after: { id } },
      });
    });
    return { key: showKeys(keys)[0]! };
  };
}

/**
 * When the newest request came that is found without its key; null for none. A key is lost with
 * the file of keys, so that evidence just before each of the keys and the newest tells.
 */
function lastWithoutKeyMs({
  evidence,
  evidenceKeys,
  clock,
}: Uses<'clock' | 'evidence' | 'evidenceKeys'>): number | null {
  const times = evidenceKeys.list().map(({ createdAtMs }) => createdAtMs);
  for (const endMs of [clock.nowMs() + 1, ...times.toReversed()]) {
    let looked = 0;
    for (const { unavailableReason, startedAt = '' } of evidence.between(0, endMs)) {
      if (unavailableReason === 'key_missing') return Date.parse(startedAt);
      if (++looked >= evidenceKeyLimits.lookedAtMax) break;
    }
  }
  return null;
}

/** Errors: resource_exhausted while as many keys are needed as people may have made. */
function requireRoom(keys: EvidenceKeys, nowMs: number): void {
  const { byHandMax } = evidenceKeyLimits;
  const ends = keys.list().flatMap(({ keptUntilMs }) => keptUntilMs ?? []);
  const needed = ends.filter((endMs) => endMs > nowMs);
  if (needed.length < byHandMax) return;
  const day = new Date(Math.min(...needed)).toISOString().slice(0, 10);
  throw refusal(
    'resource_exhausted',
    `${needed.length} earlier keys are kept, the most; the oldest is removed after ${day}.`,
  );
}

/** Errors: failed_precondition where the file of keys cannot be written. */
function renew(keys: EvidenceKeys): void {
  try {
    keys.renew();
  } catch (error) {
    throw refusal('failed_precondition', toAppError(error).message);
  }
}

/** The newest first. */
function showKeys(keys: EvidenceKeys) {
  const shown = keys.list().map(({ id, createdAtMs, keptUntilMs }) => ({
    id,
    createdAt: timestampFromMs(createdAtMs),
    current: keptUntilMs === null,
    ...(keptUntilMs === null ? {} : { keptUntil: timestampFromMs(keptUntilMs) }),
  }));
  return shown.toReversed();
}
