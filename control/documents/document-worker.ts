/**
 * Has documents worked on beside the thread that answers calls: one after the other, each in a
 * thread of its own that is ended when it takes too long or too much memory.
 */

import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../base/errors.ts';
import { apiDocumentLimits } from '../limits/api-document-limits.ts';
import { refusal } from '../domain/errors.ts';
import type { DocumentAnswer, DocumentQuestion } from './document-work.ts';
import type { ThreadAnswer } from './document-thread.ts';

/** Answers of one kind. */
type AnswerTo<Q extends DocumentQuestion> = Extract<DocumentAnswer, { type: Q['type'] }>;

/** Works on documents. Errors: AppError invalid_argument, resource_exhausted. */
export type DocumentWorker = <Q extends DocumentQuestion>(question: Q) => Promise<AnswerTo<Q>>;

/** What may differ in tests. */
export interface DocumentWorkerOptions {
  /** The thread's program. Sources that are not compiled have none: they work on this thread. */
  readonly entry?: URL;
  readonly timeoutMs?: number;
  readonly memoryMbMax?: number;
}

const compiledEntry = new URL('./document-thread.js', import.meta.url);

/** Opens a worker with a queue of its own. */
export function openDocumentWorker(options: DocumentWorkerOptions = {}): DocumentWorker {
  const { entry = compiledEntry } = options;
  const threads = existsSync(entry);
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return async <Q extends DocumentQuestion>(question: Q): Promise<AnswerTo<Q>> => {
    if (waiting >= apiDocumentLimits.waitingMax) {
      const busy = 'Too many API documents are being read: try again in a minute.';
      throw refusal('resource_exhausted', busy);
    }
    waiting++;
    const result = last.then(() =>
      threads ? askThread(entry, question, options) : workHere(question),
    );
    last = result.catch(() => undefined).finally(() => waiting--);
    try {
      return (await result) as AnswerTo<Q>;
    } catch (error) {
      throw asRefusal(error);
    }
  };
}

/** What reads and compiles documents is loaded by who works on one: it is a tenth of control. */
async function workHere(question: DocumentQuestion): Promise<DocumentAnswer> {
  const { workOnDocument } = await import('./document-work.ts');
  return workOnDocument(question);
}

/** What a client hears of a document that cannot be worked on. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'document_invalid') return error;
  return refusal('invalid_argument', error.message);
}

async function askThread(
  entry: URL,
  question: DocumentQuestion,
  options: DocumentWorkerOptions,
): Promise<DocumentAnswer> {
  const { threadTimeoutMs, threadMemoryMb } = apiDocumentLimits;
  const { timeoutMs = threadTimeoutMs, memoryMbMax = threadMemoryMb } = options;
  const worker = new Worker(entry, {
    workerData: question,
    resourceLimits: { maxOldGenerationSizeMb: memoryMbMax },
  });
  try {
    return await new Promise<DocumentAnswer>((resolve, reject) => {
      const timer = setTimeout(() => reject(tooMuch()), timeoutMs);
      timer.unref();
      worker.on('message', (said: ThreadAnswer) => {
        if (said.type === 'answer') resolve(said.answer);
        else reject(new AppError(said.code, said.message, { source: 'client' }));
      });
      worker.on('error', (error: NodeJS.ErrnoException) => {
        reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch() : error);
      });
      worker.on('exit', () => reject(new Error('the thread that reads API documents ended')));
    });
  } finally {
    await worker.terminate();
  }
}

function tooMuch(): AppError {
  const problem = 'takes too long or too much memory to read: split the document';
  return refusal('invalid_argument', `source: ${problem}`);
}
