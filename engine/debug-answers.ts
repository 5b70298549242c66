/** What the engine answers to people who look for a fault, through control. Changes nothing. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  answerOfThread,
  folderFigures,
  kernelThreads,
  processMemory,
  type ThreadQuestion,
} from '../base/debug-figures.ts';
import { AppError } from '../base/errors.ts';
import type { DebugQuestion } from '../base/debug-question.ts';
import type { EngineParts } from './engine-parts.ts';

/** Answers one question; undefined for one that is not known. */
export async function answerDebug(
  parts: EngineParts,
  { about, seconds, thread }: DebugQuestion,
): Promise<unknown> {
  if (about === 'threads') return { kernel: kernelThreads(), front: await frontThreads(parts) };
  if (about === 'event-loop') return ofAllThreads(parts, { about, seconds });
  if (about === 'memory') {
    return { process: processMemory(), ...(await ofAllThreads(parts, { about, seconds })) };
  }
  if (about === 'generations') {
    const { state, serving } = parts.rollouts;
    return { ...serving, rollout: state, front: await frontThreads(parts) };
  }
  if (about === 'databases') return databases(parts);
  if (about === 'queues') return queues(parts);
  if (about === 'profile') return profile(parts, seconds, thread);
  return undefined;
}

function frontThreads({ threads }: EngineParts): Promise<readonly unknown[]> {
  return threads?.ask({ about: 'generations', seconds: 0 }) ?? Promise.resolve([]);
}

/** Main and front threads at the same time. */
async function ofAllThreads({ threads }: EngineParts, question: ThreadQuestion) {
  const [main, front] = await Promise.all([answerOfThread(question), threads?.ask(question) ?? []]);
  return { main, front };
}

/** Files with compiled databases, and those that LMDB keeps. */
async function databases({ settings, folder }: EngineParts) {
  const spool = join(folder, 'spool');
  const rates = join(folder, 'rates');
  const of = (path: string) => (existsSync(path) ? folderFigures(path) : null);
  return {
    compiled: await of(settings.cacheFolder),
    spool: await of(spool),
    rates: await of(rates),
  };
}

/** What waits for control, and how the front threads are loaded. */
function queues({ link, threads, overload }: EngineParts) {
  return {
    link: link?.stats() ?? null,
    connections: threads?.connections ?? 0,
    overload: overload.status,
  };
}

/** One thread: `main`, or `front-0` and so on. Errors: AppError no_such_thread, profile_busy. */
async function profile({ threads }: EngineParts, seconds: number, thread: string) {
  const question = { about: 'profile', seconds } as const;
  if (thread === 'main') return answerOfThread(question);
  const at = /^front-(\d{1,4})$/.exec(thread)?.[1];
  const [found] = (at === undefined ? null : await threads?.ask(question, Number(at))) ?? [];
  if (found !== undefined) return found;
  throw new AppError('no_such_thread', 'thread: use main, front-0, front-1 and so on', {
    source: 'client',
  });
}
