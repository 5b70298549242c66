/** The console's first run with the keyboard: a password, a site, and an attack that is blocked. */

import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';
import { axeFindings, missingChromium, startChromium } from './chromium.ts';
import * as driver from './console-driver.ts';
import { Keys } from './tasks/keys.ts';

const skip = missingChromium ?? missingBuild;
/** The first start of a machine builds its databases. */
const testMs = 600_000;

let browser: Browser;
let product: Product;

describe.skipIf(skip !== null)(`first run (${skip ?? 'in Chromium'})`, { timeout: testMs }, () => {
  beforeAll(async () => {
    product = await startProduct('--workers', '1', '--management-tls', 'off', '--no-demo');
    browser = await startChromium();
  }, testMs);
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
  });

  test('password, site, and a blocked attack, shown as it happens, with keys alone', async () => {
    const url = `http://127.0.0.1:${product.managementPort}/`;
    expect(product.output()).toMatch(/Console {10}http/);
    const first = driver.firstPassword(product);
    const other = (await driver.openPage(browser, url)).page;
    await driver.enterPassword(other, first);
    await driver.shows(other, "Set the administrator's password");
    await other.reload();
    // A page that was opened anew does not know it.
    await driver.shows(other, 'The first password');
    const { page, faults } = await driver.openPage(browser, url);
    await driver.enterPassword(page, first);
    await driver.shows(page, "Set the administrator's password");
    expect(await axeFindings(page)).toEqual([]);
    const keys = new Keys(page);
    // It was typed a moment ago.
    expect(await driver.textOf(page)).not.toContain('The first password');
    await keys.to('New password');
    await keys.type(driver.chosenPassword);
    await keys.press('Tab');
    await keys.type('another');
    await keys.press('Enter');
    await driver.shows(page, 'The new passwords differ.');
    await keys.to('New password again');
    await keys.type(driver.chosenPassword);
    await keys.press('Enter');
    await driver.shows(page, 'Add the first site');
    await keys.to('Host');
    await keys.type('shop.example');
    await keys.press('Tab');
    await keys.type('http://127.0.0.1:9');
    await keys.press('Enter');
    await driver.shows(page, 'shop.example is served');
    await keys.to('Try an attack');
    await keys.press('Enter');
    await driver.shows(page, 'It is blocked with status 403');
    await eventually(
      async () =>
        (await driver.sendRaw(product, '/?id=1%27%20OR%20%271%27=%271', {
          host: 'shop.example',
        })) === 403,
    );
    await driver.shows(page, 'Blocked 403');
    expect(faults).toEqual([]);
    await page.reload();
    await driver.settled(page);
    expect(await driver.textOf(page)).not.toContain('administrator');
  });
});
