/**
 * Reads a text as US-ASCII by a reader that drops the eighth bit: 0xBC is `<` then. Old browsers
 * read pages so that say they are US-ASCII.
 */

import { isUtf8 } from 'node:buffer';
import type { ByteString } from '../../../base/byte-string.ts';
import type { Leaves } from './leaves.ts';

/** Adds that reading as a page, unless the text is UTF-8. Cost: linear. */
export function openSevenBits(text: ByteString, leaves: Leaves): void {
  const bytes = Buffer.from(text, 'latin1');
  if (isUtf8(bytes)) return;
  for (let at = 0; at < bytes.length; at++) bytes[at]! &= 0x7f;
  leaves.addVariant('US-ASCII', bytes.latin1Slice(), 'page');
}
