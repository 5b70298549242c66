/** Reads one manifest in a thread of its own and hands its documents back one by one, as JSON. */

import { parentPort, workerData } from 'node:worker_threads';
import { AppError } from '../../../base/errors.ts';
import { readManifest } from './manifest-documents.ts';

/** What the thread is asked. */
export interface ManifestQuestion {
  readonly text: string;
}

/** What the thread says: a document as JSON, the end, or why there is none. */
export type ManifestAnswer =
  | { readonly type: 'document'; readonly json: string }
  | { readonly type: 'end' }
  | { readonly type: 'refused'; readonly message: string };

const say = (answer: ManifestAnswer): void => parentPort?.postMessage(answer);

try {
  const { text } = workerData as ManifestQuestion;
  for (const document of readManifest(text)) {
    say({ type: 'document', json: JSON.stringify(document) });
  }
  say({ type: 'end' });
} catch (error) {
  if (!(error instanceof AppError)) throw error;
  say({ type: 'refused', message: error.message });
}
