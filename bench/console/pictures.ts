/**
 * Makes the pictures of the README from the running product: the overview and the page of an event.
 * Usage: node .build/bench/console/pictures.js FOLDER [all] [SECONDS] [LANGUAGE] [NAMES]. With
 * `all` it makes one of every page, wide and narrow, light and dark, with some records in the
 * lists; SECONDS is how long the recorded traffic takes, LANGUAGE the tag of what the pages speak,
 * NAMES a pattern of the pictures that are wanted, such as `settings.*light`.
 */

import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { makeRecords } from './demo-records.ts';
import { sendRecord } from './demo-traffic.ts';
import { startChromium } from '../chromium.ts';
import { startProduct, type Product } from '../product.ts';
import { signIn } from './sign-in.ts';

const [folder = '.', which = '', seconds = '20', language = 'en', names = ''] =
  process.argv.slice(2);
const namesWanted = new RegExp(names);
const host = 'shop.example';
const chosen = 'a password for pictures 1';
const pages = {
  ...{ overview: '/?span=1h', attacks: '/attacks', live: '/attacks?live=1', logs: '/logs' },
  ...{ errors: '/logs?tab=errors', keeping: '/logs?tab=keeping', alerts: '/alerts' },
  ...{ rules: '/alerts?tab=rules', channels: '/alerts?tab=channels', sites: '/sites' },
  ...{ policies: '/policies', tuning: '/tuning', protection: '/protection', apis: '/apis' },
  ...{ limits: '/protection?tab=limits', countries: '/protection?tab=countries' },
  ...{ trust: '/protection?tab=trust', certificates: '/certificates', nodes: '/nodes' },
  ...{ users: '/access', roles: '/access?tab=roles', tokens: '/access?tab=tokens' },
  ...{ sessions: '/access?tab=sessions', audit: '/access?tab=audit', health: '/settings' },
  ...{ silences: '/alerts?tab=silences', versions: '/settings?tab=updates' },
  ...{ signins: '/settings?tab=sign-in', services: '/settings?tab=services' },
  ...{ settings: '/settings?tab=settings', operations: '/operations', account: '/account' },
} as const;

mkdirSync(folder, { recursive: true });
const origin = createServer((_request, response) => response.end('a page of the shop'));
await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
const originPort = (origin.address() as AddressInfo).port;
const product = await startProduct();
const browser = await startChromium();
try {
  const page = await (await browser.createBrowserContext()).newPage();
  await page.setViewport({ width: 1440, height: 900 });
  if (which === 'all') await picture(page, product, 'sign-in', '/', 'input[type=password]');
  await firstRun(page, product);
  const refused = await sendRecord(product.proxyPort, host, Number(seconds));
  process.stdout.write(`${refused} requests of the record were refused\n`);
  const event = await eventPath(page, product);
  const wanted = which === 'all' ? { ...pages, ...(await details(page, product)), event } : null;
  if (which === 'all') {
    await makeRecords(page, chosen);
    await page.evaluate(`localStorage.setItem('waf-language', '${language}')`);
  }
  if (wanted === null) {
    await page.setViewport({ width: 1280, height: 800 });
    await picture(page, product, 'overview', pages.overview);
    await picture(page, product, 'event', event);
  } else await everyPage(page, product, wanted);
} finally {
  await browser.close();
  await product.stop();
  origin.closeAllConnections();
  origin.close();
}

/** Replaces the first password, as the first run asks. */
async function firstRun(page: Page, { url, password }: Product): Promise<void> {
  await signIn(page, url, password);
  await page.waitForSelector('input[name=next]');
  if (which === 'all') await shoot(page, 'first-password');
  await page.type('input[name=next]', chosen);
  await page.type('input[name=again]', chosen);
  await page.keyboard.press('Enter');
  await page.waitForSelector('input[name=host]');
  if (which === 'all') await shoot(page, 'first-site');
  await page.type('input[name=host]', host);
  await page.type('input[name=origin]', `http://127.0.0.1:${originPort}`);
  await page.keyboard.press('Enter');
  await page.waitForFunction(`document.body.innerText.includes('${host} is served')`);
}

/** The path of the newest event of SQL injection. */
async function eventPath(page: Page, { url }: Product): Promise<string> {
  for (;;) {
    await page.goto(`${url}/attacks?type=sqli`);
    const link = await page.waitForSelector('main tbody a', { timeout: 2_000 }).catch(() => null);
    const path = await link?.evaluate((one) => one.getAttribute('href'));
    if (typeof path === 'string') return path;
  }
}

/** Pages of one site and one policy. */
async function details(page: Page, { url }: Product): Promise<Record<string, string>> {
  const first = async (path: string): Promise<string> => {
    await page.goto(`${url}${path}`);
    const link = await page.waitForSelector(`main tbody a[href^="${path}/"]`);
    return (await link!.evaluate((one) => one.getAttribute('href'))) ?? path;
  };
  const [site, policy] = [await first('/sites'), await first('/policies')];
  const views = [
    ...['names', 'routes', 'tls', 'inspection', 'challenges', 'limits', 'trust', 'delivery'],
  ];
  const tabs = ['settings', 'exclusions', 'rules', 'test', 'versions'];
  return Object.fromEntries([
    ...views.map((view) => [`site-${view}`, `${site}?tab=${view}`]),
    ...tabs.map((tab) => [`policy-${tab}`, `${policy}?tab=${tab}`]),
  ]) as Record<string, string>;
}

async function everyPage(
  page: Page,
  from: Product,
  wanted: Readonly<Record<string, string>>,
): Promise<void> {
  for (const theme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    for (const width of [1440, 390]) {
      await page.setViewport({ width, height: 900 });
      for (const [name, path] of Object.entries(wanted)) {
        const file = `${name}-${theme}-${width}`;
        if (namesWanted.test(file)) await picture(page, from, file, path);
      }
    }
  }
}

/** Opens a page, waits until it has loaded, and takes a picture of the window. */
async function picture(
  page: Page,
  { url }: Product,
  name: string,
  path: string,
  selector = 'header ~ main h1',
): Promise<void> {
  await page.goto(`${url}${path}`);
  await page.waitForSelector(selector);
  await page.waitForFunction(`!/Loading…|加载中…/.test(document.body.innerText)`);
  // Names and hits follow the list that they belong to; a live view keeps one stream open.
  await page.waitForNetworkIdle({ idleTime: 200, concurrency: 1 });
  await shoot(page, name);
}

async function shoot(page: Page, name: string): Promise<void> {
  if (which === 'all') {
    const at = join(folder, `${name}.png`);
    await page.screenshot({ path: at as `${string}.png`, fullPage: true });
    return;
  }
  const at = join(folder, `${name}.webp`);
  await page.screenshot({ path: at as `${string}.webp`, type: 'webp', quality: 80 });
}
