/**
 * Passkeys in a browser with a virtual authenticator: a person adds one, signs in by it in place of
 * the password or after it, renames and removes it, and comes in again where it is lost.
 */

import { generateKeyPairSync } from 'node:crypto';
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
  shows,
  textOf,
} from './console-driver.ts';

const skip = missingChromium ?? missingBuild;
let browser: Browser;
let product: Product;

const consoleUrl = (host: string, path: string): string =>
  `http://${host}:${product.managementPort}${path}`;

interface Authenticator {
  readonly session: CDPSession;
  readonly authenticatorId: string;
}

/** The device of a person whose finger it knows. */
async function addAuthenticator(page: Page, isUserVerified = true): Promise<Authenticator> {
  const session = await page.createCDPSession();
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      automaticPresenceSimulation: true,
      isUserVerified,
    },
  });
  return { session, authenticatorId };
}

/** Puts another private key in place of the only one: what somebody has who knows its id. */
async function forgeKey({ session, authenticatorId }: Authenticator): Promise<void> {
  const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId });
  const [known] = credentials;
  if (known === undefined) throw new Error('the device holds no passkey');
  const { credentialId } = known;
  await session.send('WebAuthn.removeCredential', { authenticatorId, credentialId });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const der = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64');
  const credential = { ...known, signCount: 1_000, privateKey: der };
  await session.send('WebAuthn.addCredential', { authenticatorId, credential });
}

/** The page of an account asks for passwords, too: the form of sign-in has to be there. */
async function signOut(page: Page): Promise<void> {
  await press(page, 'Sign out');
  await shows(page, 'Sign in with a passkey');
}

const askLabel = 'Ask for a passkey after the password';

async function askAfterPassword(page: Page, password: string): Promise<void> {
  const form = `form[aria-label="${askLabel}"]`;
  await page.locator(`${form} input[name=password]`).fill(password);
  await page.locator(`${form} button`).click();
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
    await shows(page, 'Laptop');

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
    await shows(page, 'No passkey.');
    expect(await textOf(page)).toContain('No passkey.');
  });

  test('after the password: without it nobody is in, with another key neither', async () => {
    const { page } = await openPage(browser, consoleUrl('localhost', '/account'));
    const device = await addAuthenticator(page);
    await enterPassword(page);
    await shows(page, 'No passkey.');
    await addPasskey(page, 'Key ring');
    await shows(page, 'The password alone signs in');
    await page.locator(`summary ::-p-text(${askLabel})`).click();
    await askAfterPassword(page, 'wrong');
    await shows(page, 'is wrong');
    await shows(page, 'The password alone signs in');
    await askAfterPassword(page, chosenPassword);
    await shows(page, 'After the password a passkey is asked for');
    await press(page, 'Remove');
    await page.locator('.ask button.danger').click();
    await shows(page, 'the last passkey is asked for after the password');

    await signOut(page);
    await enterPassword(page);
    await shows(page, 'Your account asks for a passkey after the password.');
    expect(await axeFindings(page)).toEqual([]);
    await press(page, 'Continue');
    await shows(page, 'Key ring');

    await signOut(page);
    await forgeKey(device);
    await enterPassword(page);
    await shows(page, 'Your account asks for a passkey');
    await press(page, 'Continue');
    await shows(page, 'the passkey is not known here');
    await page.goto(consoleUrl('localhost', '/account'));
    await shows(page, 'Sign in with a passkey');
    expect(await textOf(page)).not.toContain('Key ring');

    expect(product.waf('user', 'reset-mfa', 'admin')).toMatchObject({ code: 0 });
    await enterPassword(page);
    await shows(page, 'No passkey.');
  });
});
