/**
 * Transactions that wait for a request. One thread needs as many as it has requests in flight,
 * however many policies it serves: nothing of a policy stays in a transaction.
 */

import { ruleRunLimits } from '../../../base/rule-limits.ts';
import { Transaction } from '../transaction/transaction.ts';

const { idleTransactionsMax, largeTransactionsKept, transactionBytesKept } = ruleRunLimits;

/** The idle transactions of a thread; the one that was used last is taken first. */
export class IdleTransactions {
  private readonly idle: Transaction[] = [];

  /** A transaction for `begin`; it holds nothing of its last request. */
  take(): Transaction {
    return this.idle.pop() ?? new Transaction();
  }

  /** Keeps it for another request, or lets it go where enough are kept. */
  giveBack(transaction: Transaction): void {
    transaction.forget();
    const { length } = this.idle;
    const isLarge = transaction.values.slab.length > transactionBytesKept;
    if (length < (isLarge ? largeTransactionsKept : idleTransactionsMax)) {
      this.idle.push(transaction);
    }
  }

  get size(): number {
    return this.idle.length;
  }
}
