/**
 * Idempotency keys: the answer to a keyed request is kept in the transaction that makes its change,
 * and an exact retry gets it again. Never applies to requests without a key.
 */

import { createHash } from 'node:crypto';
import {
  fromJson,
  toJson,
  type DescMessage,
  type DescService,
  type JsonValue,
  type MessageShape,
} from '@bufbuild/protobuf';
import { callLimits } from '../limits/call-limits.ts';
import type { Clock } from '../../base/clock.ts';
import type { Caller } from '../auth/permissions.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import { invalidField } from '../domain/errors.ts';
import { keptAnswers } from '../store/answer-collections.ts';
import type { Store, WriteStore } from '../store/store.ts';
import { isoNow } from './convert.ts';

/** What is needed of a method whose requests may carry a key. */
export interface KeyedMethod<I extends DescMessage, O extends DescMessage> {
  readonly parent: DescService;
  readonly name: string;
  readonly input: I;
  readonly output: O;
}

/**
 * Runs `change` in one transaction, once for a key: a retry with the same request gets the first
 * answer and changes nothing. Two at the same time wait for each other, as all writes do. Errors:
 * invalid_argument when the key came with another request before; whatever `change` throws, which
 * leaves the key unused.
 */
export function writeOnce<I extends DescMessage, O extends DescMessage>(
  parts: { readonly store: Store; readonly clock: Clock },
  caller: Caller,
  method: KeyedMethod<I, O>,
  request: MessageShape<I> & { readonly idempotencyKey: string },
  change: (tx: WriteStore) => MessageShape<O>,
): Promise<MessageShape<O>> {
  const { store, clock } = parts;
  if (request.idempotencyKey === '') return store.write(change);
  const rpc = `${method.parent.typeName}/${method.name}`;
  const keySha256 = sha256([caller.tenantId, rpc, request.idempotencyKey]);
  const requestSha256 = sha256(toJson(method.input, request));
  return store.write((tx) => {
    const [kept] = tx.find(keptAnswers, 'key', keySha256);
    if (kept !== undefined) {
      if (kept.requestSha256 === requestSha256) {
        return fromJson(method.output, kept.answer as JsonValue, { ignoreUnknownFields: true });
      }
      const problem = 'came with another request before: send a new key for a changed request';
      throw invalidField('idempotencyKey', problem);
    }
    const answer = change(tx);
    tx.put(keptAnswers, {
      id: String(tx.next('kept-answers') % callLimits.keptAnswersMax),
      keySha256,
      requestSha256,
      answer: toJson(method.output, answer),
      createdAt: isoNow(clock),
    });
    return answer;
  });
}

function sha256(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
