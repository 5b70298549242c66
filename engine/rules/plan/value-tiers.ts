/**
 * The tiers of values: sets of byte classes for which a scan group has databases of its own, that
 * hold only what can match such bytes. Compiles nothing.
 */

import { byteClassOf, maskOfClasses } from '../../match/byte-class.ts';
import { SOURCE } from '../transaction/values.ts';
import { isDecodedChain, type ScanClass } from './scan-draft.ts';

const plainClasses = ['lower', 'upper', 'digit', 'underscore'] as const;
/**
 * What most sentences are written with. Measured with CRS 4 on 825 bytes of them: 5.5 us a scan, 14
 * where every byte is allowed. Tiers between and below (no apostrophes; parentheses, quotes and
 * equals signs too) gained less than a microsecond a request for a third of all memory.
 */
const proseClasses = [
  ...plainClasses,
  'space',
  'hyphen',
  'dot',
  'comma',
  'colon',
  'slash',
  'semicolon',
  'punctuation',
  'singleQuote',
  'plus',
  'percent',
  'ampersand',
  'high',
  'nbsp',
] as const;

/** Masks of the tiers below the one that covers every value, narrowest first; none has newlines. */
const valueMasks: readonly number[] = [
  maskOfClasses(...plainClasses),
  maskOfClasses(...proseClasses),
];
/** The same for texts that hold names and values: a query, a cookie line, a form as it came. */
const pairMasks: readonly number[] = [
  valueMasks[0]!,
  (valueMasks[1]! | maskOfClasses('equals')) >>> 0,
];

/**
 * What decoders make of values: base64Decode turns most words into bytes of every kind. Joined,
 * they cost one scan for all of them; alone, a third of a microsecond or more for each word.
 */
const decodedMask = ~maskOfClasses('whitespace') >>> 0;

/** Values of these bytes alone are plain words: nothing in them is an injection. */
export const plainMask = valueMasks[0]!;
/** Values of these bytes alone hold no markup: neither a tag nor an attribute's value. */
export const markupFreeMask = ~maskOfClasses('angle', 'equals') >>> 0;
/** Values of these bytes alone are ASCII, which is UTF-8 as it stands. */
export const asciiMask = ~maskOfClasses('high', 'nbsp') >>> 0;
/** Values of these bytes alone hold no escape of a URL. */
export const escapeFreeMask = ~maskOfClasses('percent') >>> 0;

const pairSources: ReadonlySet<number> = new Set([
  SOURCE.requestHeader,
  SOURCE.requestLine,
  SOURCE.requestUri,
  SOURCE.requestUriRaw,
  SOURCE.queryString,
  SOURCE.requestBody,
]);

/** The tiers of a scan group, narrowest first, by what its classes look at. */
export function narrowMasksOf(classes: readonly ScanClass[]): readonly number[] {
  const masks = classes.some(({ rowPart }) => pairSources.has(rowPart >> 1))
    ? pairMasks
    : valueMasks;
  const decoded = classes.some(({ patterns }) => patterns.some((one) => isDecodedChain(one.chain)));
  return decoded ? [...masks, decodedMask] : masks;
}

/** The mask of the classes of which every byte is in `allowed`, a bitmap of 32 bytes. */
export function maskWithin(allowed: Uint8Array): number {
  let outside = 0;
  byteClassOf.forEach((byteClass, byte) => {
    if (((allowed[byte >> 3]! >> (byte & 7)) & 1) === 0) outside |= 1 << byteClass;
  });
  return ~outside >>> 0;
}
