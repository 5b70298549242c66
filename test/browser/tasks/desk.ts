/**
 * How a person works at the console in tests: finds fields and buttons by their words. Every wait
 * is for something that the page shows.
 */

import type { ElementHandle, HTTPRequest, Page } from 'puppeteer-core';
import { eventually } from '../../support/eventually.ts';
import { settled, shows, textOf } from '../console-driver.ts';

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
  const pressed = ['button:not(th *)', 'a, summary', 'th button'];
  const selectors = { press: pressed, field: ['label'] }[kind];
  for (const selector of selectors) {
    for (const scope of scopes) {
      const all = [...scope.querySelectorAll(selector)].filter((one) => one.checkVisibility());
      const found = all.find((one) => textOf(one) === words);
      if (found !== undefined) return kind === 'field' ? found.control : found;
    }
  }
  return null;
}`;

/** Between refreshes that a task asks for, so that each can be shown. */
const looksEach = 40;

/** A person at the console. */
export class Desk {
  readonly page: Page;
  /** Buttons and links that were pressed since this was set to 0. */
  presses = 0;

  constructor(page: Page) {
    this.page = page;
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
    const target = await this.#click('press', words, within);
    await target.dispose();
  }

  /** Has the next call of this method that `act` makes be refused, as by a full disk. */
  async refuseOnce(method: string, act: () => Promise<void>): Promise<void> {
    const body = JSON.stringify({ code: 'unavailable', message: 'the store could not be written' });
    let refused = false;
    const answer = (request: HTTPRequest): void => {
      if (refused || !request.url().endsWith(`/${method}`)) return void request.continue();
      refused = true;
      void request.respond({ status: 400, contentType: 'application/json', body });
    };
    this.page.on('request', answer);
    await this.page.setRequestInterception(true);
    try {
      await act();
      await eventually(() => refused);
    } finally {
      this.page.off('request', answer);
      await this.page.setRequestInterception(false);
    }
  }

  /** Opens what this selector names, as a press. */
  async open(selector: string): Promise<void> {
    this.presses += 1;
    await this.page.click(selector);
  }

  /** Enters text in the field with this label, in place of what it holds. */
  async fill(label: string, text: string, within = ''): Promise<void> {
    const field = await this.#click('field', label, within);
    await this.page.keyboard.down('Control');
    await this.page.keyboard.press('a');
    await this.page.keyboard.up('Control');
    await this.page.keyboard.press('Delete');
    // A long text is pasted.
    if (text.length > 100 || text.includes('\n')) await this.page.keyboard.sendCharacter(text);
    else await field.type(text);
    await field.dispose();
  }

  /** Chooses the entry with these words, once it is there: entries may come from the API. */
  async choose(label: string, words: string, within = ''): Promise<void> {
    const field = await this.#find('field', label, within);
    let value: string | undefined;
    await eventually(async () => {
      value = await field.evaluate((one, wanted) => {
        const options = [...(Reflect.get(one, 'options') as Iterable<Option>)];
        const same = options.find((option) => option.text === wanted);
        return (same ?? options.find((option) => option.text.includes(wanted)))?.value;
      }, words);
      return value !== undefined;
    }).catch((cause: unknown) => {
      throw new Error(`"${label}" has no entry "${words}"`, { cause });
    });
    await field.select(value!);
    await field.dispose();
  }

  /** Sets or clears the box with this label. */
  async tick(label: string, within = ''): Promise<void> {
    const field = await this.#click('field', label, within);
    await field.dispose();
  }

  /** What a field holds. */
  async held(label: string, within = ''): Promise<string> {
    const field = await this.#find('field', label, within);
    return field.evaluate((one) => String(Reflect.get(one, 'value')));
  }

  /** Waits until the page shows these words. */
  async shows(words: string): Promise<void> {
    await shows(this.page, words);
  }

  /** Waits for what refreshes of the page bring; they come at once, not after seconds. */
  async refreshes(seen: () => Promise<boolean>): Promise<void> {
    let looks = 0;
    await eventually(async () => {
      if (looks++ % looksEach === 0) await this.page.evaluate('refreshNow()');
      return seen();
    });
  }

  /** Whether the page shows these words. */
  async has(words: string): Promise<boolean> {
    return (await textOf(this.page)).includes(words);
  }

  /** Waits until the page shows these words no more. */
  async hides(words: string): Promise<void> {
    await eventually(async () => !(await this.has(words)));
  }

  /** Clicks what is found; what took its place where the page drew itself anew meanwhile. */
  async #click(kind: 'press' | 'field', words: string, within: string): Promise<ElementHandle> {
    return eventually(async () => {
      const target = await this.#find(kind, words, within);
      try {
        await target.click();
        return target;
      } catch (error) {
        await target.dispose();
        if (!isGone(error)) throw error;
        return null;
      }
    });
  }

  async #find(kind: 'press' | 'field', words: string, within: string): Promise<ElementHandle> {
    const args = [kind, words, within].map((one) => JSON.stringify(one));
    const look = `(${find})(${args.join(', ')})`;
    const ask = async (): Promise<ElementHandle | null> =>
      (await this.page.evaluateHandle(look)).asElement() as ElementHandle | null;
    return eventually(ask).catch(async () => {
      throw new Error(`no ${kind} "${words}" within "${within}" in:\n${await textOf(this.page)}`);
    });
  }
}

interface Option {
  readonly text: string;
  readonly value: string;
}

/** Whether nothing was pressed, as the page had drawn itself anew since the look. */
function isGone(error: unknown): boolean {
  return error instanceof Error && /not clickable|detached/.test(error.message);
}

/** Works in a window as narrow as a telephone's. */
export async function inNarrow(desk: Desk, work: () => Promise<void>): Promise<void> {
  const wide = desk.page.viewport();
  await desk.page.setViewport({ width: 390, height: 900 });
  try {
    await work();
  } finally {
    await desk.page.setViewport(wide);
  }
}
