/**
 * Owns how a person works at the console in tests: finds fields and buttons by their words, by the
 * mouse or by keys alone, in either language. Every wait is for something that the page shows.
 */

import type { ElementHandle, Page } from 'puppeteer-core';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { settled, shows, textOf } from '../console-driver.ts';

/** What stands at a desk. */
export interface DeskSetup {
  readonly page: Page;
  /** Reaches all fields and buttons by keys. */
  readonly keysOnly?: boolean;
  /** The words of the page's language for English ones. */
  readonly say?: (english: string) => string;
}

/** Places in the order of focus that are tried before a target counts as out of reach. */
const tabsMax = 400;

/**
 * Finds what is visible and has these words; `within` is the words of a form, card, or row.
 * Runs in the page.
 */
const find = `(kind, words, within) => {
  const textOf = (one) => [...one.childNodes]
    .filter((part) => !/^(?:SELECT|TEXTAREA|SMALL|INPUT)$/.test(part.nodeName))
    .map((part) => part.textContent).join('').replace(/[\\u2068\\u2069]/g, '').trim();
  const titled = (one) => one.ariaLabel === within ||
    [...one.querySelectorAll('h2, summary')].some((head) => textOf(head) === within) ||
    (one.tagName === 'TR' && one.textContent.includes(within));
  const scopes = within === '' ? [document] :
    [...document.querySelectorAll('form, tr, section, details, nav')].filter(titled);
  const selectors = { press: ['button', 'a, summary'], field: ['label'] }[kind];
  for (const selector of selectors) {
    for (const scope of scopes) {
      const all = [...scope.querySelectorAll(selector)].filter((one) => one.checkVisibility());
      const found = all.find((one) => textOf(one) === words);
      if (found !== undefined) return kind === 'field' ? found.control : found;
    }
  }
  return null;
}`;

/** A person at the console. */
export class Desk {
  readonly page: Page;
  /** Buttons and links that were pressed since this was set to 0. */
  presses = 0;
  readonly #setup: DeskSetup;

  constructor(setup: DeskSetup) {
    this.page = setup.page;
    this.#setup = setup;
  }

  /** The words in the page's language. */
  say(english: string): string {
    return this.#setup.say?.(english) ?? english;
  }

  /** Follows a link of the console to this path. */
  async go(path: string): Promise<void> {
    const at = JSON.stringify(path);
    await this.page.evaluate(
      `history.pushState(null, '', ${at}); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await this.page.waitForSelector('header ~ main h1, header ~ main .empty');
    await settled(this.page);
  }

  /** Presses the button, link or fold with these words. */
  async press(words: string, within = ''): Promise<void> {
    this.presses += 1;
    const target = await this.#find('press', words, within);
    if (this.#setup.keysOnly === true) {
      await this.#reach(target, words);
      await this.page.keyboard.press('Enter');
    } else await target.click();
    await target.dispose();
  }

  /** Opens what this selector names, as a press. */
  async open(selector: string): Promise<void> {
    this.presses += 1;
    await this.page.click(selector);
  }

  /** Enters text in the field with this label, in place of what it holds. */
  async fill(label: string, text: string, within = ''): Promise<void> {
    const field = await this.#find('field', label, within);
    if (this.#setup.keysOnly === true) await this.#reach(field, label);
    else await field.click();
    await this.page.keyboard.down('Control');
    await this.page.keyboard.press('a');
    await this.page.keyboard.up('Control');
    await this.page.keyboard.press('Delete');
    // A long text is pasted.
    if (text.length > 100 || text.includes('\n')) await this.page.keyboard.sendCharacter(text);
    else await field.type(text);
    await field.dispose();
  }

  /** Chooses the entry with these words. */
  async choose(label: string, words: string, within = ''): Promise<void> {
    const field = await this.#find('field', label, within);
    const text = this.say(words);
    const value = await field.evaluate((one, wanted) => {
      const options = [...(Reflect.get(one, 'options') as Iterable<Option>)];
      return options.find((option) => option.text.includes(wanted))?.value;
    }, text);
    if (value === undefined) throw new Error(`"${label}" has no entry "${text}"`);
    if (this.#setup.keysOnly === true) {
      await this.#reach(field, label);
      await this.page.keyboard.type(text);
    } else await field.select(value);
    await field.dispose();
  }

  /** Turns a check on or off. */
  async tick(label: string, within = ''): Promise<void> {
    const field = await this.#find('field', label, within);
    if (this.#setup.keysOnly === true) {
      await this.#reach(field, label);
      await this.page.keyboard.press('Space');
    } else await field.click();
    await field.dispose();
  }

  /** Chooses a file with this content. */
  async upload(label: string, path: string): Promise<void> {
    const field = await this.#find('field', label, '');
    await (field as ElementHandle<never>).uploadFile(path);
    await field.dispose();
  }

  /** What a field holds. */
  async held(label: string, within = ''): Promise<string> {
    const field = await this.#find('field', label, within);
    return field.evaluate((one) => String(Reflect.get(one, 'value')));
  }

  /** Waits until the page shows these words. */
  async shows(words: string): Promise<void> {
    await shows(this.page, this.say(words));
  }

  /** Waits until the page shows these words no more. */
  async hides(words: string): Promise<void> {
    const text = this.say(words);
    await eventually(async () => !(await textOf(this.page)).includes(text));
  }

  async #find(kind: 'press' | 'field', words: string, within: string): Promise<ElementHandle> {
    const args = [kind, this.say(words), this.say(within)].map((one) => JSON.stringify(one));
    const look = `(${find})(${args.join(', ')})`;
    const ask = async (): Promise<ElementHandle | null> =>
      (await this.page.evaluateHandle(look)).asElement() as ElementHandle | null;
    return eventually(ask).catch(async () => {
      throw new Error(`no ${kind} "${words}" within "${within}" in:\n${await textOf(this.page)}`);
    });
  }

  /** Presses the tab key until the target has the focus. */
  async #reach(target: ElementHandle, words: string): Promise<void> {
    for (let count = 0; count < tabsMax; count += 1) {
      if (await target.evaluate((one) => one.matches(':focus'))) return;
      await this.page.keyboard.press('Tab');
    }
    expect.fail(`"${words}" cannot be reached by keys`);
  }
}

interface Option {
  readonly text: string;
  readonly value: string;
}
