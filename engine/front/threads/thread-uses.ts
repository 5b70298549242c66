/**
 * A front thread's questions about challenges that were used at other nodes; the main thread, which
 * has the connection to Redis, answers them. Bounded in number and time.
 */

import { rateExchangeLimits } from '../../../base/guard-limits.ts';
import type { SharedUses, UseAnswer } from '../../contract/bot.ts';
import type { UseQuestion } from './thread-messages.ts';

const { usesWaiting, useWaitMs } = rateExchangeLimits;

/** See the header. */
export class ThreadUses implements SharedUses {
  private readonly send: (question: UseQuestion) => void;
  private readonly waiting = new Map<number, (answer: UseAnswer) => void>();
  private nextId = 0;

  constructor(send: (question: UseQuestion) => void) {
    this.send = send;
  }

  use(challenge: string, seconds: number): Promise<UseAnswer> {
    if (this.waiting.size >= usesWaiting) return Promise.resolve('alone');
    const id = this.nextId++;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.settle(id, 'alone'), useWaitMs);
      timer.unref();
      this.waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.send({ kind: 'use', id, challenge, seconds });
    });
  }

  /** The answer to a question; one that came too late changes nothing. */
  settle(id: number, answer: UseAnswer): void {
    const resolve = this.waiting.get(id);
    this.waiting.delete(id);
    resolve?.(answer);
  }
}
