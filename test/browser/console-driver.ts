/** What tests of the console share: signing in, waiting, clicking as a person does. */

import { request } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { Agent, fetch } from 'undici';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Product } from '../support/product.ts';
import { newPage } from './chromium.ts';

/** The administrator's password once `choosePassword` is done. */
export const chosenPassword = 'a password of the tests 1';

/** The password of the first start. */
export const firstPassword = (product: Product): string =>
  readFileSync(join(product.data, 'admin-password'), 'utf8').trim();

/** Replaces the first password, so that pages other than the first run are shown. */
export async function choosePassword(product: Product): Promise<void> {
  const current = firstPassword(product);
  const { accessToken } = await call(product, '', 'AuthService/Login', {
    username: 'admin',
    password: current,
  });
  await call(product, String(accessToken), 'AuthService/ChangePassword', {
    currentPassword: current,
    newPassword: chosenPassword,
  });
}

/** A token of the administrator. */
export async function tokenOf(product: Product): Promise<string> {
  const login = { username: 'admin', password: chosenPassword };
  return String((await call(product, '', 'AuthService/Login', login))['accessToken']);
}

/** Where the console and the API are. */
export const managementUrl = (product: Product): string =>
  /Management API +(https?:\/\/\S+)/.exec(product.output())![1]!;

/** The product's own certificate is nobody's to vouch for. */
const trusting = new Agent({ connect: { rejectUnauthorized: false } });

/**
 * One call of the API in plain JSON; `method` is of `waf.v1` unless it names its package.
 * Errors: any answer but 200.
 */
export async function call(
  product: Product,
  token: string,
  method: string,
  body: object,
): Promise<Record<string, unknown>> {
  const path = method.startsWith('waf.') ? method : `waf.v1.${method}`;
  const answer = await fetch(`${managementUrl(product)}/${path}`, {
    method: 'POST',
    dispatcher: trusting,
    headers: {
      'content-type': 'application/json',
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${method}: ${answer.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Sends bytes as they are, from an address of loopback; resolves with the status. */
export function sendRaw(
  product: Product,
  path: string,
  headers: Readonly<Record<string, string>>,
  localAddress = '127.0.0.1',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const { proxyPort: port } = product;
    const options = { host: '127.0.0.1', port, path, headers, localAddress, agent: false };
    request(options, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}

/** What a site need not have of its own: the page asks, and the answer is that there is none. */
export const mayBeMissing = /\/(?:GetTrustProfile|GetSitePolicyOverride|GetShadowRun)$/;
/** What a page may report although nothing is wrong: the first refresh has no cookie yet. */
const usualFault = /status of 401 \(/;

/** How often most pages ask anew, and how often the slowest does. */
const refreshMs = { usual: 10_000, slowest: 60_000 };

/**
 * Lets tests ask for the refreshes that a page waits for: `refreshNow()` in the page. Timers run as
 * ever beside it. Runs in the page.
 */
const earlyRefreshes = `(() => {
  const { setTimeout: begin, clearTimeout: end, setInterval: repeat, clearInterval: stop } = window;
  const waiting = new Map();
  const isRefresh = (ms) => ms >= ${refreshMs.usual} && ms <= ${refreshMs.slowest};
  window.setTimeout = (run, ms, ...more) => {
    const once = () => {
      waiting.delete(id);
      end(id);
      run(...more);
    };
    const id = begin(isRefresh(ms) ? once : run, ms, ...more);
    if (isRefresh(ms)) waiting.set(id, once);
    return id;
  };
  window.setInterval = (run, ms, ...more) => {
    const id = repeat(run, ms, ...more);
    if (isRefresh(ms)) waiting.set(id, run);
    return id;
  };
  window.clearTimeout = (id) => (waiting.delete(id), end(id));
  window.clearInterval = (id) => (waiting.delete(id), stop(id));
  window.refreshNow = () => [...waiting.values()].forEach((run) => run());
})()`;

/** A page of a browser of its own, and what it complained about. */
export async function openPage(
  browser: Browser,
  url: string,
): Promise<{ page: Page; faults: string[] }> {
  const page = await newPage(browser);
  await page.setViewport({ width: 1280, height: 900 });
  await page.evaluateOnNewDocument(earlyRefreshes);
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() !== 'error' || usualFault.test(message.text())) return;
    const { url = '' } = message.location();
    const notThere = /status of 404\b/.test(message.text()) && mayBeMissing.test(url);
    if (!notThere) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return { page, faults };
}

/** Enters name and password. */
export async function enterPassword(
  page: Page,
  password = chosenPassword,
  name = 'admin',
): Promise<void> {
  await page.waitForSelector('input[type=password]');
  await page.type('input[autocomplete=username]', name);
  await page.type('input[type=password]', password);
  await page.keyboard.press('Enter');
}

/** The text of a page as a person reads it. */
export const textOf = (page: Page): Promise<string> =>
  page.evaluate('document.body.innerText') as Promise<string>;

/** Waits until a page shows words. */
export async function shows(page: Page, words: string): Promise<void> {
  const shown = eventually(async () => (await textOf(page)).includes(words));
  await shown.catch(async () => expect(await textOf(page)).toContain(words));
}

/** Clicks the button or link with these words. */
export const press = (page: Page, words: string): Promise<void> =>
  page.locator(`::-p-text(${words})`).click();

/** Waits until nothing on the page is loading, in either language. */
export const settled = (page: Page): Promise<true> =>
  eventually(async () => !/Loading…|加载中…/.test(await textOf(page)));
