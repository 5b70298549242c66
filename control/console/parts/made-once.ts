/**
 * For a form that makes something and then puts it to use, by two calls of which the second can
 * fail alone: submitted again as it is, only the second is tried.
 */

/** What the first call made. */
interface Made {
  /** What was entered for it, as one text. */
  readonly entered: string;
  readonly id: string;
}

/** Remembers what was made for what was entered, until it is in use. */
export class MadeOnce {
  #made: Made | null = null;

  /** The id of what was made for these entries; made now, unless it was before. */
  async id(entries: readonly string[], make: () => Promise<string>): Promise<string> {
    const entered = JSON.stringify(entries);
    if (this.#made?.entered !== entered) this.#made = { entered, id: await make() };
    return this.#made.id;
  }

  /** It is in use: the same entries mean another one from now on. */
  used(): void {
    this.#made = null;
  }
}
