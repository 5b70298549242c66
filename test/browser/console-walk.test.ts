/** Every button, link and fold of every page is pressed once: nothing is dead, blank or refused. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, HTTPRequest, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct } from '../support/product.ts';
import { missingChromium, startChromium } from './chromium.ts';
import { choosePassword, mayBeMissing, settled, tokenOf } from './console-driver.ts';
import { detailPaths, follow, paths, signedIn } from './console-paths.ts';
import { World } from './tasks/task.ts';

const skip = missingChromium ?? missingBuild;
const testMs = 600_000;
/** More than any page has. */
const pressesMax = 150;
/** What the browser says of an answer to a form that was pressed empty; the page shows it. */
const usualFault = /status of (?:400|404|409) /;

const origin = createServer((_request, response) => {
  response.setHeader('content-type', 'text/plain').end('ok');
});
let browser: Browser;
let world: World;
let all: readonly string[];

/** The same where a view needs a right: it names it in place of what it would show. */
const deniedFault = /status of 403 /;

/** What a press did. */
interface Pressed {
  /** What stands on the control, and where it is. */
  readonly name: string;
  /** Something else lies over it. */
  readonly covered: boolean;
  /** The page changed, went elsewhere, or asks for a field. */
  readonly answered: boolean;
}

/** What the page is once nothing is on its way any more. */
interface After {
  /** There is still a page with text. */
  readonly shown: boolean;
  /** A form says what is wrong, or asks for what is missing. */
  readonly told: boolean;
}

/**
 * Presses the next control that was not pressed, of rows that have the same one the first, and says
 * what changed within three frames: what a person sees at once. At the first press all folds open.
 * What accepts a question is left out: tasks do that. Null for no control. Runs in the page.
 */
const pressNext = `async (pressed, first) => {
  if (first) for (const fold of document.querySelectorAll('main details')) fold.open = true;
  const nameOf = (one) => {
    const part = one.closest('form, details, section, .scroll');
    const title = part?.getAttribute('aria-label') ??
      part?.querySelector('h2, summary')?.textContent ?? '';
    const to = one.tagName === 'A' ? one.getAttribute('href').replace(/[?].*/, '') : '';
    const record = to.split('/').length > 2;
    const words = record ? '' : (one.ariaLabel ?? one.textContent).trim();
    return [one.tagName, title, words, record ? to.replace(/[^/]+$/, 'ID') : to].join(' | ');
  };
  const control = [...document.querySelectorAll('main button, main a, main summary')]
    .filter((one) => !one.disabled && one.checkVisibility())
    .filter((one) => !one.matches('[aria-current], .ask .danger'))
    .find((one) => !pressed.includes(nameOf(one)));
  if (control === undefined) return null;
  const name = nameOf(control);
  control.scrollIntoView({ block: 'center' });
  const { x, y, width, height } = control.getClientRects()[0];
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  const from = location.href;
  let changes = 0;
  const watch = new MutationObserver((all) => { changes += all.length; });
  const parts = { subtree: true, childList: true, attributes: true, characterData: true };
  watch.observe(document.documentElement, parts);
  control.click();
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  watch.disconnect();
  const asks = document.activeElement?.matches(':invalid') === true;
  return {
    name,
    covered: !control.contains(top),
    answered: changes > 0 || location.href !== from || asks,
  };
}`;

/** Runs in the page. */
const look = `(async () => {
  for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
  const main = document.querySelector('header ~ main');
  const asks = document.activeElement?.matches(':invalid') === true;
  return {
    shown: main !== null && main.innerText.trim().length > 20,
    told: asks || main?.querySelector('.notice, [aria-invalid=true], .empty') !== null,
  };
})()`;

/** What the browser says of each refused answer, which `Calls` knows with its call. */
const ofAnswer = /^Failed to load resource/;

/** The calls of a page: those on their way, and what was refused since it was asked last. */
class Calls {
  readonly #open = new Set<HTTPRequest>();
  #refused: string[] = [];

  constructor(page: Page) {
    page.on('request', (request) => {
      if (request.method() === 'POST') this.#open.add(request);
    });
    page.on('requestfinished', (request) => {
      const status = request.response()?.status() ?? 0;
      const { pathname } = new URL(request.url());
      const usual = status === 404 && mayBeMissing.test(pathname);
      if (status >= 400 && !usual) this.#refused.push(`${pathname}: status of ${status} `);
      this.#open.delete(request);
    });
    page.on('requestfailed', (request) => this.#open.delete(request));
  }

  get open(): number {
    return this.#open.size;
  }

  /** What was refused since the last time, so that each press has its own. */
  takeRefused(): string[] {
    return this.#refused.splice(0);
  }
}

/** Who walks. */
interface Walker {
  readonly page: Page;
  readonly faults: string[];
  readonly calls: Calls;
}

/** Waits until no call is on its way, nor one that follows an answer. */
async function quiet({ page, calls }: Walker): Promise<After> {
  for (;;) {
    await settled(page);
    await eventually(() => calls.open === 0);
    const after = (await page.evaluate(look)) as After;
    if (calls.open === 0) return after;
  }
}

/** What is wrong with the controls of a page, and the names of all that were pressed. */
async function walk(
  walker: Walker,
  path: string,
): Promise<{ wrong: readonly string[]; pressed: readonly string[] }> {
  const { page, faults, calls } = walker;
  const wrong: string[] = [];
  const pressed: string[] = [];
  const open = async (): Promise<void> => {
    await follow(page, path);
    const { told } = await quiet(walker);
    const refused = calls.takeRefused().filter((fault) => !(told && deniedFault.test(fault)));
    wrong.push(...refused.map((one) => `${path}: opened: ${one}`));
  };
  await open();
  while (pressed.length < pressesMax) {
    const args = `${JSON.stringify(pressed)}, ${pressed.length === 0}`;
    const did = (await page.evaluate(`(${pressNext})(${args})`)) as Pressed | null;
    if (did === null) return { wrong, pressed };
    pressed.push(did.name);
    const { shown, told } = await quiet(walker);
    const said = [
      ...faults.splice(0).filter((fault) => !ofAnswer.test(fault)),
      ...calls
        .takeRefused()
        .filter((fault) => !(told && usualFault.test(fault)))
        // A link leads to a view, which says what it needs; no button may fail for a right.
        .filter((fault) => !(told && did.name.startsWith('A |') && deniedFault.test(fault))),
    ];
    wrong.push(
      ...[
        did.covered && 'lies under something',
        !did.answered && 'does nothing',
        !shown && 'leads to an empty page',
        ...said,
      ].flatMap((what) => (what === false ? [] : [`${path}: ${did.name}: ${what}`])),
    );
    if (page.url() !== `${world.url}${path}`) await open();
  }
  throw new Error(`${path} has no end of controls`);
}

/** The same of all pages. */
async function walkAll(
  opened: Pick<Walker, 'page' | 'faults'>,
  pages: readonly string[],
): Promise<{ wrong: readonly string[]; presses: number }> {
  const wrong: string[] = [];
  let presses = 0;
  const walker = { ...opened, calls: new Calls(opened.page) };
  for (const path of pages) {
    const found = await walk(walker, path);
    wrong.push(...found.wrong);
    presses += found.pressed.length;
  }
  return { wrong, presses };
}

/** Who walks beside the administrator. */
interface Role {
  readonly name: string;
  /** What a role of our own may do. */
  readonly may?: readonly string[];
  /** Some addresses to which links lead it, and some to which none do. */
  readonly led: readonly string[];
  readonly kept: readonly string[];
}

const roles: readonly Role[] = [
  { name: 'Auditor', led: ['/', '/attacks', '/access?tab=audit'], kept: [] },
  {
    name: 'Site editor',
    may: ['site:read', 'site:write', 'log:read'],
    led: ['/attacks', '/sites', '/access?tab=sessions'],
    kept: ['/', '/policies', '/nodes', '/settings', '/access?tab=roles', '/logs?tab=keeping'],
  },
  { name: 'WAF Operator', led: ['/policies', '/nodes'], kept: ['/access?tab=audit'] },
];

/** The id of a role that comes with the product, or of a new one. */
async function roleId(name: string, may: readonly string[] | undefined): Promise<string> {
  if (may !== undefined) {
    const { role } = await world.call('RoleService/CreateRole', {
      role: { name, permissions: may },
    });
    return (role as { id: string }).id;
  }
  const { items } = await world.call('RoleService/ListRoles', {});
  return (items as { id: string; name: string }[]).find((one) => one.name === name)!.id;
}

/**
 * Texts of three English words and more with nothing Chinese in them, but for what people and
 * programs write: code, times and choices among records. Runs in the page.
 */
const englishSentences = `(() => {
  for (const fold of document.querySelectorAll('main details')) fold.open = true;
  const found = [];
  const walk = (part) => {
    if (/^(?:CODE|PRE|TEXTAREA|TIME|OPTION)$/.test(part.nodeName)) return;
    const text = part.nodeType === 3 ? part.textContent.trim() : '';
    const english = /[A-Za-z]{2,}(?: [A-Za-z]{2,}){2}/.test(text);
    if (english && !/\\p{Script=Han}/u.test(text)) found.push(text);
    for (const child of part.childNodes) walk(child);
  };
  walk(document.querySelector('main'));
  return found;
})()`;

/** A site whose origin refuses connections, and an exclusion that an event led to. */
async function makeTroubles(): Promise<void> {
  const { eventId } = await world.refused('troubled');
  const site = {
    ...{ name: 'deaf', primaryHost: 'deaf.example', status: 'RESOURCE_STATUS_ACTIVE' },
    upstreams: [{ inline: { url: 'http://127.0.0.1:9', weight: 1 } }],
  };
  await world.call('SiteService/CreateSite', { site });
  const { items } = await world.call('PolicyService/ListPolicies', {});
  const policyId = (items as { id: string }[])[0]!.id;
  await world.exclude(policyId, 'ARGS:q', { rationale: `from request ${eventId}` });
  await eventually(async () => {
    await world.get('/', world.client(), 'deaf.example');
    const { checks } = await world.call('SystemService/Health', {});
    return (checks as { message?: string }[]).some(({ message }) => message?.includes('deaf'));
  });
}

/** Addresses that the navigation, or the tabs of a page, lead to. */
const linksOf = (page: Page, selector: string): Promise<string[]> =>
  page.$$eval(selector, (all) => all.map((one) => one.getAttribute('href') ?? ''));

/** What a page shows beside its title, its tabs and what was refused. Runs in the page. */
const shownText = `(() => {
  const main = document.querySelector('header ~ main').cloneNode(true);
  for (const one of main.querySelectorAll('.page-head, nav.tabs, .notice')) one.remove();
  return main.textContent.trim();
})()`;

/** Pages and tabs that a person is led to, and those of them that show nothing but a refusal. */
async function offeredTo(page: Page): Promise<{ offered: string[]; refused: string[] }> {
  const offered: string[] = [];
  const refused: string[] = [];
  const see = async (path: string): Promise<void> => {
    await follow(page, path);
    offered.push(path);
    if ((await page.evaluate(shownText)) === '') refused.push(path);
  };
  for (const path of await linksOf(page, '#menu nav a')) {
    await see(path);
    for (const tab of await linksOf(page, 'main nav.tabs a:not([aria-current])')) await see(tab);
  }
  return { offered, refused };
}

describe.skipIf(skip !== null)(`walk (${skip ?? 'in Chromium'})`, { timeout: testMs }, () => {
  beforeAll(async () => {
    const product = await startProduct('--workers', '1', '--management-tls', 'off');
    await choosePassword(product);
    const token = await tokenOf(product);
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    const { port } = origin.address() as AddressInfo;
    world = new World({ product, token, origin: `http://127.0.0.1:${port}`, securePort: 0 });
    const { eventId } = await world.refused('walked');
    all = [...paths, ...(await detailPaths(product, token)), `/attacks/${eventId}`];
    browser = await startChromium();
  }, testMs);
  afterAll(async () => {
    await browser?.close();
    await world?.product.stop();
    origin.closeAllConnections();
    origin.close();
  });

  test.each(roles)('$name may do all that is not disabled', async (role) => {
    const { name, may } = role;
    const username = name.toLowerCase().replace(' ', '-');
    const user = { username, email: `${username}@shop.example` };
    const password = 'a password of a reader 1';
    const { user: made } = await world.call('UserService/CreateUser', { user, password });
    const { id: userId } = made as { id: string };
    await world.call('UserService/AssignRoles', { userId, roleIds: [await roleId(name, may)] });
    const walker = await signedIn(browser, world.product, '/account', password, username);
    const { wrong, presses } = await walkAll(
      walker,
      all.filter((one) => one !== '/start'),
    );
    expect(wrong).toEqual([]);
    expect(presses).toBeGreaterThan(100);
    const { offered, refused } = await offeredTo(walker.page);
    expect(refused).toEqual([]);
    expect(offered).toEqual(expect.arrayContaining([...role.led]));
    expect(offered.filter((path) => role.kept.includes(path))).toEqual([]);
  });

  test('pages that have something to tell tell it in Chinese', async () => {
    await makeTroubles();
    const { page } = await signedIn(browser, world.product);
    await page.select('header select', 'zh-CN');
    const english = async () => (await page.evaluate(englishSentences)) as string[];
    const found: string[] = [];
    for (const path of all) {
      await follow(page, path);
      // What the API says in English stays so until the file of its Chinese is there.
      await eventually(async () => (await english()).length === 0).catch(async () => {
        found.push(...(await english()).map((text) => `${path}: ${text}`));
      });
    }
    expect(found).toEqual([]);
    await page.evaluate(`document.querySelector('main').append('a planted English sentence')`);
    expect(await page.evaluate(englishSentences)).toEqual(['a planted English sentence']);
  });

  test('an administrator presses everything, and everything answers', async () => {
    const { wrong, presses } = await walkAll(await signedIn(browser, world.product), all);
    expect(wrong).toEqual([]);
    expect(presses).toBeGreaterThan(250);
  });
});
