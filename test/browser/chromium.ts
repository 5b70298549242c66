/** A headless Chromium that speaks to loopback only, and what tests do with its pages. */

import { existsSync } from 'node:fs';
import axe from 'axe-core';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { patienceMs } from '../support/eventually.ts';

/** The engine alone does the same pages for two thirds of the CPU time of the whole browser. */
const path = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((one) =>
  existsSync(one),
);

/** Why no browser can be started; null where one can. */
export const missingChromium = path === undefined ? 'Chromium is not installed' : null;

/** Starts a browser. Every name but loopback's stays unresolved. */
export function startChromium(): Promise<Browser> {
  return puppeteer.launch({
    executablePath: path!,
    headless: 'shell',
    timeout: patienceMs,
    protocolTimeout: 2 * patienceMs,
    // The product's own certificate.
    acceptInsecureCerts: true,
    args: [
      ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking'],
      ...['--disable-component-update', '--no-first-run', '--mute-audio'],
      ...['--disable-gpu', '--disable-software-rasterizer'],
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
}

/** A page without the cookies of others; it waits as long as tests do. */
export async function newPage(browser: Browser): Promise<Page> {
  const page = await (await browser.createBrowserContext()).newPage();
  page.setDefaultTimeout(patienceMs);
  return page;
}

/** What axe finds wrong with a page, a line each; `rules`: by these alone. */
export async function axeFindings(page: Page, rules: readonly string[] = []): Promise<string[]> {
  // A page's own policy would forbid the script; this runs beside it.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source);
  // Of rules that pass, one node each is enough.
  const options = {
    resultTypes: ['violations'],
    ...(rules.length === 0 ? {} : { runOnly: rules }),
  };
  const found = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as {
    violations: { id: string; help: string; nodes: { html: string }[] }[];
    passes: unknown[];
  };
  if (found.passes.length === 0) throw new Error('axe checked nothing');
  return found.violations.map(({ id, help, nodes }) => `${id}: ${help} ${nodes[0]?.html ?? ''}`);
}

/** Pixels by which a page is wider than its window. */
export async function overflow(page: Page): Promise<number> {
  const root = 'document.documentElement';
  return (await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)) as number;
}
