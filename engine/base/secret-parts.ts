/**
 * Finds known secrets, and parts of them, in texts that rules made: a body, a capture, a query.
 * Letters without case, because rules compare in lower case.
 */

import { hiddenText } from './secret-text.ts';

/** Characters in a row that count as part of a secret. */
const partChars = 5;
/** Shorter secrets are part of everything. */
const secretCharsMin = 4;

/** Secrets of one request. */
export class SecretParts {
  private readonly whole: readonly string[];
  private readonly parts = new Set<string>();

  /** `secrets` as they are; a caller bounds their number and length. */
  constructor(secrets: Iterable<string>) {
    const distinct = [...new Set([...secrets].map((one) => one.toLowerCase()))];
    this.whole = distinct
      .filter((one) => one.length >= secretCharsMin)
      .sort((left, right) => right.length - left.length);
    for (const one of this.whole) {
      for (let at = 0; at + partChars <= one.length; at++) {
        this.parts.add(one.slice(at, at + partChars));
      }
    }
  }

  /** The text without whole secrets. */
  hideWhole(text: string): string {
    let rest = text;
    for (const secret of this.whole) rest = replaceAll(rest, secret);
    return rest;
  }

  /** The text without secrets and without parts of them. */
  hideParts(text: string): string {
    const rest = this.hideWhole(text);
    if (this.parts.size === 0 || rest.length < partChars) return rest;
    const lower = rest.toLowerCase();
    let out = '';
    let kept = 0;
    for (let at = 0; at + partChars <= lower.length; at++) {
      if (!this.parts.has(lower.slice(at, at + partChars))) continue;
      let end = at + partChars;
      while (end < lower.length && this.parts.has(lower.slice(end + 1 - partChars, end + 1))) end++;
      out += rest.slice(kept, at) + hiddenText;
      kept = end;
      at = end - 1;
    }
    return kept === 0 ? rest : out + rest.slice(kept);
  }
}

function replaceAll(text: string, lowerSecret: string): string {
  const lower = text.toLowerCase();
  let at = lower.indexOf(lowerSecret);
  if (at < 0) return text;
  let out = '';
  let kept = 0;
  for (; at >= 0; at = lower.indexOf(lowerSecret, kept)) {
    out += text.slice(kept, at) + hiddenText;
    kept = at + lowerSecret.length;
  }
  return out + text.slice(kept);
}
