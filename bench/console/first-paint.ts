/**
 * How long a browser that was never there takes to show the console over TLS: from the request to
 * the first text of the sign-in page, and of a page of somebody who is signed in.
 */

import type { Browser, Page } from 'puppeteer-core';

/** Milliseconds from the start of a navigation. */
export interface FirstPaint {
  /** The first text or picture. */
  readonly paintMs: number;
  /** The field or heading that a person waits for, ready for input. */
  readonly readyMs: number;
  /** Bytes over the wire. */
  readonly bytes: number;
}

/** Opens an address in a context without cache and cookies, and waits for `selector`. */
export async function firstPaint(
  browser: Browser,
  url: string,
  selector: string,
): Promise<FirstPaint> {
  const context = await browser.createBrowserContext();
  try {
    const page = await context.newPage();
    return await timed(page, url, selector);
  } finally {
    await context.close();
  }
}

/** The same in a page that is there: its cookies are sent, its cache is not used. */
export async function timed(page: Page, url: string, selector: string): Promise<FirstPaint> {
  await page.setCacheEnabled(false);
  // The page itself notes when what is waited for appears: asking it from here costs time.
  await page.evaluateOnNewDocument(`(() => {
    const look = () => {
      if (document.querySelector(${JSON.stringify(selector)}) === null) return;
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(() => { window.readyMs = performance.now(); }));
    };
    const watch = new MutationObserver(look);
    watch.observe(document, { childList: true, subtree: true });
  })()`);
  await page.goto(url, { waitUntil: 'load' });
  await page.waitForFunction('window.readyMs !== undefined');
  return (await page.evaluate(`(() => {
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    const files = [...performance.getEntriesByType('navigation'),
      ...performance.getEntriesByType('resource')];
    return {
      paintMs: paint.startTime,
      readyMs: window.readyMs,
      bytes: files.reduce((sum, one) => sum + one.transferSize, 0),
    };
  })()`)) as FirstPaint;
}
