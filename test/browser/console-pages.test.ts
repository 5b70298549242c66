/** All pages of the console: texts of attackers, axe, widths, Chinese, rights, conflicts. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, root, startProduct, type Product } from '../support/product.ts';
import { asField, attackTexts, escaped } from './attack-texts.ts';
import { axeFindings, missingChromium, overflow, startChromium } from './chromium.ts';
import * as driver from './console-driver.ts';
import { detailPaths, follow, paths, signedIn as signIn } from './console-paths.ts';

const skip = missingChromium ?? missingBuild;
/** Tests open some forty pages. */
const testMs = 600_000;

const wide = { width: 1440, height: 900 };
const narrow = { width: 390, height: 900 };
let browser: Browser;
let product: Product;
let token: string;

const consoleUrl = (path: string): string => `http://127.0.0.1:${product.managementPort}${path}`;

const signedIn = (path = '/'): ReturnType<typeof signIn> => signIn(browser, product, path);

/** Opens a page and waits for all that it loads. */
async function visit(page: Page, path: string): Promise<void> {
  await page.goto(consoleUrl(path));
  await page.waitForSelector('header ~ main h1, header ~ main .empty');
  await driver.settled(page);
}

/** Sends every text of an attacker, and gives some of them as names to what pages list. */
async function plantAttackTexts(): Promise<void> {
  expect(new Set(attackTexts).size).toBe(200);
  for (const text of attackTexts) {
    const headers = { 'user-agent': asField(text), 'x-file': asField(text) };
    const path = `/${escaped(text)}?name=${escaped(text)}`;
    expect(await driver.sendRaw(product, path, headers)).toBeGreaterThan(0);
  }
  const name = attackTexts[3]!;
  const note = attackTexts[90]!;
  const ipList = { name: attackTexts[1], entries: [{ value: '192.0.2.1', note }] };
  await driver.call(product, token, 'IpListService/CreateIpList', { ipList });
  const upstreams = [{ inline: { url: 'http://127.0.0.1:9', weight: 1 } }];
  const site = { name, primaryHost: 'shop.example', upstreams };
  await driver.call(product, token, 'SiteService/CreateSite', { site });
}

/** No text of an attacker ran, became an element, hides something or widens the page. */
async function expectHarmless(page: Page, path: string): Promise<void> {
  expect(await page.evaluate('window.ran'), path).toBeUndefined();
  const strange = 'main img, main script, main style, main iframe, main a[href^="javascript"]';
  expect(await page.$(strange), path).toBeNull();
  expect(await driver.textOf(page), path).not.toMatch(/[\u202e\u2066\u200b\u0000]/);
  expect(await overflow(page), path).toBe(0);
}

/** axe finds nothing in either theme and width; in the narrow one nothing scrolls sideways. */
async function expectAccessible(page: Page, path: string): Promise<void> {
  for (const viewport of [wide, narrow]) {
    await page.setViewport(viewport);
    const where = `${path} ${viewport.width}`;
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
    expect(await axeFindings(page), where).toEqual([]);
    // A theme changes colors alone.
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    expect(await axeFindings(page, ['color-contrast']), `${where} dark`).toEqual([]);
    expect(await overflow(page), where).toBe(0);
  }
  expect(await sidewaysTables(page), path).toEqual([]);
  expect(await squeezed(page), path).toEqual([]);
  await page.setViewport(wide);
}

/** Tables that are wider than their place. */
const sidewaysTables = (page: Page): Promise<string[]> =>
  page.$$eval('main .scroll', (all) =>
    all
      .filter((one) => one.scrollWidth > one.clientWidth)
      .map((one) => one.getAttribute('aria-label') ?? one.className),
  );

/** Buttons and links of rows whose words break within: higher than two lines. */
const squeezed = (page: Page): Promise<string[]> =>
  page.$$eval('main button, main td.acts a', (all) =>
    all
      .filter((one) => one.getBoundingClientRect().height > 60)
      .map((one) => one.textContent?.trim() ?? ''),
  );

interface Button {
  readonly words: string;
  readonly disabled: boolean;
  /** What a disabled one says of the right that is missing. */
  readonly why: string;
}

/** Every button of a page, with all folds open, but for those that sort rows. */
const buttons = `(() => {
  for (const fold of document.querySelectorAll('main details')) fold.open = true;
  return [...document.querySelectorAll('main button:not(th *)')].map((one) => ({
    words: one.textContent.trim(), disabled: one.disabled,
    why: [one.title, ...[...(one.closest('form, .actions') ?? one).querySelectorAll('small')]
      .map((small) => small.textContent)].find((text) => text.includes('(')) ?? '',
  }));
})()`;

/**
 * Buttons that an auditor may press: they change nothing, or only the own account. The first of all
 * operations only reads.
 */
const mayPress = new RegExp(
  '^(?:Edit|Close|Open|Pause|Cancel|Newest|Show more|Look up|Whose address would count\\?|' +
    'Check the chain now|Create a token|Look for updates|Change password|' +
    'Set up an authenticator app|Add a passkey|Call|←)$',
);

/** Names of formats, protocols, parts and commands, and what the data of the test is called. */
const latinNames: ReadonlySet<string> = new Set([
  ...['ACME', 'API', 'APIs', 'CRS', 'DNS', 'GraphQL', 'HSTS', 'HTTP', 'JSON', 'OpenAPI', 'PEM'],
  ...['TLS', 'URL', 'WAF', 'WSDL', 'protobuf', 'Let', 'Encrypt', 'For', 'Forwarded', 'https'],
  ...['Administrator', 'Built', 'admin', 'node', 'demo', 'shop', 'localhost', 'http', 'DEMO'],
  ...['configuration', 'engine', 'origins', 'overload', 'settings', 'store'],
  // The first call of the page of all calls.
  'BeginPasskeyRegistration',
  // What HTTP and security.txt call their parts.
  ...['CORS', 'Cookie', 'security', 'txt', 'well', 'known', 'Contact', 'Expires', 'gzip'],
  // Standards, languages and makers that settings name.
  ...['OpenID', 'SAML', 'RADIUS', 'NAS', 'SIEM', 'Syslog', 'syslog', 'WebSocket', 'gRPC', 'PHP'],
  ...['RateLimit', 'SHA', 'NameID', 'Azure', 'OpenAI', 'HTML', 'request', 'wordpress', 'blog'],
  ...['dokuwiki', 'text', 'html', 'models', 'configured', 'access', 'error'],
  // What fields and cookies of a second pool say, and what a second inspection costs.
  ...['always', 'never', 'CPU'],
  // What comes with the product by a name, and what an example of an exclusion names.
  ...['Auditor', 'Operator', 'Light', 'Standard', 'SecLang', 'ARGS', 'comment'],
  // How channels are called that messages go to.
  ...['Webhook', 'Slack', 'PagerDuty', 'STARTTLS', 'TSIG', 'base64', 'hooks', 'waf'],
  // What passkeys need, and lists of certificates that hold no more.
  ...['HTTPS', 'PIN', 'CRL'],
  // Attributes of cookies.
  ...['Secure', 'HttpOnly', 'SameSite'],
  // The name of an attack, in every language.
  'BREACH',
  // As in waf-origin, the usual name of a cookie.
  'origin',
  ...['waf', 'api', 'enforce', 'example', 'com', 'management', 'help'],
]);

/** The audit trail names fields as the API does. */
const saysOnlyItsOwn = (path: string): boolean => !/tab=audit/.test(path);

/** Texts of a page without code, links and choices, which name what people made. */
const ownTexts = `(() => {
  const found = [];
  const walk = (part) => {
    if (/^(?:CODE|PRE|TEXTAREA|TIME|A|OPTION)$/.test(part.nodeName)) return;
    if (part.nodeType === 3) found.push(part.textContent);
    for (const child of part.childNodes) walk(child);
  };
  walk(document.querySelector('main'));
  return found;
})()`;

/** Words in Latin letters that the page itself says: not what people or programs named. */
async function latinWords(page: Page, path: string): Promise<string[]> {
  const texts = (await page.evaluate(ownTexts)) as string[];
  const found = texts.flatMap((text) => text.match(/[A-Za-z][A-Za-z_]{2,}/g) ?? []);
  return found.filter((word) => !latinNames.has(word)).map((word) => `${path}: ${word}`);
}

describe.skipIf(skip !== null)(
  `console pages (${skip ?? 'in Chromium'})`,
  { timeout: testMs },
  () => {
    beforeAll(async () => {
      product = await startProduct('--workers', '1', '--management-tls', 'off');
      await driver.choosePassword(product);
      token = await driver.tokenOf(product);
      browser = await startChromium();
    }, testMs);
    afterAll(async () => {
      await browser?.close();
      await product?.stop();
    });

    // Before pages show what attackers sent.
    test('no page keeps its English heading in Chinese', async () => {
      const { page } = await signedIn();
      const words: string[] = [];
      const headings = async (): Promise<string[]> => {
        const found: string[] = [];
        for (const path of [...paths, ...(await detailPaths(product, token))]) {
          await visit(page, path);
          const texts = await page.$$eval('main h1, main th, main .tabs a, main summary', (parts) =>
            parts.map((part) => part.textContent?.trim() ?? ''),
          );
          found.push(...texts);
          if (saysOnlyItsOwn(path)) words.push(...(await latinWords(page, path)));
        }
        return found;
      };
      await page.select('header select', 'zh-CN');
      const chinese = await headings();
      expect(words).toEqual([]);
      expect(chinese.length).toBeGreaterThan(80);
      const names = /^(?:API|User-Agent|[A-Z]\w*Service|Health|CheckForUpdates|demo|[A-Z]\w+)$/;
      expect(chinese.filter((text) => /^[A-Za-z ,.]+$/.test(text) && !names.test(text))).toEqual(
        [],
      );
    });

    // One visit of each page for all that is looked at there.
    test('200 texts of attackers run nothing on any page, and axe finds nothing there', async () => {
      await plantAttackTexts();
      const { page, faults } = await signedIn();
      await eventually(async () => {
        await visit(page, '/attacks');
        return (await page.$$('tbody tr')).length >= 50;
      });
      const events = await page.$$eval('tbody a', (links) =>
        links.map((link) => link.getAttribute('href') ?? ''),
      );
      const [event = '', ...others] = events.filter((_, index) => index % 5 === 0);
      for (const path of [...paths, ...(await detailPaths(product, token)), event]) {
        await follow(page, path);
        await expectHarmless(page, path);
        await expectAccessible(page, path);
      }
      await page.setViewport(wide);
      for (const path of others) {
        await follow(page, path);
        await expectHarmless(page, path);
      }
      expect(faults).toEqual([]);
    });

    test('a planted innerHTML is refused by the page and found in the source', async () => {
      const { page, faults } = await signedIn();
      const plant = `document.querySelector('main').innerHTML = '<img src=x onerror=window.ran=1>'`;
      await expect(page.evaluate(plant)).rejects.toThrow(/TrustedHTML/);
      expect(await page.evaluate('window.ran')).toBeUndefined();
      expect(faults.join('\n')).toMatch(/TrustedHTML|Trusted Type/);
      const sinks =
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|setAttribute\('on/;
      expect(sinks.test(plant)).toBe(true);
      const folder = join(root, 'control', 'console');
      const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
        /\.tsx?$/.test(name),
      );
      expect(sources.length).toBeGreaterThan(40);
      const bad = sources.filter((name) => sinks.test(readFileSync(join(folder, name), 'utf8')));
      expect(bad).toEqual([]);
    });

    test('two editors of one policy: the second sees both versions and loses nothing', async () => {
      const template = await driver.call(product, token, 'PolicyService/ListPolicyTemplates', {});
      const templateId = (template['items'] as { id: string }[])[0]!.id;
      const made = await driver.call(product, token, 'PolicyService/CreatePolicyFromTemplate', {
        templateId,
        name: 'Two editors',
      });
      const { id } = made['policy'] as { id: string };
      const { page } = await signedIn(`/policies/${id}`);
      const other = await signedIn(`/policies/${id}`);
      for (const one of [page, other.page]) await one.waitForSelector('input[name=inbound]');
      await page.locator('input[name=inbound]').fill('7');
      await other.page.locator('input[name=inbound]').fill('9');
      await driver.press(other.page, 'Save');
      await driver.shows(other.page, 'Saved.');
      await driver.press(page, 'Save');
      await driver.shows(page, 'Somebody else saved this meanwhile.');
      expect(await page.$eval('.conflict dd', (part) => part.textContent)).toBe('9');
      expect(await page.$eval('input[name=inbound]', (input) => Reflect.get(input, 'value'))).toBe(
        '7',
      );
      await driver.press(page, 'Save mine over it');
      await driver.shows(page, 'Saved.');
      const now = await driver.call(product, token, 'PolicyService/GetPolicy', { id });
      expect(now).toMatchObject({ policy: { crsCore: { inboundAnomalyScoreThreshold: 7 } } });
    });

    test('what a role does not allow is said before the click, on every page', async () => {
      const { items } = (await driver.call(product, token, 'RoleService/ListRoles', {})) as {
        items: { id: string; name: string }[];
      };
      const auditor = items.find(({ name }) => name === 'Auditor')!;
      const user = { username: 'reader', email: 'reader@shop.example' };
      const password = 'a password of a reader 1';
      const { user: made } = await driver.call(product, token, 'UserService/CreateUser', {
        ...{ user, password },
      });
      await driver.call(product, token, 'UserService/AssignRoles', {
        ...{ userId: (made as { id: string }).id, roleIds: [auditor.id] },
      });
      const { page, faults } = await driver.openPage(browser, consoleUrl('/policies'));
      await driver.enterPassword(page, password, 'reader');
      await driver.shows(page, 'Make a policy from a template');
      const found: string[] = [];
      let disabled = 0;
      for (const path of [...paths, ...(await detailPaths(product, token))].filter(
        (one) => one !== '/start',
      )) {
        await follow(page, path);
        const seen = (await page.evaluate(buttons)) as Button[];
        disabled += seen.filter((one) => one.disabled).length;
        found.push(
          ...seen
            .filter((one) => (one.disabled ? one.why === '' : !mayPress.test(one.words)))
            .map(({ words }) => `${path}: ${words}`),
        );
      }
      expect(found).toEqual([]);
      expect(disabled).toBeGreaterThan(30);
      await follow(page, '/operations?service=UserService&method=DeleteUser');
      expect(await page.evaluate(buttons)).toMatchObject([
        { words: 'Call', disabled: true, why: expect.stringContaining('(user:delete') },
      ]);
      expect(faults.filter((fault) => !/status of 403\b/.test(fault))).toEqual([]);
    });
  },
);
