/**
 * Runs compilations that depend on each other's outcome, several at once: each is a generator that
 * yields lists of expressions and receives what compiling them came to.
 */

import { availableParallelism } from 'node:os';
import { AppError } from '../../../base/errors.ts';
import { planLimits } from '../../../base/rule-limits.ts';
import { HsCompileQueue, type HsCompiled, type HsExpression } from '../../match/scan.ts';

/** Why a list did not compile. */
export interface CompileFailure {
  /** Index in the list. */
  readonly index: number;
  /** Hyperscan proved that the expression matches nothing. */
  readonly neverMatches: boolean;
}

/** The serialized database, or which expression did not compile. */
export type CompileOutcome = Uint8Array | CompileFailure;

/** Work that has lists of expressions compiled, one after the other. */
export type Compiling<T> = Generator<readonly HsExpression[], T, CompileOutcome>;

/** Compilations under way. Use it in one thread, and close it. */
export class Compilations {
  private readonly queue: HsCompileQueue;
  private readonly waiting = new Map<number, (outcome: CompileOutcome) => void>();
  private nextId = 0;

  constructor(threads: number = Math.min(availableParallelism(), planLimits.compileThreadsMax)) {
    this.queue = new HsCompileQueue(threads);
  }

  /** Begins `work`; `onDone` is called by `finish`, or at once where nothing has to be compiled. */
  run<T>(work: Compiling<T>, onDone: (value: T) => void): void {
    const take = ({ done, value }: IteratorResult<readonly HsExpression[], T>): void => {
      if (done === true) return onDone(value);
      const id = this.nextId++;
      this.waiting.set(id, (outcome) => take(work.next(outcome)));
      this.queue.submit(id, value);
    };
    // The first value that is sent to a generator goes nowhere.
    take(work.next(new Uint8Array()));
  }

  /** Returns when all work is done. Errors: what the work throws; `database_refused`. */
  finish(): void {
    for (;;) {
      const result = this.queue.next();
      if (result === null) return;
      const goOn = this.waiting.get(result.id)!;
      this.waiting.delete(result.id);
      goOn(outcomeOf(result));
    }
  }

  close(): void {
    this.queue.close();
  }
}

function outcomeOf(result: HsCompiled): CompileOutcome {
  if (result.bytes !== undefined) return result.bytes;
  const { message, expression } = result;
  if (expression < 0) {
    throw new AppError('database_refused', `a database cannot be compiled: ${message}`, {
      source: 'internal',
    });
  }
  return { index: expression, neverMatches: message.includes('can never match') };
}
