/**
 * Asks the thread for long questions. It is started with a question, ends when none came for a
 * while, and is started again when it died.
 */

import { Worker } from 'node:worker_threads';
import { AppError } from '../../../engine/base/errors.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import type { AnswerOf, Question } from './event-questions.ts';
import type { FromScanThread, ToScanThread } from './scan-messages.ts';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The thread, seen from outside. */
export class ScanClient {
  private readonly folder: string;
  private readonly waiting = new Map<number, Waiting>();
  private worker: Worker | null = null;
  private nextId = 1;
  private idle: NodeJS.Timeout | null = null;

  /** `folder` holds the LMDB environment, which this process has open. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** Rejects with the error of `signal`, or AppError events_unreadable when the thread died. */
  ask<Q extends Question>(question: Q, signal?: AbortSignal): Promise<AnswerOf<Q>> {
    signal?.throwIfAborted();
    const id = this.nextId++;
    if (this.idle !== null) clearTimeout(this.idle);
    const worker = (this.worker ??= this.start());
    const post = (message: ToScanThread): void => worker.postMessage(message);
    return new Promise<AnswerOf<Q>>((resolve, reject) => {
      const onAbort = (): void => {
        post({ type: 'cancel', id });
        this.settle(id);
        reject(signal?.reason as Error);
      };
      const done = (): void => signal?.removeEventListener('abort', onAbort);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.waiting.set(id, {
        resolve: (value) => {
          done();
          resolve(value as AnswerOf<Q>);
        },
        reject: (error) => {
          done();
          reject(error as Error);
        },
      });
      post({ type: 'ask', id, question });
    });
  }

  async close(): Promise<void> {
    if (this.idle !== null) clearTimeout(this.idle);
    const { worker } = this;
    if (worker === null) return;
    this.worker = null;
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    worker.postMessage({ type: 'close' } satisfies ToScanThread);
    await exited;
  }

  private settle(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (this.waiting.size > 0) return waiting;
    if (this.idle !== null) clearTimeout(this.idle);
    this.idle = setTimeout(() => void this.close(), observationLimits.scanThreadIdleMs).unref();
    return waiting;
  }

  private start(): Worker {
    const entry = new URL('./scan-thread.js', import.meta.url);
    const worker = new Worker(entry, { workerData: { folder: this.folder } });
    worker.unref();
    worker.on('message', ({ id, value, error }: FromScanThread) => {
      const waiting = this.settle(id);
      if (error === undefined) waiting?.resolve(value);
      else waiting?.reject(new AppError(error.code, error.message, { source: 'storage' }));
    });
    worker.on('error', () => this.fail(worker));
    worker.on('exit', () => this.fail(worker));
    return worker;
  }

  private fail(worker: Worker): void {
    if (this.worker === worker) this.worker = null;
    const message = 'the thread that reads events ended: ask again';
    const error = new AppError('events_unreadable', message, { source: 'internal' });
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}

/** False where this module is not compiled: threads cannot load TypeScript. */
export const canScanInThread = import.meta.url.endsWith('.js');
