/**
 * `/debug/…` on the administration socket, never on the network: what control and its engine say
 * of themselves. Fields may change between versions. Changes nothing; a profile is audited.
 */

import type { ServerResponse } from 'node:http';
import { answerOfThread } from '../../../base/debug-figures.ts';
import {
  debugSubjects,
  readDebugQuestion,
  type DebugQuestion,
} from '../../../base/debug-question.ts';
import { AppError, toAppError } from '../../../base/errors.ts';
import { localAdministrator } from '../../auth/sessions.ts';
import { defaultTenantId } from '../../domain/records.ts';
import { actorNote, type ApiParts, type Uses, type Entrance } from '../context.ts';
import type { NodeRequest, NodeResponse } from '../listener/node-http.ts';
import { ownFigures } from './own-figures.ts';

interface DebugAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Answers requests below `/debug` on the socket; false for all others. */
export function answerDebug(
  parts: ApiParts,
  entrance: Entrance,
  request: NodeRequest,
  response: NodeResponse,
): boolean {
  const [path = ''] = (request.url ?? '').split('?', 1);
  if (entrance !== 'socket' || request.method !== 'GET') return false;
  if (path !== '/debug' && !path.startsWith('/debug/')) return false;
  answer(parts, request.url ?? '')
    .catch((error: unknown) => failure(error))
    .then(({ status, body }) => {
      response.statusCode = status;
      response.setHeader('content-type', 'application/json');
      response.setHeader('cache-control', 'no-store');
      response.setHeader('x-content-type-options', 'nosniff');
      (response as ServerResponse).end(JSON.stringify(body));
    })
    .catch((error: unknown) => {
      parts.logger.error('a debug answer could not be sent', { reason: toAppError(error).message });
      response.destroy();
    });
  return true;
}

async function answer(parts: ApiParts, url: string): Promise<DebugAnswer> {
  if (/^\/debug\/?$/.test(url)) {
    const paths = debugSubjects.map((one) => `/debug/${one}`);
    return { status: 200, body: { paths, parameters: ['seconds', 'process', 'thread'] } };
  }
  const question = readDebugQuestion(url, ['seconds', 'process', 'thread']);
  if (typeof question === 'string') return refused(question);
  const values = new URLSearchParams(url.split('?', 2)[1] ?? '');
  const process = values.get('process') ?? 'control';
  if (process !== 'control' && process !== 'engine') {
    return refused('process: use control or engine');
  }
  if (question.about === 'profile') return profile(parts, question, process);
  const [control, engine] = await Promise.all([
    ownFigures(parts, question),
    ofEngine(parts, question).catch((error: unknown) => failure(error)),
  ]);
  return { status: 200, body: { control, engine: engine.body } };
}

function refused(message: string): DebugAnswer {
  return { status: 400, body: { code: 'invalid_argument', message } };
}

async function ofEngine(parts: Uses<'engine'>, question: DebugQuestion): Promise<DebugAnswer> {
  const { status, text } = await parts.engine.debug(question);
  return { status, body: JSON.parse(text) as unknown };
}

/** Profiles that are being taken; one at a time over both processes. */
const profiles = new WeakSet<ApiParts>();

/** The file of a profile, for the tools of a browser. Audited before it begins. */
async function profile(
  parts: ApiParts,
  question: DebugQuestion,
  process: 'control' | 'engine',
): Promise<DebugAnswer> {
  const { seconds, thread } = question;
  if (process === 'control' && thread !== 'main') {
    return refused('thread: control has main only; front threads are of process=engine');
  }
  if (profiles.has(parts)) {
    const message = 'another profile is being taken; try again when it is done';
    throw new AppError('profile_busy', message, { source: 'client', retryable: true });
  }
  profiles.add(parts);
  try {
    await parts.store.write((tx) =>
      tx.audit({
        ...actorNote(localAdministrator(defaultTenantId)),
        action: 'profile',
        resourceType: 'process',
        resourceId: process,
        metadata: { seconds: String(seconds), thread },
      }),
    );
    if (process === 'engine') return await ofEngine(parts, question);
    return { status: 200, body: await answerOfThread({ about: 'profile', seconds }) };
  } finally {
    profiles.delete(parts);
  }
}

/** Our own words only: they name no text from outside. */
function failure(error: unknown): DebugAnswer {
  const { code, message, source } = toAppError(error);
  const status = source === 'client' ? 409 : 503;
  return { status, body: { code, message } };
}
