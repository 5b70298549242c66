/**
 * The console in a browser against a running product: from "a customer was blocked" to "he passes",
 * by a person's clicks; nothing that an attacker sent runs or hides there.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, HTTPRequest, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingBuild, root, startProduct, type Product } from '../support/product.ts';
import { eventually } from '../support/eventually.ts';
import {
  choosePassword,
  enterPassword,
  openPage,
  press,
  settled,
  shows,
  textOf,
} from './console-driver.ts';
import { axeFindings, missingChromium, startChromium } from './chromium.ts';

const skip = missingChromium ?? missingBuild;
let browser: Browser;
let product: Product;

const consoleUrl = (path: string): string => `http://127.0.0.1:${product.managementPort}${path}`;

async function ask(query: string): Promise<{ status: number; id: string }> {
  const answer = await fetch(`http://127.0.0.1:${product.proxyPort}/${query}`);
  await answer.arrayBuffer();
  return { status: answer.status, id: answer.headers.get('x-request-id') ?? '' };
}

const open = (path: string): ReturnType<typeof openPage> => openPage(browser, consoleUrl(path));

/** A page that is signed in for several tests: an address has ten sign-ins a minute. */
let shared: Awaited<ReturnType<typeof openPage>> | null = null;

async function signedIn(path: string): Promise<Awaited<ReturnType<typeof openPage>>> {
  if (shared === null) {
    shared = await open(path);
    await enterPassword(shared.page);
  } else {
    shared.faults.length = 0;
    await shared.page.goto(consoleUrl(path));
  }
  return shared;
}

/** Loads the list again until it has a row: events take a moment to arrive. */
const firstRow = (page: Page): Promise<true> =>
  eventually(async () => {
    await page.waitForSelector('header ~ main .filters');
    await settled(page);
    if ((await page.$('tbody tr')) !== null) return true;
    await page.reload();
    return false;
  });

/** Pages that are loaded when they are first shown. */
const pageFiles = [
  ...['overview', 'attacks', 'event', 'logs', 'alerts', 'sites', 'tuning', 'protection', 'apis'],
  ...['certificates', 'nodes', 'access', 'settings', 'operations', 'account', 'start', 'policy'],
  ...['learning'],
];

/** The built files by name, without their compressed forms. */
function builtFiles(): string[] {
  const folder = join(root, '.build', 'console');
  return readdirSync(folder).filter((name) => !/\.(?:br|gz)$/.test(name));
}

describe.skipIf(skip !== null)(`console (${skip ?? 'in Chromium'})`, () => {
  beforeAll(async () => {
    product = await startProduct('--workers', '1', '--management-tls', 'off');
    await choosePassword(product);
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
  });

  test('a wrong password is said in place, the right one opens the page that was asked for', async () => {
    const { page, faults } = await open('/attacks?span=1h');
    for (const value of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
      expect(await axeFindings(page), value).toEqual([]);
    }
    await enterPassword(page, 'not the password');
    await page.waitForSelector('[role=alert]');
    expect(await axeFindings(page)).toEqual([]);
    await page.reload();
    await enterPassword(page);
    await shows(page, 'Attacks');
    expect(page.url()).toBe(consoleUrl('/attacks?span=1h'));
    // A reload continues the session by its cookie; no token lies in the page's storage.
    await page.reload();
    await shows(page, 'Sign out');
    const stored = await page.evaluate('JSON.stringify(Object.keys(localStorage))');
    expect(stored).toBe('[]');
    await press(page, 'Sign out');
    await page.waitForSelector('input[type=password]');
    expect(faults).toEqual([]);
  });

  test('from a blocked request to one that passes, and nothing else does', async () => {
    const query = '?q=1%27%20OR%20%271%27=%271';
    const { status, id } = await ask(query);
    expect(status).toBe(403);
    const { page, faults } = await signedIn('/attacks');
    await firstRow(page);
    await page.focus('tbody tr');
    await page.keyboard.press('Enter');
    await shows(page, 'This request was blocked with status 403.');
    await shows(page, id);
    await press(page, 'Show what else it lets through');
    await shows(page, 'This request would pass.');
    expect((await ask(query)).status).toBe(403);
    await press(page, 'Save this exclusion');
    await shows(page, 'Saved.');
    await eventually(async () => (await ask(query)).status === 200);
    expect((await ask('?other=1%27%20OR%20%271%27=%271')).status).toBe(403);
    expect(faults).toEqual([]);
  });

  test('what an attacker sent is text, with hidden characters as escapes', async () => {
    const sent = '<img src=x onerror=alert(1)>\u202egnp.exe';
    expect((await ask(`?name=${encodeURIComponent(sent)}`)).status).toBe(403);
    const { page, faults } = await signedIn('/attacks?type=xss');
    await firstRow(page);
    await page.click('tbody a');
    await shows(page, '<img src=x onerror=alert(1)>');
    expect(await textOf(page)).not.toContain('\u202e');
    expect(await page.$('main img')).toBeNull();
    expect(faults).toEqual([]);
  });

  test('a site is created from the overview and serves', async () => {
    const { page, faults } = await signedIn('/sites');
    await press(page, 'Create a site');
    await page.type('input[name=host]', 'shop.example');
    await page.type('input[name=origin]', `http://127.0.0.1:${product.managementPort}`);
    await page.keyboard.press('Enter');
    await shows(page, 'Created shop.example.');
    const rows = (): Promise<string> => page.$eval('tbody', (body) => body.textContent ?? '');
    await eventually(async () => (await rows()).includes('shop.example'));
    expect(faults).toEqual([]);
  });

  test('keys lead to the pages and the filter', async () => {
    const { page } = await signedIn('/');
    await page.waitForSelector('header ~ main h1');
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await shows(page, 'Kind of attack');
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.name')).toBe('outcome');
  });

  test('the code of a page comes while the session is continued', async () => {
    const { page } = await signedIn('/attacks');
    await shows(page, 'Kind of attack');
    await page.setRequestInterception(true);
    const seen: string[] = [];
    const held: HTTPRequest[] = [];
    let holds = true;
    page.on('request', (request) => {
      seen.push(request.url());
      if (holds && request.url().endsWith('/Refresh')) held.push(request);
      else void request.continue();
    });
    const reloaded = page.reload();
    await eventually(() => seen.some((url) => /\/attacks-\w+\.js$/.test(url)));
    await eventually(() => held.length > 0);
    expect(held.map((request) => request.response())).toEqual([null]);
    holds = false;
    for (const request of held) await request.continue();
    await reloaded;
    await shows(page, 'Kind of attack');
  });

  test('rows stay as they are, with a notice, where the code that sorts does not come', async () => {
    const { page } = await open('/access?tab=roles');
    await enterPassword(page);
    await page.waitForSelector('main th button');
    await page.setRequestInterception(true);
    let refuses = true;
    page.on('request', (request) => {
      if (refuses && /sort-rows-\w+\.js$/.test(request.url())) void request.abort();
      else void request.continue();
    });
    await page.click('main th button');
    await shows(page, 'The rows could not be sorted: the server did not answer.');
    expect(await page.$('main th[aria-sort]')).toBeNull();
    expect(await axeFindings(page)).toEqual([]);
    refuses = false;
    await Promise.all([page.waitForNavigation(), press(page, 'Try again')]);
    await page.waitForSelector('main th button');
    await page.click('main th button');
    await page.waitForSelector('main th[aria-sort=ascending]');
    expect(await textOf(page)).not.toContain('could not be sorted');
  });

  test('the start is at most 60 KB packed, each page after it at most 45 KB', () => {
    const folder = join(root, '.build', 'console');
    const packed = (name: string): number => gzipSync(readFileSync(join(folder, name))).length;
    const imports = (name: string): string[] =>
      [...readFileSync(join(folder, name), 'utf8').matchAll(/(?:from|import)"\.\/([\w.-]+)"/g)].map(
        ([, file]) => file!,
      );
    const reach = (name: string): Set<string> => {
      const seen = new Set([name]);
      for (const one of seen) for (const next of imports(one)) seen.add(next);
      return seen;
    };
    const names = builtFiles();
    const main = names.find((name) => /^main-\w+\.js$/.test(name))!;
    const start = [...reach(main), ...names.filter((name) => name.endsWith('.css'))];
    const startBytes = start.reduce((sum, name) => sum + packed(name), 0);
    expect(startBytes).toBeGreaterThan(10_000);
    expect(startBytes).toBeLessThan(60 * 1024);
    // The page asks for all of them at once: none waits for another to name it.
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    const ahead = [...html.matchAll(/"modulepreload" href="\/assets\/([\w.-]+)"/g)];
    expect(new Set([main, ...ahead.map(([, name]) => name!)])).toEqual(reach(main));
    const pages = names.filter((name) => pageFiles.some((file) => name.startsWith(`${file}-`)));
    expect(pages).toHaveLength(pageFiles.length);
    for (const page of pages) {
      const own = [...reach(page)].filter((name) => !start.includes(name));
      expect(
        own.reduce((sum, name) => sum + packed(name), 0),
        page,
      ).toBeLessThan(45 * 1024);
    }
  });
});
