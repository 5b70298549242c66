/** Where openers put what they find: bounded, without plain texts, which nothing looks at. */

import type { ByteString } from '../../../base/byte-string.ts';
import { detectLimits } from '../../base/detect-limits.ts';
import { endsTextAsHost, isPlain, isPlainText } from '../bytes-seen.ts';
import type { Leaf, LeafKind } from '../detector.ts';
import { keepFound, scanned, scanText } from '../leaf-scan.ts';

/** What may still be opened; shared by the values of a request. */
export interface OpenBudget {
  leaves: number;
  bytes: number;
  /** False once something was left unopened for a limit. */
  complete: boolean;
}

/** The budget of one request; `valueBytes`: of all its values. */
export function newBudget(valueBytes: number): OpenBudget {
  const { leavesMax, leafBytesMin, leafBytesMax, leafBytesPerByte } = detectLimits;
  const bytes = Math.min(leafBytesMax, leafBytesMin + leafBytesPerByte * valueBytes);
  return { leaves: leavesMax, bytes, complete: true };
}

/** A leaf whose kind is still open: openers set it. */
export interface OpenedLeaf extends Leaf {
  kind: LeafKind;
}

/** The leaves of one value, the value first. */
export class Leaves {
  readonly list: OpenedLeaf[] = [];
  private readonly budget: OpenBudget;
  private parent: Leaf | null = null;
  private readonly variants = new Set<ByteString>();

  constructor(budget: OpenBudget) {
    this.budget = budget;
  }

  /** Adds the value itself, which was scanned last, whatever the budget is. */
  addValue(text: ByteString, path: string): void {
    this.push(text, path, 'text', null);
  }

  /** The leaf that is opened now. */
  openBelow(parent: Leaf): void {
    this.parent = parent;
  }

  /** Whether a text would be kept; ask before building its label. */
  wants(text: ByteString): boolean {
    if (text.length < 3) return false;
    return !isPlainText(text) || mayHoldBase64(text) || endsTextAsHost(text);
  }

  /** Adds what was found in the parent, unless it is plain or the budget is used up. */
  add(label: string, text: ByteString, kind: LeafKind = 'text'): void {
    const { parent, budget } = this;
    if (parent === null || text.length < 3 || text === parent.text) return;
    scanText(text);
    if (isPlain(scanned.seen) && !mayHoldBase64(text)) {
      if (!scanned.any || !endsTextAsHost(text)) return;
    }
    if (budget.leaves <= 0 || budget.bytes < text.length) {
      budget.complete = false;
      return;
    }
    budget.leaves--;
    budget.bytes -= text.length;
    this.push(text, label, kind, parent);
  }

  /**
   * Adds the parent in another reading of all its bytes, once: readings that follow each other
   * give the same texts in many orders.
   */
  addVariant(label: string, text: ByteString, kind: LeafKind = 'text'): void {
    if (this.variants.has(text)) return;
    this.variants.add(text);
    this.add(label, text, kind);
  }

  private push(text: ByteString, label: string, kind: LeafKind, parent: Leaf | null): void {
    const { seen, runBytes } = scanned;
    const depth = parent === null ? 0 : parent.depth + 1;
    this.list.push({ text, seen, runBytes, found: keepFound(), kind, label, parent, depth });
  }

  /** False where leaves below those of the list are missing. */
  get isComplete(): boolean {
    return this.budget.complete;
  }

  /** Notes that a leaf is not opened for a limit. */
  leaveUnopened(): void {
    this.budget.complete = false;
  }
}

/** Length below which base64 holds no attack. */
export const base64BytesMin = 12;

/**
 * Whether a text of letters, digits, `_`, `-` and `.` may be base64: long enough, with letters of
 * both cases.
 */
export function mayHoldBase64(text: ByteString): boolean {
  if (text.length < base64BytesMin) return false;
  let lower = false;
  let upper = false;
  for (let at = 0; at < text.length && !(lower && upper); at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x61) lower ||= code <= 0x7a;
    else if (code >= 0x41) upper ||= code <= 0x5a;
  }
  return lower && upper;
}
