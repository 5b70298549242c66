/**
 * One front thread as the main thread sees it: its worker, the sockets it inherited, its place, and
 * who waits for its answers; and which sockets and places are free for the next one.
 */

import type { Worker } from 'node:worker_threads';
import { notOverloaded } from '../../contract/overload.ts';
import type { ListenAddress } from '../listener.ts';
import type { ToFrontThread } from './thread-messages.ts';
import { ThreadQuestions } from './thread-questions.ts';

interface Pending {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Code of the error that waiting callers get when a thread ends by itself. */
export const threadDied = 'front_thread_died';

/** See the header. */
export class FrontThread {
  readonly worker: Worker;
  readonly pending = new Map<number, Pending>();
  readonly questions = new ThreadQuestions();
  port = 0;
  connections = 0;
  overload = notOverloaded;
  /** The inherited socket that it serves. */
  readonly fd: number | undefined;
  readonly secureFd: number | undefined;
  /** Its place in the run's tally. */
  readonly slot: number;

  constructor(worker: Worker, slot: number, fd: number | undefined, secureFd: number | undefined) {
    this.worker = worker;
    this.slot = slot;
    this.fd = fd;
    this.secureFd = secureFd;
  }

  send(message: ToFrontThread): void {
    this.worker.postMessage(message);
  }

  wait(id: number): Promise<void> {
    return new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
  }

  settle(id: number, error: Error | null): void {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    if (error === null) pending?.resolve();
    else pending?.reject(error);
  }
}

/** The inherited socket that no thread serves; undefined when none was inherited. */
export function freeFd(
  inherited: readonly number[] | undefined,
  served: readonly (number | undefined)[],
): number | undefined {
  return inherited?.find((fd) => !served.includes(fd));
}

/** The first place that no thread has. */
export function freeSlot(taken: readonly number[]): number {
  let slot = 0;
  while (taken.includes(slot)) slot++;
  return slot;
}

/** The address, with the inherited socket to serve where there is one. */
export function withFd(address: ListenAddress, fd: number | undefined): ListenAddress {
  return fd === undefined ? address : { ...address, fd };
}
