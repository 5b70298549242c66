/**
 * Searches many short values for one pattern at once, joined by newlines, to leave out those that
 * cannot match: a request may bring a thousand values that a dozen patterns each have to be
 * searched for in. Never says that a value matches.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { matchLimits } from '../../base/rule-limits.ts';
import { Re2 } from '../../native-bindings/re2/re2.ts';

/** A pattern for joined values. */
export interface JoinedSearch {
  /** Sets `possible[i]` to 0 where `values[i]` does not match; all others to 1. */
  sift(values: readonly ByteString[], possible: Uint8Array): void;
}

const { joinedBytesMax, joinedValuesMin, joinedValuesMax } = matchLimits;
const newline = 0x0a;
const text = Buffer.allocUnsafeSlow(joinedBytesMax + joinedValuesMax);
/** Where the values of a batch start in `text`, and where the last one ends. */
const starts = new Int32Array(joinedValuesMax + 1);

/**
 * `source` is RE2's, for values by themselves. With `(?m)` its `^` and `$` also match at newlines:
 * what matches in a value by itself matches in the joined ones, some more may. Null for a pattern
 * that RE2 cannot take.
 */
export function compileJoined(source: string): JoinedSearch | null {
  try {
    const regex = new Re2(`(?m)${source}`, 'bytes');
    return { sift: (values, possible) => siftAll(regex, values, possible) };
  } catch {
    return null;
  }
}

function siftAll(regex: Re2, values: readonly ByteString[], possible: Uint8Array): void {
  let from = 0;
  while (from < values.length) {
    let bytes = 0;
    let to = from;
    while (to < values.length && to - from < joinedValuesMax) {
      bytes += values[to]!.length;
      if (bytes > joinedBytesMax) break;
      to++;
    }
    if (to === from) possible[to++] = 1;
    else siftBatch(regex, values, from, to, possible);
    from = to;
  }
}

function siftBatch(
  regex: Re2,
  values: readonly ByteString[],
  from: number,
  to: number,
  possible: Uint8Array,
): void {
  let end = 0;
  for (let at = from; at < to; at++) {
    starts[at - from] = end;
    end += text.latin1Write(values[at]!, end);
    text[end++] = newline;
  }
  starts[to - from] = end;
  siftRange(regex, 0, to - from, possible.subarray(from, to));
}

/** Halves a range until the rest does not match, or is not worth another search. */
function siftRange(regex: Re2, from: number, to: number, possible: Uint8Array): void {
  // Without the last newline: after it `^` finds an empty line.
  const found = regex.test(text.subarray(starts[from], starts[to]! - 1));
  if (!found) possible.fill(0, from, to);
  else if (to - from < 2 * joinedValuesMin) possible.fill(1, from, to);
  else {
    const half = (from + to) >>> 1;
    siftRange(regex, from, half, possible);
    siftRange(regex, half, to, possible);
  }
}
