/**
 * Which values logs must not show, by the names that sanitise actions gave, and hiding them in
 * texts that hold them as they were sent. Knows names, never keeps a value.
 */

import { usualName } from './client-collections.ts';

/** Names in lower case, `args:password` or `request_headers:authorization`. */
export class HiddenNames {
  private readonly names: ReadonlySet<string>;

  constructor(names: Iterable<string>) {
    this.names = new Set([...names].map(usualName));
  }

  /** True for a variable as rules name it, `ARGS_GET:password`. */
  has(name: string): boolean {
    return this.names.has(usualName(name));
  }

  /**
   * A text that may hold arguments as they were sent (a target, a query, a request line, a form),
   * with the values of hidden ones as stars.
   */
  clean(text: string): string {
    if (!text.includes('=')) return text;
    return cleanPairs(cleanPairs(text, this, ampersands), this, semicolons);
  }
}

/** Between `&` and, for SecArgumentSeparator, between `;`. */
const ampersands = /(^|[?&\s])([^=&?\s]*)=([^&\s]+)/g;
const semicolons = /(^|[?;\s])([^=&;?\s]*)=([^&;\s]+)/g;

function cleanPairs(text: string, hidden: HiddenNames, pairs: RegExp): string {
  return text.replace(pairs, (whole, start: string, name: string, value: string) =>
    hidden.has(`args:${decode(name)}`) ? `${start}${name}=${stars(value)}` : whole,
  );
}

/** As many stars as the text is long. */
export function stars(text: string): string {
  return '*'.repeat(text.length);
}

/** Percent-decoding over bytes; what is no escape stays. */
function decode(name: string): string {
  return name
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
