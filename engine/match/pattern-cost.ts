/**
 * Measures what searching with one pattern costs at worst: values made from the pattern itself, on
 * which engines that backtrack or run out of states are slow. A sample, no proof: it finds large
 * counts, nested repetition and repeated alternatives, not what needs a value found by thought.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { patternTrialLimits } from '../../base/rule-limits.ts';
import type { ExactRegex } from './regex.ts';

/** A search that is too slow. */
export interface SlowSearch {
  /** CPU time. */
  readonly ms: number;
  /** PCRE2 gave up: the rule would count as not matched. */
  readonly stopped: boolean;
  /** The beginning of the value. */
  readonly value: ByteString;
}

const shownBytes = 16;

/**
 * The first search that takes longer than the limit; null when there is none.
 * Cost: up to 100 searches of 4 KB, three times each where they are slow.
 */
export function findSlowSearch(pattern: ByteString, regex: ExactRegex): SlowSearch | null {
  const { searchMsMax, searchesMax } = patternTrialLimits;
  // What is compiled at the first search is not its cost.
  regex.test('');
  for (const value of costlyValues(pattern)) {
    let ms = Infinity;
    let stopped = false;
    for (let at = 0; at < searchesMax && ms > searchMsMax; at++) {
      const stoppedBefore = regex.limitExceeded;
      const before = process.cpuUsage();
      regex.test(value);
      const { user, system } = process.cpuUsage(before);
      ms = Math.min(ms, (user + system) / 1000);
      stopped ||= regex.limitExceeded > stoppedBefore;
    }
    if (stopped || ms > searchMsMax) return { ms, stopped, value: value.slice(0, shownBytes) };
  }
  return null;
}

/**
 * Values near what the pattern looks for: its characters and words repeated, mixed, and each once
 * more with an end that does not fit, where engines that backtrack try everything.
 */
export function costlyValues(pattern: ByteString): ByteString[] {
  const { sampleBytes, samplesMax } = patternTrialLimits;
  const chars = [...new Set(pattern.replaceAll(/\\[A-Za-z]/g, ''))];
  const words = [...new Set(pattern.split(/[^0-9A-Za-z_]+/))].filter(({ length }) => length > 1);
  const pieces = [...new Set(['a', '0', ' ', ...chars.slice(0, 24), ...words.slice(0, 12)])];
  const whole = pieces.map((piece) => repeated(piece, sampleBytes));
  const mixed = [1, 2, 3, 4, 5, 6].map((seed) => mixedOf(pieces, sampleBytes, seed));
  // Engines give up early on a value without a byte that every match has: the end has them all.
  const end = `\x01${chars.slice(-64).join('')}`;
  const unfit = [...whole, ...mixed].map((value) => value.slice(0, -end.length) + end);
  return [...whole, ...mixed, ...unfit].slice(0, samplesMax);
}

function repeated(piece: ByteString, bytes: number): ByteString {
  return piece.repeat(Math.ceil(bytes / piece.length)).slice(0, bytes);
}

/** Pieces in an order that is the same each time. */
function mixedOf(pieces: readonly ByteString[], bytes: number, seed: number): ByteString {
  let [state, text] = [seed, ''];
  while (text.length < bytes) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += pieces[Math.floor(state / 65_536) % pieces.length];
  }
  return text.slice(0, bytes);
}
