/**
 * Asks the thread for long questions. It is started when it is wanted, ends when nobody asked for a
 * while, and is started again when it died.
 */

import { Worker } from 'node:worker_threads';
import { AppError } from '../../../base/errors.ts';
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
  /** Resolves when the worker answers questions; loading it takes some tenths of a second. */
  private started: Promise<void> | null = null;
  private nextId = 1;
  private idle: NodeJS.Timeout | null = null;

  /** `folder` holds the LMDB environment, which this process has open. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** Starts the thread. Rejects with AppError events_unreadable where it does not start. */
  async ready(): Promise<void> {
    this.worker ??= this.start();
    await this.started;
    this.endWhenIdle();
  }

  /**
   * Rejects with the error of `signal`, or AppError resource_exhausted where too much is asked at
   * once, or AppError events_unreadable when the thread died.
   */
  async ask<Q extends Question>(question: Q, signal?: AbortSignal): Promise<AnswerOf<Q>> {
    signal?.throwIfAborted();
    if (this.waiting.size >= observationLimits.scanQuestionsMax) {
      const message = 'too many long questions about events at once: ask again in a moment';
      throw new AppError('resource_exhausted', message, { source: 'client', retryable: true });
    }
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
    this.endWhenIdle();
    return waiting;
  }

  private endWhenIdle(): void {
    if (this.waiting.size > 0) return;
    if (this.idle !== null) clearTimeout(this.idle);
    this.idle = setTimeout(() => void this.close(), observationLimits.scanThreadIdleMs).unref();
  }

  private start(): Worker {
    const entry = new URL('./scan-thread.js', import.meta.url);
    const worker = new Worker(entry, { workerData: { folder: this.folder } });
    worker.unref();
    this.started = new Promise((resolve, reject) => {
      worker.once('message', () => resolve());
      worker.once('exit', () => reject(threadEnded()));
    });
    // Whoever waits for it hears of it; nobody else has to.
    this.started.catch(() => undefined);
    worker.on('message', (message: FromScanThread) => {
      if (message.type === 'ready') return;
      const { id, value, error } = message;
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
    const error = threadEnded();
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}

function threadEnded(): AppError {
  const message = 'the thread that reads events ended: ask again';
  return new AppError('events_unreadable', message, { source: 'internal' });
}

/** False where this module is not compiled: threads cannot load TypeScript. */
export const canScanInThread = import.meta.url.endsWith('.js');
