/**
 * What is wrong with one multipart body: flags as ModSecurity sets them, and whether backends read
 * it in different ways. Only that is an error where unparsed bodies are inspected.
 */

import type { Transaction } from '../../transaction/transaction.ts';
import { failBody } from './arguments.ts';
import { hasStrictFault, newFlags } from './multipart-flags.ts';

/** One body; see the header. */
export class MultipartFaults {
  readonly flags = newFlags();
  /** Only what backends read in different ways is an error. */
  readonly lenient: boolean;
  twoReadings = false;
  /** A line ended with CRLF. */
  crlfLine = false;
  private readonly tx: Transaction;
  private flagError = false;

  constructor(tx: Transaction) {
    this.tx = tx;
    this.lenient = tx.settings.inspectsUnparsed;
  }

  fail(reason: string): void {
    this.fault(reason, true);
  }

  /** What ModSecurity takes for an error; `differs` says that backends read it differently, too. */
  fault(reason: string, differs: boolean): void {
    this.flagError = true;
    if (this.lenient && !differs) return;
    this.twoReadings = true;
    failBody(this.tx, reason);
  }

  /** Sets the flags that sum up the others. */
  sumUp(): void {
    const { flags } = this;
    flags.crlfLfLines = this.crlfLine && flags.lfLine === 1 ? 1 : 0;
    flags.strictError = this.flagError || hasStrictFault(flags) ? 1 : 0;
    const { lfLine, invalidHeaderFolding, fileLimitExceeded } = flags;
    const differs = this.twoReadings || lfLine + invalidHeaderFolding + fileLimitExceeded > 0;
    flags.twoReadings = differs ? 1 : 0;
  }
}
