/** How a person works at the console with keys alone: no mouse, no moved focus. */

import type { KeyInput, Page } from 'puppeteer-core';
import { eventually } from '../../support/eventually.ts';

/** More stops of Tab than any page has. */
const stopsMax = 400;

/** The words of what has the focus: a label for a field, the own text for all others. */
const focused = `(() => {
  const one = document.activeElement;
  if (one === null || one === document.body) return '';
  const named = one.labels?.[0] ?? one;
  return [...named.childNodes]
    .filter((part) => !/^(?:SELECT|TEXTAREA|SMALL|INPUT)$/.test(part.nodeName))
    .map((part) => part.textContent).join('').replace(/[\\u2068\\u2069]/g, '').trim();
})()`;

/** The keyboard. */
export class Keys {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** The words of what has the focus. */
  words(): Promise<string> {
    return this.#page.evaluate(focused) as Promise<string>;
  }

  /** Presses a key as often as wanted. */
  async press(key: KeyInput, times = 1): Promise<void> {
    for (let count = 0; count < times; count += 1) await this.#page.keyboard.press(key);
  }

  /** Types into what has the focus, in place of what it holds. */
  async type(text: string): Promise<void> {
    await this.#page.keyboard.down('Control');
    await this.press('a');
    await this.#page.keyboard.up('Control');
    await this.#page.keyboard.type(text);
  }

  /** Leaves the navigation of the page out, as its first stop offers. */
  async skip(): Promise<void> {
    await this.to('Skip to content');
    await this.press('Enter');
  }

  /** Presses Tab until what has the focus has these words, or words that begin with them. */
  async to(words: string): Promise<void> {
    const stops: string[] = [];
    const look = async (): Promise<boolean> => {
      stops.length = 0;
      for (let count = 0; count < stopsMax; count += 1) {
        await this.press('Tab');
        const now = await this.words();
        if (now === words || now.startsWith(`${words} `)) return true;
        stops.push(now);
        // Once around; what is still loading may come.
        if (count > 0 && now === 'Skip to content') return false;
      }
      return false;
    };
    await eventually(look).catch(() => {
      throw new Error(`no stop of Tab has the words "${words}": ${stops.join(' | ')}`);
    });
  }
}
