/**
 * Builds patterns on trial, in a process of its own: compiling and searching have no bound in time
 * or memory and cannot be interrupted in a thread, but a process can be ended. Serves nothing.
 */

import { fork } from 'node:child_process';
import { AppError } from '../../base/errors.ts';
import { matchLimits, patternTrialLimits } from '../../base/rule-limits.ts';
import type { Diagnostic } from '../rules/language/diagnostic.ts';
import type { WrittenPattern } from '../rules/language/written-patterns.ts';
import { stopper, type TrialBounds } from './trial-bounds.ts';

/** What the process says: which pattern it takes on, what is wrong with it, or that all is done. */
export type TrialAnswer =
  | { readonly kind: 'trying'; readonly at: number }
  | { readonly kind: 'refused'; readonly at: number }
  | {
      readonly kind: 'slow';
      readonly at: number;
      /** CPU time of one search. */
      readonly ms: number;
      /** PCRE2's limit stopped the search. */
      readonly stopped: boolean;
      /** The beginning of the value. */
      readonly value: string;
    }
  | { readonly kind: 'done' };

/** Code of the error with which a trial is turned away while too many wait. */
export const trialsWaitCode = 'resource_exhausted';

/** Patterns that were found fit before; what is added is known from then on. */
export interface KnownPatterns {
  has(pattern: string): boolean;
  add(patterns: readonly string[]): void;
}

/** Tries patterns, one list after the other. */
export class PatternTrial {
  private readonly entry: URL;
  private readonly known: KnownPatterns;
  private readonly bounds: TrialBounds;
  private waiting = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor(entry: URL, known: KnownPatterns, bounds: Partial<TrialBounds> = {}) {
    this.entry = entry;
    this.known = known;
    this.bounds = { ...patternTrialLimits, ...bounds };
  }

  /**
   * What speaks against the patterns; empty when all of them can be built and searched in time.
   * Errors: AppError `trialsWaitCode`.
   */
  async try(patterns: readonly WrittenPattern[]): Promise<Diagnostic[]> {
    if (this.unknown(patterns).length === 0) return [];
    const { waitingMax } = patternTrialLimits;
    if (this.waiting > waitingMax) {
      const problem = `${waitingMax} changes of rules wait to be tried`;
      throw new AppError(trialsWaitCode, problem, { source: 'client', retryable: true });
    }
    this.waiting++;
    const tried = this.last.then(() => this.tryNow(patterns));
    this.last = tried.catch(() => undefined);
    return tried.finally(() => this.waiting--);
  }

  private async tryNow(patterns: readonly WrittenPattern[]): Promise<Diagnostic[]> {
    const unknown = this.unknown(patterns);
    if (unknown.length === 0) return [];
    const found = await this.run(unknown);
    if (found.length === 0) this.known.add(unknown.map(({ pattern }) => pattern));
    return found;
  }

  private unknown(patterns: readonly WrittenPattern[]): WrittenPattern[] {
    return patterns.filter(({ pattern }) => !this.known.has(pattern));
  }

  private run(patterns: readonly WrittenPattern[]): Promise<Diagnostic[]> {
    const child = fork(this.entry, [], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    return new Promise((resolve) => {
      const found: Diagnostic[] = [];
      let [at, done, over] = [0, false, false];
      let problem = 'needs more memory than there is, or cannot be built here';
      const stop = stopper(child, this.bounds, 'patterns', (reason) => (problem = reason));
      child.on('message', (answer: TrialAnswer) => {
        if (answer.kind === 'done') {
          done = true;
          return;
        }
        ({ at } = answer);
        if (answer.kind === 'trying') stop.next();
        else found.push(faultOf(patterns[at]!, answer));
      });
      const end = (): void => {
        if (over) return;
        over = true;
        stop.end();
        if (!done) found.push(fault(patterns[at]!, 'pattern-too-costly', problem));
        resolve(found);
      };
      child.on('error', () => {
        child.kill('SIGKILL');
        end();
      });
      child.on('close', end);
      child.send(patterns.map(({ pattern }) => pattern));
    });
  }
}

function faultOf(
  written: WrittenPattern,
  answer: Exclude<TrialAnswer, { kind: 'trying' | 'done' }>,
): Diagnostic {
  if (answer.kind === 'refused') {
    return fault(written, 'pattern-refused', 'is refused by the engine');
  }
  const { sampleBytes, searchMsMax } = patternTrialLimits;
  const value = `${sampleBytes / 1024} KB of ${JSON.stringify(answer.value)}`;
  const problem = answer.stopped
    ? `needs more than ${matchLimits.pcreMatchLimit} steps to search ${value}`
    : `takes ${answer.ms.toFixed(1)} ms to search ${value}; at most ${searchMsMax} ms`;
  return fault(written, 'pattern-slow', `${problem}. Use smaller counts, no nested repetition`);
}

function fault(written: WrittenPattern, code: string, problem: string): Diagnostic {
  const { ruleId, file, line, column } = written;
  const rule = ruleId === '' ? '' : `rule ${ruleId}: `;
  const span = { file, line, column, endLine: line, endColumn: column + written.pattern.length };
  return { severity: 'error', code, message: `${rule}the pattern ${problem}`, span };
}
