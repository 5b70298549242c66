/**
 * Challenges of the bot gate in a browser: solved with script and without it, on a small screen, by
 * keyboard alone, in five languages; refused to a program and to a replay.
 */

import http from 'node:http';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { BotConfig } from '../../engine/contract/bot.ts';
import type { SiteConfig } from '../../engine/contract/site.ts';
import {
  Closing,
  httpOrigin,
  siteFor,
  startFront,
  type Running,
} from '../../engine/front/fixtures/fixture.ts';
import { noGuardServices } from '../../engine/guard/guard.ts';
import { pageTexts } from '../../engine/guard/bot/page-texts.ts';
import { readPageText, solve } from '../support/challenge-solver.ts';
import { randomSeed, RateTable, shareRates } from '../../engine/guard/rate-table.ts';
import { axeFindings, missingChromium, newPage, overflow, startChromium } from './chromium.ts';

const closing = new Closing();
let browser: Browser;

const usual: BotConfig = {
  mode: 'browser_check',
  challengeTtlSeconds: 600,
  clearanceTtlSeconds: 3_600,
  proofDifficulty: 12,
  bindNetwork: false,
  exemptPaths: [],
  exemptMethods: [],
  trusted: [],
  challengeCrawlers: false,
};

/** More zeros than a browser counts: none is through before all of a page was looked at. */
const endless = 40;

/** What the origin answers with. */
const welcome = '<!doctype html><title>shop</title><h1 id="shop">welcome</h1>';

async function startSite(bot: Partial<BotConfig> = {}, change: Partial<SiteConfig> = {}) {
  const asked: http.IncomingMessage[] = [];
  const port = await httpOrigin(closing, (request, response) => {
    asked.push(request);
    response.setHeader('Content-Type', 'text/html');
    response.end(welcome);
  });
  const site = siteFor(port, { bot: { ...usual, ...bot }, ...change });
  const rates = new RateTable(shareRates(randomSeed(), 64));
  const guards = { guardServices: { ...noGuardServices, rates } };
  const running = await startFront(closing, [site], null, {}, 'strict', guards);
  return { running, url: `http://127.0.0.1:${running.port}`, asked };
}

/** A fresh visitor: no cookies of others. */
async function visit(change: (page: Page) => Promise<unknown> = async () => undefined) {
  const page = await newPage(browser);
  const context = page.browserContext();
  closing.add(() => context.close());
  const faults: string[] = [];
  page.on('console', (message) => {
    // The page itself is answered with 403, which Chromium notes.
    if (message.type() === 'error' && !/status of 403\b/.test(message.text()))
      faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  await change(page);
  return { page, context, faults };
}

function reached(page: Page): Promise<unknown> {
  return page.waitForSelector('#shop');
}

/** Reasons of the guard, in the order of the events. */
function reasons({ events }: Running): string[] {
  return events.flatMap(({ guards = [] }) => guards.map(({ reason }) => reason));
}

/** A bare request, as curl sends it. */
function curl(url: string, headers: http.OutgoingHttpHeaders = {}, method = 'GET') {
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }>(
    (resolve, reject) => {
      const request = http.request(url, { headers, method, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => (text += piece));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      });
      request.on('error', reject);
      request.end();
    },
  );
}

describe.skipIf(missingChromium !== null)(`in Chromium (${missingChromium ?? 'there'})`, () => {
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser.close());
  afterEach(() => closing.run());

  test('a browser solves the check by itself and arrives where it wanted to go', async () => {
    const { running, url, asked } = await startSite({ proofDifficulty: 14 });
    const { page, context, faults } = await visit();
    await page.goto(`${url}/cart?item=7#notes`);
    await reached(page);
    expect(page.url()).toBe(`${url}/cart?item=7#notes`);
    expect(asked.map((one) => one.url)).toContain('/cart?item=7');
    const cookies = await context.cookies();
    expect(cookies).toMatchObject([{ name: 'waf_clearance', httpOnly: true, sameSite: 'Lax' }]);
    // The next page is served at once.
    await page.goto(`${url}/next`);
    expect(await page.title()).toBe('shop');
    expect(reasons(running).filter((one) => one === 'bot_challenge')).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  test('a browser without script waits instead', async () => {
    const { running, url } = await startSite();
    const { page } = await visit((one) => one.setJavaScriptEnabled(false));
    // The page is seen as it comes: some seconds later it is another.
    const shown = page.waitForSelector('main');
    await page.goto(`${url}/plain`);
    expect(await shown).not.toBeNull();
    await reached(page);
    expect(page.url()).toBe(`${url}/plain`);
    expect(reasons(running)).toContain('bot_solved');
  });

  test('a person answers by keyboard alone', async () => {
    const { url } = await startSite({ mode: 'human_verification' });
    const { page, faults } = await visit();
    await page.goto(`${url}/members`);
    const field = '#answer';
    await page.waitForSelector(field);
    const sum = sumOf(await page.content());
    // Tab until the field has the focus, as somebody without a mouse does.
    for (let step = 0; step < 10; step++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement.id')) === 'answer') break;
    }
    await page.keyboard.type(String(sum));
    await page.keyboard.press('Enter');
    await reached(page);
    expect(page.url()).toBe(`${url}/members`);
    expect(faults).toEqual([]);
  });

  test('a person without script answers, too', async () => {
    const { url } = await startSite({ mode: 'human_verification' });
    const { page } = await visit((one) => one.setJavaScriptEnabled(false));
    await page.goto(`${url}/members`);
    await page.type('#answer', String(sumOf(await page.content())));
    await page.keyboard.press('Enter');
    await reached(page);
    expect(page.url()).toBe(`${url}/members`);
  });

  test('the sound of the other way loads and plays', async () => {
    const { url } = await startSite({ mode: 'human_verification' });
    const { page } = await visit();
    await page.goto(url);
    await page.waitForSelector('audio');
    const seconds = await page.evaluate(`new Promise((resolve) => {
      const sound = document.querySelector('audio');
      sound.onloadedmetadata = () => resolve(sound.duration);
      sound.onerror = () => resolve(0);
      sound.load();
      sound.preload = 'auto';
    })`);
    expect(seconds).toBeGreaterThan(4);
  });

  test.each(['browser_check', 'human_verification'] as const)(
    'the page of %s fits 320 pixels and has nothing that axe objects to, in every language',
    // Each language is a page, beside whose counting the browser has to find time.
    { timeout: 600_000 },
    async (mode) => {
      const { url } = await startSite({ mode, proofDifficulty: endless });
      for (const { lang, title, humanTitle } of pageTexts) {
        const { page } = await visit(async (one) => {
          await one.setViewport({ width: 320, height: 640 });
          await one.setExtraHTTPHeaders({ 'Accept-Language': `${lang}-XX, en;q=0.5` });
        });
        await page.goto(url);
        await page.waitForSelector('h1');
        const heading = await page.evaluate('document.querySelector("h1").textContent');
        expect(heading).toBe(mode === 'browser_check' ? title : humanTitle);
        expect(await page.evaluate('document.documentElement.lang')).toBe(lang);
        expect(await overflow(page), lang).toBe(0);
        expect(await axeFindings(page), lang).toEqual([]);
        await page.close();
      }
    },
  );

  test('axe and the width are looked at: a page with faults is found', async () => {
    const { page } = await visit((one) => one.setViewport({ width: 320, height: 640 }));
    await page.setContent('<img src="x"><div style="width:900px">wide</div>');
    expect((await axeFindings(page)).join()).toContain('image-alt');
    expect(await overflow(page)).toBeGreaterThan(0);
  });

  test('a page tells how long it takes', async () => {
    const { url } = await startSite({ proofDifficulty: endless });
    const { page } = await visit();
    await page.goto(url);
    const said = await page.waitForFunction(`(() => {
      const text = document.getElementById('state')?.textContent ?? '';
      return /about/.test(text) ? text : '';
    })()`);
    expect(await said.jsonValue()).toMatch(/^Please wait about \d+ seconds\.$/);
  });

  test('a browser that keeps no cookies gets a plain page, not a loop', async () => {
    const { running, url } = await startSite();
    const { page } = await visit();
    const port = await httpOrigin(closing, (request, response) => {
      const { url: path = '/', headers } = request;
      http.get(`${url}${path}`, { headers }, (answer) => {
        const { 'set-cookie': _, ...kept } = answer.headers;
        response.writeHead(answer.statusCode!, kept);
        answer.pipe(response);
      });
    });
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.waitForFunction('/Access denied/.test(document.body.textContent)');
    expect(reasons(running)).toContain('bot_no_cookie');
  });
});

describe('to programs', () => {
  afterEach(() => closing.run());

  test('curl gets a reason that a program can read, never a page', async () => {
    const { url, asked } = await startSite();
    for (const headers of [{ Accept: '*/*' }, {}, { Accept: 'application/json' }]) {
      const answer = await curl(url, headers);
      expect(answer.status).toBe(403);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(JSON.parse(answer.text)).toMatchObject({
        error: { status: 403, kind: 'bot_block', reason: 'bot_challenge_required' },
      });
    }
    const posted = await curl(url, { Accept: 'text/html', 'Content-Length': 0 }, 'POST');
    expect([posted.status, posted.headers['content-type']]).toEqual([403, 'application/json']);
    expect(asked).toEqual([]);
  });

  test('not even where the operator chose HTML for all; the wording is theirs', async () => {
    const wording = { statusCode: 401, title: 'Robots', message: 'Ask us for a key.' };
    const responses = { active: 'html', scenarios: { bot_block: wording } } as const;
    const { url } = await startSite({}, { responses });
    const answer = await curl(url, { Accept: '*/*' });
    expect([answer.status, answer.headers['content-type']]).toEqual([401, 'application/json']);
    expect(JSON.parse(answer.text)).toMatchObject({
      error: { status: 401, title: 'Robots', message: 'Ask us for a key.' },
    });
    const refused = await curl(`${url}/.waf-check/pass?token=x`, { Accept: 'text/html' });
    expect([refused.status, refused.headers['content-type']]).toEqual([
      401,
      'text/html; charset=utf-8',
    ]);
    expect(refused.text).toContain('Ask us for a key.');
  });

  test('the page allows nothing inline and nothing of others', async () => {
    const { url } = await startSite();
    const page = await curl(url, { Accept: 'text/html' });
    expect(page.status).toBe(403);
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.text).not.toMatch(/<script(?![^>]*src=)|style="|\son\w+=|https?:\/\//);
    for (const [, source] of page.text.matchAll(/(?:src|href)="([^"]*)"/g)) {
      expect(source).toMatch(/^\/\.waf-check\//);
      expect((await curl(`${url}${source}`)).status, source).not.toBe(404);
    }
  });

  test('a copied solution is refused', async () => {
    const { url } = await startSite();
    const page = readPageText((await curl(url, { Accept: 'text/html' })).text);
    const target = `${url}/.waf-check/pass?token=${page.token}&nonce=${solve(page)}`;
    expect((await curl(target, { Accept: 'text/html' })).status).toBe(303);
    const replay = await curl(target, { Accept: '*/*' });
    expect(JSON.parse(replay.text)).toMatchObject({ error: { reason: 'bot_replayed' } });
  });
});

/** The sum that a page asks for. */
function sumOf(html: string): number {
  const asked = /How much is (\w+) plus (\w+)\?/.exec(html);
  const { numbers } = pageTexts[0]!;
  return numbers.indexOf(asked![1]!) + numbers.indexOf(asked![2]!) + 4;
}
