/** Answers one question on a document in a thread of its own. */

import { parentPort, workerData } from 'node:worker_threads';
import { AppError } from '../../base/errors.ts';
import { workOnDocument, type DocumentAnswer, type DocumentQuestion } from './document-work.ts';

/** What the thread says: the answer, or why there is none. */
export type ThreadAnswer =
  | { readonly type: 'answer'; readonly answer: DocumentAnswer }
  | { readonly type: 'refused'; readonly code: string; readonly message: string };

const say = (answer: ThreadAnswer): void => parentPort?.postMessage(answer);

try {
  say({ type: 'answer', answer: await workOnDocument(workerData as DocumentQuestion) });
} catch (error) {
  if (!(error instanceof AppError)) throw error;
  say({ type: 'refused', code: error.code, message: error.message });
}
