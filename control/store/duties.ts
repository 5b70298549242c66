/**
 * Which controller does what must be done once, where several share a store. The lease says who is
 * to do it; it cannot say that a holder which hung for a while has stopped. So each holder takes a
 * term, whose number is in the store, and what it writes for a duty is refused under an older one.
 */

import { AppError, toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Collection } from './collection.ts';
import type { Identified, ReadStore, Store } from './interface.ts';

/** The duties of a controller. */
export interface Duties {
  /**
   * The store for what is begun now; null while the duties are not this controller's. Once another
   * one has taken them over, writes through it fail with AppError duties_lost. Never rejects.
   */
  begin(): Promise<Store | null>;
}

/** Those of a controller that is alone. */
export function ownDuties(store: Store): Duties {
  return { begin: async () => store };
}

/** Those of one of several controllers: it has them while `isHolder` is true. */
export function sharedDuties(store: Store, isHolder: () => boolean, logger: Logger): Duties {
  let held: { readonly term: number; readonly store: Store } | null = null;
  let taking: Promise<void> | null = null;
  const take = async (): Promise<void> => {
    try {
      const term = await takeTerm(store, isHolder);
      held = { term, store: underTerm(store, term) };
      logger.info('the duties of the shared store are of this controller', { term });
    } catch (error) {
      const reason = toAppError(error).message;
      logger.warn('the duties of the shared store could not be taken', { reason });
    }
  };
  return {
    begin: async () => {
      if (held?.term !== termIn(store)) held = null;
      if (held === null && isHolder()) {
        taking ??= take().finally(() => (taking = null));
        await taking;
      }
      return isHolder() ? (held?.store ?? null) : null;
    },
  };
}

/** How often the duties were taken; of one record. */
interface DutyTermRecord extends Identified {
  readonly number: number;
}

/** The term of the duties. */
export const dutyTerms: Collection<DutyTermRecord> = { name: 'duty-terms', indexes: {} };

/** There are no duties that are taken apart from the others. */
const termId = 'all';

function termIn(store: ReadStore): number {
  return store.get(dutyTerms, termId)?.number ?? 0;
}

/** Errors: duties_lost; as `Store.write`. */
function takeTerm(store: Store, isHolder: () => boolean): Promise<number> {
  return store.write((tx) => {
    // It may have waited for long.
    if (!isHolder()) throw lost();
    const number = termIn(tx) + 1;
    tx.put(dutyTerms, { id: termId, number });
    return number;
  });
}

/**
 * The store as the holder of a term writes it. A write that another term came before is made again
 * after it, and refused then: what a term wrote is all before the next one.
 */
function underTerm(store: Store, term: number): Store {
  const check = (tx: ReadStore): void => {
    if (termIn(tx) !== term) throw lost();
  };
  return {
    ...store,
    write: (change) =>
      store.write((tx) => {
        check(tx);
        return change(tx);
      }),
    writeInSteps: (change) =>
      store.writeInSteps(function* (tx) {
        check(tx);
        return yield* change(tx);
      }),
  };
}

function lost(): AppError {
  const message = 'another controller has taken over the duties';
  return new AppError('duties_lost', message, { source: 'storage' });
}
