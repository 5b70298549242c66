/** A person's way into the console. */

import type { Page } from 'puppeteer-core';

/** Signs in with a name and waits for the first page. */
export async function signIn(page: Page, url: string, password: string): Promise<void> {
  await page.goto(`${url}/`);
  await page.waitForSelector('input[type=password]');
  await page.type('input[autocomplete=username]', 'admin');
  await page.type('input[type=password]', password);
  await page.keyboard.press('Enter');
  await page.waitForSelector('header ~ main h1');
}
