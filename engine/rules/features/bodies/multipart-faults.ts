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
  /** A line ended with CRLF. */
  crlfLine = false;
  private readonly tx: Transaction;
  private flagError = false;

  constructor(tx: Transaction) {
    this.tx = tx;
    this.lenient = tx.settings.inspectsUnparsed;
  }

  get twoReadings(): boolean {
    return this.flags.readingsReason !== '';
  }

  /** Backends read the body in different ways; the first reason is kept. */
  differ(reason: string): void {
    this.flags.readingsReason ||= reason;
  }

  fail(reason: string): void {
    this.fault(reason, true);
  }

  /** What ModSecurity takes for an error; `differs` says that backends read it differently, too. */
  fault(reason: string, differs: boolean): void {
    this.flagError = true;
    if (this.lenient && !differs) return;
    this.differ(reason);
    failBody(this.tx, reason);
  }

  /** Sets the flags that sum up the others. */
  sumUp(): void {
    const { flags } = this;
    flags.crlfLfLines = this.crlfLine && flags.lfLine === 1 ? 1 : 0;
    flags.strictError = this.flagError || hasStrictFault(flags) ? 1 : 0;
    if (flags.lfLine > 0) this.differ('a line ends in LF alone');
    if (flags.invalidHeaderFolding > 0)
      this.differ('a folded line of a part begins with odd blanks');
    if (flags.fileLimitExceeded > 0) this.differ('it has more files than are taken');
    flags.twoReadings = this.twoReadings ? 1 : 0;
  }
}
