/** The pages of the console, and how tests go through them. */

import type { Browser, Page } from 'puppeteer-core';
import type { Product } from '../support/product.ts';
import { call, enterPassword, managementUrl, openPage, settled } from './console-driver.ts';

/** The pages that need no record. */
export const paths: readonly string[] = [
  ...['/', '/attacks', '/logs', '/logs?tab=errors', '/logs?tab=keeping', '/alerts'],
  ...['/alerts?tab=rules', '/alerts?tab=channels', '/alerts?tab=silences', '/sites', '/policies'],
  ...['/tuning', '/protection', '/protection?tab=limits', '/protection?tab=countries'],
  ...['/protection?tab=trust', '/apis', '/certificates', '/nodes', '/access', '/access?tab=roles'],
  ...['/access?tab=tokens', '/access?tab=sessions', '/access?tab=audit'],
  ...['/settings', '/settings?tab=settings', '/settings?tab=updates'],
  ...['/settings?tab=sign-in', '/settings?tab=services'],
  ...['/operations', '/account', '/start'],
];

/** The views of one policy. */
export const policyTabs: readonly string[] = [
  ...['settings', 'exclusions', 'rules', 'ruleset', 'test', 'versions'],
];
/** The views of one site. */
export const siteTabs: readonly string[] = [
  ...['names', 'routes', 'tls', 'inspection', 'challenges', 'limits', 'trust', 'delivery'],
];

/** Pages of the first policy and the first site. */
export async function detailPaths(product: Product, token: string): Promise<string[]> {
  const first = async (method: string): Promise<string> => {
    const { items } = await call(product, token, method, {});
    return (items as { id: string }[])[0]!.id;
  };
  const policy = await first('PolicyService/ListPolicies');
  const site = await first('SiteService/ListSites');
  return [
    ...policyTabs.map((tab) => `/policies/${policy}?tab=${tab}`),
    ...siteTabs.map((view) => `/sites/${site}?tab=${view}`),
  ];
}

/** A page of a browser of its own, signed in by name and password, and what it complains about. */
export async function signedIn(
  browser: Browser,
  product: Product,
  path = '/',
  ...who: [password?: string, name?: string]
): Promise<{ page: Page; faults: string[] }> {
  const opened = await openPage(browser, `${managementUrl(product)}${path}`);
  await enterPassword(opened.page, ...who);
  await opened.page.waitForSelector('header ~ main h1');
  return opened;
}

/** Goes to a page as a link of the console does, and waits for all that it loads. */
export async function follow(page: Page, path: string): Promise<void> {
  // Two frames: the page that was open is gone.
  await page.evaluate(`(async () => {
    history.pushState(null, '', ${JSON.stringify(path)});
    dispatchEvent(new PopStateEvent('popstate'));
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
  })()`);
  await page.waitForSelector('header ~ main :is(h1, .empty, .notice)');
  await settled(page);
}
