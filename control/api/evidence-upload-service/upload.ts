/**
 * Takes evidence of requests from nodes: hello, then for each request a manifest, pieces of its
 * body and a commit, or many requests with small bodies in one message of records. A manifest of a
 * body is answered by how much of it is on disk already, a piece by how much is now, a commit and
 * records once everything is, or never will be.
 */

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import {
  EvidenceAckStatus,
  type EvidenceRecords,
  type EvidenceUploadService,
  type UploadRequest,
  type UploadResponseSchema,
} from '../../../proto/gen/waf/v1/evidence_upload_pb.ts';
import { evidenceLayout } from '../../../base/evidence-layout.ts';
import { refusal } from '../../domain/errors.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';
import type { UploadState } from '../../observe/evidence/evidence-uploads.ts';
import { peerKey, type Uses } from '../context.ts';
import { admitNode } from '../nodes/admit-node.ts';
import type { Method } from '../method.ts';
import { UploadAnswers } from './upload-answers.ts';
import { UploadSession } from './upload-session.ts';

/** One stream of one node. */
export function upload(
  parts: Uses<'store' | 'clock' | 'logger' | 'evidence' | 'nodes' | 'streams'>,
): Method<typeof EvidenceUploadService, 'upload'> {
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
  parts: Uses<'store' | 'clock' | 'logger' | 'evidence' | 'nodes' | 'streams'>,
  requests: AsyncIterable<UploadRequest>,
  context: HandlerContext,
  answers: UploadAnswers,
): Promise<void> {
  let session: UploadSession | null = null;
  let leave = (): unknown => undefined;
  const waiting: Promise<unknown>[] = [];
  try {
    for await (const { message } of requests) {
      if (session === null) {
        if (message.case !== 'hello') throw refusal('invalid_argument', 'hello: must come first');
        const node = admitNode(parts, message.value, context);
        context.values.get(peerKey)?.endless();
        leave = parts.streams.enter(node, 'evidence', (reason) => answers.end(reason));
        session = new UploadSession(node, parts.evidence);
        await answers.add(Promise.resolve({ welcome: { recordsLayout: evidenceLayout } }));
        continue;
      }
      // What was read ahead of the end of the stream counts no more.
      if (answers.ended !== '') return;
      if (message.case === 'records') {
        const answer = answerRecords(parts, message.value, session);
        await answers.add(answer);
        if (waiting.push(answer) > evidenceStoreLimits.recordsWaitingMax) await waiting.shift();
        continue;
      }
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
      throw refusal('invalid_argument', 'message: manifest, chunk, commit or records is expected');
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

/** The answer once the disk has the records. Never rejects. */
async function answerRecords(
  { logger }: Uses<'logger'>,
  records: EvidenceRecords,
  session: UploadSession,
): Promise<MessageInitShape<typeof UploadResponseSchema>> {
  const { number } = records;
  try {
    const { refused, fault: error } = await session.take(records);
    const status = error === '' ? EvidenceAckStatus.DURABLE : EvidenceAckStatus.FATAL;
    return { recordsAck: { number, status, refused, error } };
  } catch {
    logger.error('evidence could not be kept', { records: String(number) });
    const error = 'the disk does not take it';
    return { recordsAck: { number, status: EvidenceAckStatus.RETRYABLE, error } };
  }
}

/** The answer once the disk has what it tells. Never rejects. */
async function answerTo(
  parts: Uses<'logger'>,
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
