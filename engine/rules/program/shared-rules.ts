/**
 * The rules of one thread by their text: chains that several policies have are bound once and
 * freed with the last program that uses them.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { RuleTemplate } from '../transaction/types.ts';
import type { LinkContext } from './link-context.ts';
import { bindChain } from './rule-text.ts';

/** A chain that is in use. */
export interface SharedChain {
  /** The first link first. */
  readonly links: readonly RuleTemplate[];
}

interface ChainInUse extends SharedChain {
  readonly text: ByteString;
  uses: number;
}

/** Bound chains, counted by use. */
export class SharedRules {
  private readonly inUse = new Map<ByteString, ChainInUse>();

  /** The chain of a text, bound where no program has it yet. Give each use back. */
  take(text: ByteString, context: LinkContext): SharedChain {
    const known = this.inUse.get(text);
    if (known !== undefined) {
      known.uses++;
      return known;
    }
    const taken: ChainInUse = { text, links: bindChain(text, context), uses: 1 };
    this.inUse.set(text, taken);
    return taken;
  }

  /** Ends one use; with the last one the chain's native memory is freed. */
  giveBack(chain: SharedChain): void {
    const taken = chain as ChainInUse;
    if (--taken.uses > 0) return;
    this.inUse.delete(taken.text);
    for (const link of taken.links) link.operator?.close?.();
  }

  /** Distinct chains that are in use. */
  get size(): number {
    return this.inUse.size;
  }
}
