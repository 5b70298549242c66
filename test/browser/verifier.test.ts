/**
 * A page that has a service of others verify people, in a browser, with a local stand-in for the
 * service: its policy lets the widget run and nothing else, and the question stands in for it.
 */

import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  Closing,
  httpOrigin,
  siteFor,
  startFront,
  type Running,
} from '../../engine/front/fixtures/fixture.ts';
import type { VerifierConfig } from '../../engine/contract/bot.ts';
import { noGuardServices } from '../../engine/guard/guard.ts';
import { pageTexts } from '../../engine/guard/bot/page-texts.ts';
import { randomSeed, RateTable, shareRates } from '../../engine/guard/rate-table.ts';
import { usual } from '../support/bot-gates.ts';
import { startVerifierStub, type VerifierStub } from '../support/verifier-stub.ts';
import { axeFindings, missingChromium, newPage, overflow, startChromium } from './chromium.ts';

const closing = new Closing();
let browser: Browser;
let stub: VerifierStub;

async function startSite(change: Partial<VerifierConfig> = {}) {
  const port = await httpOrigin(closing, (_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>shop</title><h1 id="shop">welcome</h1>');
  });
  const verifier = stub.config(change);
  const bot = { ...usual, mode: 'human_verification', verifier } as const;
  const rates = new RateTable(shareRates(randomSeed(), 64));
  const guards = { guardServices: { ...noGuardServices, rates } };
  const running = await startFront(closing, [siteFor(port, { bot })], null, {}, 'strict', guards);
  return { running, url: `http://127.0.0.1:${running.port}` };
}

async function visit(change: (page: Page) => Promise<unknown> = async () => undefined) {
  const page = await newPage(browser);
  closing.add(() => page.browserContext().close());
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 403\b/.test(message.text()))
      faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  await change(page);
  return { page, faults };
}

const reached = (page: Page): Promise<unknown> => page.waitForSelector('#shop');

const reasons = ({ events }: Running): string[] =>
  events.flatMap(({ guards = [] }) => guards.map(({ reason }) => reason));

describe.skipIf(missingChromium !== null)(`in Chromium (${missingChromium ?? 'there'})`, () => {
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    stub = await startVerifierStub();
    stub.answer = { success: true, hostname: '127.0.0.1' };
    closing.add(() => stub.close());
  });
  afterEach(() => closing.run());

  test('a person uses the widget by keyboard and arrives', async () => {
    const { running, url } = await startSite();
    const { page, faults } = await visit();
    await page.goto(`${url}/cart?item=7#notes`);
    await page.waitForSelector('[data-sitekey] button');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await reached(page);
    expect(page.url()).toBe(`${url}/cart?item=7#notes`);
    expect(stub.forms.map((form) => form.get('response'))).toEqual(['given.to-a_person']);
    expect(reasons(running)).toContain('bot_solved');
    expect(faults).toEqual([]);
  });

  test('a score is asked for without anybody doing anything', async () => {
    const { url } = await startSite({
      kind: 'recaptcha_score',
      scriptUrl: `http://127.0.0.1:${stub.port}/score.js`,
    });
    stub.answer = { success: true, hostname: '127.0.0.1', score: 0.9, action: 'challenge' };
    const { page, faults } = await visit();
    await page.goto(`${url}/cart`);
    await reached(page);
    expect(stub.forms[0]!.get('response')).toBe('scored.site-key.challenge');
    expect(faults).toEqual([]);
  });

  test('a script that does not load leads to the question by itself', async () => {
    const { running, url } = await startSite({
      scriptUrl: `http://127.0.0.1:${stub.port}/gone.js`,
    });
    const { page } = await visit();
    await page.goto(`${url}/cart`);
    await page.waitForSelector('#answer');
    expect(reasons(running)).toContain('bot_verifier_absent');
    await page.type('#answer', String(sumOf(await page.content())));
    await page.keyboard.press('Enter');
    await reached(page);
    expect(page.url()).toBe(`${url}/cart`);
  });

  test('the page runs no script of anybody else', async () => {
    const { url } = await startSite();
    const { page, faults } = await visit();
    await page.goto(url);
    const other = url.replace('127.0.0.1', 'localhost');
    await page.evaluate(`(() => {
      const script = document.createElement('script');
      script.src = '${other}/other.js';
      document.head.append(script);
    })()`);
    await expect.poll(() => faults.join()).toContain('Content Security Policy');
  });

  test('the page fits 320 pixels and axe objects to nothing, in every language', async () => {
    const { url } = await startSite();
    for (const { lang, questionInstead } of pageTexts) {
      const { page } = await visit(async (one) => {
        await one.setViewport({ width: 320, height: 640 });
        await one.setExtraHTTPHeaders({ 'Accept-Language': lang });
      });
      await page.goto(url);
      await page.waitForSelector('[data-sitekey] button');
      expect(await page.content()).toContain(questionInstead);
      expect(await overflow(page), lang).toBe(0);
      expect(await axeFindings(page), lang).toEqual([]);
      await page.close();
    }
  });
});

/** The sum that a page asks for. */
function sumOf(html: string): number {
  const asked = /How much is (\w+) plus (\w+)\?/.exec(html);
  const { numbers } = pageTexts[0]!;
  return numbers.indexOf(asked![1]!) + numbers.indexOf(asked![2]!) + 4;
}
