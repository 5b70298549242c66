/**
 * Values that are new in every request: words, sentences, digits of a given length, drawn from a
 * seed so that every target gets the same bytes. Never knows where in a request they go.
 */

import { plainWords, smallWords } from './word-table.ts';

/** What a placeholder such as `{{words 24}}` may ask for; N characters of it each. */
export type FreshKind = 'words' | 'sentences' | 'hex' | 'digits';

/** Characters that one placeholder may ask for. */
export const freshLengthMax = 65_536;
/** Content words are never longer, so that what is left of a length can always be one word. */
const wordLengthMax = 10;
/** A last word shorter than this reads oddly. */
const lastWordMin = 3;
/** In 256: how often a word of a sentence is a small one, and how often one ends with a comma. */
const smallWordShare = 100;
const commaShare = 20;

const placeholder = /\{\{([a-z]+) (\d+)\}\}/g;
const kinds: readonly string[] = ['words', 'sentences', 'hex', 'digits'] satisfies FreshKind[];

const content = plainWords.filter(({ length }) => length <= wordLengthMax);
const every = [...smallWords, ...content];
const byLength = Array.from({ length: wordLengthMax + 1 }, (_, length) => {
  const found = content.filter((word) => word.length === length);
  return found.length > 0 ? found : every.filter((word) => word.length === length);
});

/** True when a text asks for a new value. */
export function asksForFresh(text: string): boolean {
  return [...text.matchAll(placeholder)].some(([, kind]) => kinds.includes(kind!));
}

/** The new values of one request: the same seed and number give the same values. */
export class FreshText {
  #state: number;

  constructor(seed: number, number: number) {
    this.#state = scramble(scramble(seed >>> 0) ^ number);
  }

  /**
   * The text with its placeholders filled, each by a value of its own. `encode` is applied to the
   * values alone. Errors: names the placeholder that nothing answers to.
   */
  fill(text: string, encode: (value: string) => string = (value) => value): string {
    return text.replace(placeholder, (whole, kind: string, digits: string) => {
      const length = Number(digits);
      if (!kinds.includes(kind)) throw new Error(`${whole}: expected one of ${kinds.join(', ')}`);
      if (length < 1 || length > freshLengthMax) {
        throw new Error(`${whole}: expected 1..${freshLengthMax} characters`);
      }
      return encode(this.#make(kind as FreshKind, length));
    });
  }

  #make(kind: FreshKind, length: number): string {
    if (kind === 'words') return this.#words(length, () => this.#oneOf(content));
    if (kind === 'sentences') return this.#sentences(length);
    const base = kind === 'hex' ? 16 : 10;
    return Array.from({ length }, () => this.#below(base).toString(base)).join('');
  }

  /** Words with blanks between them, `length` characters together. */
  #words(length: number, next: () => string): string {
    const chosen: string[] = [];
    let left = length;
    while (left > wordLengthMax) {
      const word = next();
      // Drawn again where too little would be left for a last word.
      if (left - word.length - 1 < lastWordMin) continue;
      chosen.push(word);
      left -= word.length + 1;
    }
    chosen.push(this.#oneOf(byLength[left]!));
    return chosen.join(' ');
  }

  /** Sentences of four to eleven words or so, the last one as long as is left. */
  #sentences(length: number): string {
    const made: string[] = [];
    let left = length;
    while (left > 0) {
      const wanted = 24 + this.#below(48);
      // What would be left must be worth a sentence of its own.
      const size = left - wanted - 1 < 24 ? left : wanted;
      made.push(this.#sentence(size));
      left -= size + 1;
    }
    return made.join(' ');
  }

  #sentence(size: number): string {
    if (size < 2) return 'I';
    const text = this.#words(size - 1, () => this.#wordOfSentence());
    return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
  }

  /** Short words come more often than long ones, as they do in English. */
  #wordOfSentence(): string {
    if (this.#below(256) < smallWordShare) return this.#oneOf(smallWords);
    const [one, other] = [this.#oneOf(content), this.#oneOf(content)];
    const word = one.length < other.length ? one : other;
    return this.#below(256) < commaShare ? `${word},` : word;
  }

  #oneOf(list: readonly string[]): string {
    return list[this.#below(list.length)]!;
  }

  #below(bound: number): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    return Math.floor((scramble(this.#state) / 2 ** 32) * bound);
  }
}

/** Every bit of the answer, 0 to 2^32 - 1, depends on every bit of the number. */
function scramble(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
