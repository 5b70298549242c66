/**
 * Passkeys in a browser with a virtual authenticator: a person adds one, signs in by it in place of
 * the password, renames and removes it.
 */

import type { Browser, CDPSession, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingBuild, startProduct, type Product } from '../support/product.ts';
import { axeFindings, missingChromium, startChromium } from './chromium.ts';
import {
  choosePassword,
  chosenPassword,
  enterPassword,
  openPage,
  press,
  settled,
  shows,
  textOf,
} from './console-driver.ts';

const skip = missingChromium ?? missingBuild;
let browser: Browser;
let product: Product;

const consoleUrl = (host: string, path: string): string =>
  `http://${host}:${product.managementPort}${path}`;

/** The device of a person whose finger it knows. */
async function addAuthenticator(page: Page, isUserVerified = true): Promise<CDPSession> {
  const session = await page.createCDPSession();
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      automaticPresenceSimulation: true,
      isUserVerified,
    },
  });
  return session;
}

async function addPasskey(page: Page, name: string, password = chosenPassword): Promise<void> {
  const form = 'form[aria-label="Add a passkey"]';
  await page.locator(`${form} input[name=name]`).fill(name);
  await page.locator(`${form} input[name=password]`).fill(password);
  await page.locator(`${form} button`).click();
}

describe.skipIf(skip !== null)(`passkeys (${skip ?? 'in Chromium'})`, () => {
  beforeAll(async () => {
    product = await startProduct('--workers', '1', '--management-tls', 'off');
    await choosePassword(product);
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
  });

  test('a person adds one, signs in by it, renames and removes it', async () => {
    const { page, faults } = await openPage(browser, consoleUrl('localhost', '/account'));
    await addAuthenticator(page);
    await enterPassword(page);
    await shows(page, 'No passkey.');
    await addPasskey(page, 'Laptop');
    await shows(page, 'on this device only');
    expect(await axeFindings(page)).toEqual([]);

    await press(page, 'Sign out');
    await press(page, 'Sign in with a passkey');
    await shows(page, 'Signed in as');
    await settled(page);
    expect(await textOf(page)).toContain('Laptop');

    await page.locator('summary ::-p-text(Rename)').click();
    await page.locator('form[aria-label="Rename"] input').fill('Desk');
    await page.locator('form[aria-label="Rename"] button').click();
    await shows(page, 'Desk');
    await press(page, 'Remove');
    await shows(page, 'Remove the passkey Desk?');
    await page.locator('.ask button.danger').click();
    await shows(page, 'No passkey.');
    await press(page, 'Sign out');
    await press(page, 'Sign in with a passkey');
    await shows(page, 'the passkey is not known here');
    expect(faults).toEqual([]);
  });

  test('a wrong password adds none, an address has none, a stranger signs in by none', async () => {
    const { page } = await openPage(browser, consoleUrl('localhost', '/account'));
    await addAuthenticator(page, false);
    await enterPassword(page);
    await addPasskey(page, 'Laptop', 'wrong');
    await shows(page, 'is wrong');
    await addPasskey(page, 'Laptop');
    await shows(page, 'The browser gave no passkey');
    const { page: byAddress } = await openPage(browser, consoleUrl('127.0.0.1', '/'));
    await press(byAddress, 'Sign in with a passkey');
    await shows(byAddress, 'passkeys need a host name, not an address');
    expect(await textOf(page)).toContain('No passkey.');
  });
});
