/**
 * Has manifests read beside the thread that answers calls: one after the other, each in a thread of
 * its own that is ended when it takes too long or too much. Never looks into a document.
 */

import { existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../../base/errors.ts';
import { resourceLimits, yamlLimits } from '../../limits/resource-limits.ts';
import { refusal } from '../../domain/errors.ts';
import { readManifest, type ManifestDocument } from './manifest-documents.ts';
import { invalid } from './manifest-fields.ts';
import type { ManifestAnswer, ManifestQuestion } from './manifest-thread.ts';

/** Reads manifests. Errors: AppError manifest_invalid, yaml_invalid, resource_exhausted. */
export type ManifestReader = (text: string) => Promise<ManifestDocument[]>;

/** What may differ in tests. */
export interface ManifestReaderOptions {
  /** The thread's program. Sources that are not compiled have none: they read on this thread. */
  readonly entry?: URL;
  readonly timeoutMs?: number;
  readonly memoryMbMax?: number;
}

const compiledEntry = new URL('./manifest-thread.js', import.meta.url);

/** Opens a reader with a queue of its own. */
export function openManifestReader(options: ManifestReaderOptions = {}): ManifestReader {
  const { entry = compiledEntry } = options;
  if (!existsSync(entry)) return (text) => Promise.resolve().then(() => readManifest(text));
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return (text) => {
    if (text.length > resourceLimits.manifestBytesMax) {
      return Promise.reject(invalid('manifest', 'is larger than 16 MiB'));
    }
    if (waiting >= yamlLimits.waitingMax) {
      const busy = 'too many manifests are being read: try again in a minute';
      return Promise.reject(refusal('resource_exhausted', busy));
    }
    waiting++;
    const result = last.then(() => readInThread(entry, text, options));
    last = result.catch(() => undefined).finally(() => waiting--);
    return result;
  };
}

async function readInThread(
  entry: URL,
  text: string,
  options: ManifestReaderOptions,
): Promise<ManifestDocument[]> {
  const { timeoutMs = yamlLimits.readTimeoutMs, memoryMbMax = yamlLimits.threadMemoryMbMax } =
    options;
  const question: ManifestQuestion = { text };
  const worker = new Worker(entry, {
    workerData: question,
    resourceLimits: { maxOldGenerationSizeMb: memoryMbMax },
  });
  const parts: string[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(tooMuch()), timeoutMs);
      timer.unref();
      worker.on('message', (answer: ManifestAnswer) => {
        if (answer.type === 'document') parts.push(answer.json);
        else if (answer.type === 'end') resolve();
        else reject(new AppError('manifest_invalid', answer.message, { source: 'config' }));
      });
      worker.on('error', (error: NodeJS.ErrnoException) => {
        reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch() : error);
      });
      worker.on('exit', () => reject(new Error('the thread that reads manifests ended')));
    });
  } finally {
    await worker.terminate();
  }
  const documents: ManifestDocument[] = [];
  for (const json of parts) {
    documents.push(JSON.parse(json) as ManifestDocument);
    await nextTurn();
  }
  return documents;
}

function tooMuch(): AppError {
  const problem = 'takes too long or too much memory to read: split it, or import lists as files';
  return invalid('manifest', problem);
}
