/**
 * Makes plain text of what a model says, piece by piece: markup is escaped, links and images of
 * Markdown are broken up, control characters and the provider's key are taken out.
 */

/** Cleans one answer. */
export class PlainText {
  readonly #key: string;
  readonly #escape: (text: string) => string;
  #waiting = '';
  #left: number;
  /** The answer was longer than is shown. */
  cut = false;

  /** `escape` is another one for answers that are read as data, and never shown as they are. */
  constructor(key: string, charactersMax: number, escape = escapeMarkup) {
    this.#key = key;
    this.#escape = escape;
    this.#left = charactersMax;
  }

  /** What can be shown so far. */
  push(piece: string): string {
    this.#waiting += piece;
    // What may be the start of a key or of a link waits for the rest.
    const held = Math.max(1, this.#key.length - 1);
    if (this.#waiting.length <= held) return '';
    // A key across the border is replaced before it is divided.
    this.#waiting = this.#hideKey(this.#waiting);
    const end = Math.max(0, this.#waiting.length - held);
    const shown = this.#waiting.slice(0, end);
    const rest = this.#waiting.slice(end);
    const link = /[\]!]$/.test(shown) ? 1 : 0;
    this.#waiting = shown.slice(shown.length - link) + rest;
    return this.#show(shown.slice(0, shown.length - link));
  }

  /** The rest. */
  end(): string {
    const rest = this.#hideKey(this.#waiting);
    this.#waiting = '';
    return this.#show(rest);
  }

  #hideKey(text: string): string {
    return this.#key === '' ? text : text.replaceAll(this.#key, '***');
  }

  #show(text: string): string {
    if (text.length > this.#left) this.cut = true;
    const kept = text.slice(0, this.#left);
    this.#left -= kept.length;
    return this.#escape(kept);
  }
}

/** Text that is no markup wherever it is shown. */
export function escapeMarkup(text: string): string {
  return text
    .replace(
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g,
      '',
    )
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/\](?=[([])/g, '] ')
    .replace(/!(?=\[)/g, '! ');
}
