/** The headless Chromium in which benchmarks measure pages. */

import { existsSync } from 'node:fs';
import puppeteer, { type Browser } from 'puppeteer-core';

const paths = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** Starts one that takes the product's own certificate. Errors: throws where none is installed. */
export function startChromium(): Promise<Browser> {
  const path = paths.find((one) => existsSync(one));
  if (path === undefined) throw new Error(`Chromium is not installed: none of ${paths.join(', ')}`);
  return puppeteer.launch({
    executablePath: path,
    headless: 'shell',
    acceptInsecureCerts: true,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking'],
  });
}
