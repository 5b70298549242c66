/**
 * Takes evidence of requests from nodes: hello, then for each request a manifest, pieces of its
 * body and a commit. A manifest of a body is answered by how much of it is on disk already, a piece
 * by how much is now, a commit once everything is, or never will be.
 */

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import {
  EvidenceAckStatus,
  type EvidenceUploadService,
  type UploadRequest,
  type UploadResponseSchema,
} from '../../../proto/gen/waf/v1/evidence_upload_pb.ts';
import { refusal } from '../../domain/errors.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';
import type { UploadState } from '../../observe/evidence/evidence-uploads.ts';
import { peerKey, type ApiParts } from '../context.ts';
import { admitNode } from '../enrolled-nodes/admit-node.ts';
import type { Method } from '../method.ts';
import { UploadAnswers } from './upload-answers.ts';
import { UploadSession } from './upload-session.ts';

/** One stream of one node. */
export function upload(parts: ApiParts): Method<typeof EvidenceUploadService, 'upload'> {
  return async function* (requests, context) {
    const answers = new UploadAnswers(evidenceStoreLimits.answersWaitingMax);
    const reading = readAll(parts, requests, context, answers);
    reading.catch(() => undefined).finally(() => answers.close());
    yield* answers;
    // The node's side may stay open for as long as it likes: the refusal ends both.
    if (answers.ended !== '') throw refusal('unavailable', `stream: ${answers.ended}`);
    await reading;
  };
}

async function readAll(
  parts: ApiParts,
  requests: AsyncIterable<UploadRequest>,
  context: HandlerContext,
  answers: UploadAnswers,
): Promise<void> {
  let session: UploadSession | null = null;
  let leave = (): unknown => undefined;
  try {
    for await (const { message } of requests) {
      if (session === null) {
        if (message.case !== 'hello') throw refusal('invalid_argument', 'hello: must come first');
        const node = admitNode(parts, message.value, context);
        context.values.get(peerKey)?.endless();
        leave = parts.streams.enter(node.id, 'evidence', (reason) => answers.end(reason));
        session = new UploadSession(node, parts.evidence);
        continue;
      }
      // What was read ahead of the end of the stream counts no more.
      if (answers.ended !== '') return;
      const state = take(session, message);
      if (state === null) continue;
      const evidenceId = idOf(message);
      const about = { evidenceId, bytes: bytesOf(message) };
      await answers.add(answerTo(parts, about, state));
    }
  } finally {
    leave();
    session?.close();
  }
}

function take(
  session: UploadSession,
  message: UploadRequest['message'],
): Promise<UploadState> | null {
  switch (message.case) {
    case 'manifest':
      return session.announce(message.value);
    case 'chunk':
      return session.add(message.value);
    case 'commit':
      return session.commit(message.value);
    default:
      throw refusal('invalid_argument', 'message: manifest, chunk or commit is expected');
  }
}

function idOf({ case: kind, value }: UploadRequest['message']): string {
  if (kind === 'manifest') return value.metadata?.evidenceId ?? '';
  return kind === 'chunk' || kind === 'commit' ? value.evidenceId : '';
}

/** Bytes of the whole body, where a message tells. */
function bytesOf({ case: kind, value }: UploadRequest['message']): bigint {
  if (kind === 'manifest') return value.bodySize;
  return kind === 'commit' ? value.totalBytes : 0n;
}

/** The answer once the disk has what it tells. Never rejects. */
async function answerTo(
  parts: ApiParts,
  { evidenceId, bytes }: { readonly evidenceId: string; readonly bytes: bigint },
  state: Promise<UploadState>,
): Promise<MessageInitShape<typeof UploadResponseSchema>> {
  try {
    return { durableAck: { evidenceId, ...ackOf(await state, bytes) } };
  } catch {
    parts.logger.error('evidence could not be kept', { evidence: evidenceId.slice(0, 96) });
    const error = 'the disk does not take it';
    return { durableAck: { evidenceId, status: EvidenceAckStatus.RETRYABLE, error } };
  }
}

function ackOf(state: UploadState, bytes: bigint) {
  switch (state.kind) {
    case 'stored':
      return { status: EvidenceAckStatus.DURABLE, durableThroughOffset: bytes };
    case 'open': {
      const durableThroughOffset = BigInt(state.bytes);
      return { status: EvidenceAckStatus.CONTINUE, durableThroughOffset };
    }
    case 'lost': {
      const error = 'what was kept of it is gone: announce it again';
      return { status: EvidenceAckStatus.RETRYABLE, error };
    }
    case 'refused':
      return { status: EvidenceAckStatus.FATAL, error: state.reason };
  }
}
