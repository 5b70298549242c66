/**
 * Owns building patterns on trial, in a process of its own: compiling has no bound in time or
 * memory and cannot be interrupted in a thread, but a process can be ended. Serves nothing.
 */

import { fork } from 'node:child_process';
import { engineLimits } from '../base/limits.ts';
import type { Diagnostic } from '../rules/language/diagnostic.ts';
import type { WrittenPattern } from '../rules/language/written-patterns.ts';

/** What the process says: which pattern it takes on, which it refuses, or that all is done. */
export type TrialAnswer =
  | { readonly kind: 'trying'; readonly at: number }
  | { readonly kind: 'refused'; readonly at: number }
  | { readonly kind: 'done' };

/** Tries patterns, one list after the other. */
export class PatternTrial {
  private readonly entry: URL;
  private readonly limitMs: number;
  /** Patterns that were built before. */
  private readonly good = new Set<string>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(entry: URL, limitMs: number = engineLimits.patternTrialMs) {
    this.entry = entry;
    this.limitMs = limitMs;
  }

  /** What speaks against the patterns; empty when all of them can be built in time. */
  try(patterns: readonly WrittenPattern[]): Promise<Diagnostic[]> {
    const tried = this.last.then(async () => {
      const unknown = patterns.filter(({ pattern }) => !this.good.has(pattern));
      if (unknown.length === 0) return [];
      const found = await this.run(unknown);
      if (this.good.size + unknown.length > engineLimits.triedPatternsMax) this.good.clear();
      if (found.length === 0) for (const { pattern } of unknown) this.good.add(pattern);
      return found;
    });
    this.last = tried;
    return tried;
  }

  private run(patterns: readonly WrittenPattern[]): Promise<Diagnostic[]> {
    const child = fork(this.entry, [], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    return new Promise((resolve) => {
      const found: Diagnostic[] = [];
      let [at, done] = [0, false];
      let problem = 'needs more memory than there is, or cannot be built here';
      const limit = setTimeout(() => {
        problem = `is not built after ${this.limitMs / 1000} seconds`;
        child.kill('SIGKILL');
      }, this.limitMs);
      child.on('message', (answer: TrialAnswer) => {
        if (answer.kind === 'done') done = true;
        else at = answer.at;
        if (answer.kind === 'refused') {
          found.push(fault(patterns[at]!, 'pattern-refused', 'is refused by the engine'));
        }
      });
      let over = false;
      const end = (): void => {
        if (over) return;
        over = true;
        clearTimeout(limit);
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

function fault(written: WrittenPattern, code: string, problem: string): Diagnostic {
  const { ruleId, file, line, column } = written;
  const rule = ruleId === '' ? '' : `rule ${ruleId}: `;
  const span = { file, line, column, endLine: line, endColumn: column + written.pattern.length };
  return { severity: 'error', code, message: `${rule}the pattern ${problem}`, span };
}
