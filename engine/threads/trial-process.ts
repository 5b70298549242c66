/**
 * Composition root of the trial process: builds each pattern as rules need it, exactly and for
 * searching many at once, and searches with it; reports what fails and ends. The process that
 * started it bounds its time.
 */

import { writeFileSync } from 'node:fs';
import { findSlowSearch } from '../match/pattern-cost.ts';
import { compileExact, type ExactRegex } from '../match/regex.ts';
import { HS_FLAG, HsDatabase, type HsCompileError } from '../match/scan.ts';
import type { TrialAnswer } from '../rollout/pattern-trial.ts';

const tell = (answer: TrialAnswer): void => void process.send!(answer);
const flags = HS_FLAG.dotall | HS_FLAG.singleMatch | HS_FLAG.allowEmpty;

try {
  // Where memory runs out, this process goes, not one that serves.
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Only Linux has it, and the time stays bounded without.
}

process.once('message', (patterns: readonly string[]) => {
  void tryAll(patterns);
});

async function tryAll(patterns: readonly string[]): Promise<void> {
  for (const [at, pattern] of patterns.entries()) {
    tell({ kind: 'trying', at });
    // Messages leave between two patterns.
    await new Promise((resolve) => setImmediate(resolve));
    const regex = build(pattern);
    if (regex === null) tell({ kind: 'refused', at });
    else {
      const slow = findSlowSearch(pattern, regex);
      regex.close();
      if (slow !== null) tell({ kind: 'slow', at, ...slow });
    }
  }
  tell({ kind: 'done' });
  process.disconnect();
}

function build(pattern: string): ExactRegex | null {
  try {
    const regex = compileExact(pattern);
    // RE2 compiles at the first search, and what it refuses goes to PCRE2 only then.
    regex.test('');
    regex.exec('');
    if (!searches(pattern, flags)) searches(pattern, flags | HS_FLAG.prefilter);
    return regex;
  } catch {
    return null;
  }
}

/** False where rules look at every value instead. Errors: what would fail the whole policy. */
function searches(pattern: string, withFlags: number): boolean {
  try {
    HsDatabase.compile([{ pattern, id: 0, literal: false, flags: withFlags }], {
      mode: 'block',
    }).close();
    return true;
  } catch (thrown) {
    const { code, expression } = thrown as HsCompileError;
    if (code !== 'hs_compile' || expression < 0) throw thrown;
    return false;
  }
}
