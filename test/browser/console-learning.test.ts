/**
 * What a site learns, decided in the console: a node's counts of three hours are proposed,
 * accepted, ended and forgotten by a person's clicks.
 */

import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClientsDelta } from '../../engine/contract/detection-content.ts';
import type { ControllerLink } from '../../engine/link/controller-link.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild } from '../support/product.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';
import { connectTestLink } from '../support/test-link.ts';
import { axeFindings, missingChromium, overflow, startChromium } from './chromium.ts';
import { chosenPassword, enterPassword, openPage, settled, textOf } from './console-driver.ts';
import { Desk } from './tasks/desk.ts';

const skip = missingChromium ?? missingBuild;
const testMs = 600_000;
let browser: Browser;
let waf: TestControl;
let link: ControllerLink;
let siteId = '';
let url = '';

/** Thirty clients in each of four hours. */
function deltas(generation: number): ClientsDelta[] {
  const last = Math.floor(Date.now() / 3_600_000);
  const place = { method: 'POST', path: '/posts', name: 'ARGS:content' };
  return [3, 2, 1, 0].map((back) => ({
    ...{ siteId, generation, place, family: 'sql' as const, hour: last - back, requests: 40 },
    bits: Array.from({ length: 30 }, (_, at) => at * 7),
    sample: `request-${back}`,
  }));
}

async function statesAtApi(): Promise<string[]> {
  const rpc = 'waf.learning.v1.LearningService/ListProposals';
  const { items = [] } = (await waf.call(rpc, { siteId })).body as { items?: { state: string }[] };
  return items.map(({ state }) => state);
}

describe.skipIf(skip !== null)(`learning (${skip ?? 'in Chromium'})`, { timeout: testMs }, () => {
  beforeAll(async () => {
    waf = await startTestControl({ demoOrigin: null });
    const applied: unknown[] = [];
    link = connectTestLink(waf.socket, [], async (obtain, keep) => {
      applied.push(await obtain());
      await keep();
    });
    const upstreams = [{ inline: { url: 'http://127.0.0.1:1' } }];
    const site = { name: 'blog', primaryHost: 'blog.test', upstreams };
    const made = await waf.call('SiteService/CreateSite', { site });
    siteId = (made.body['site'] as { id: string }).id;
    const login = { username: 'admin', password: waf.password };
    const { body } = await waf.call('AuthService/Login', login, { network: true });
    const words = { currentPassword: waf.password, newPassword: chosenPassword };
    const token = String(body['accessToken']);
    await waf.call('AuthService/ChangePassword', words, { token });
    url = `http://127.0.0.1:${waf.control.managementPort}`;
    browser = await startChromium();
  }, testMs);
  afterAll(async () => {
    await browser?.close();
    await link?.close();
    await waf?.control.close();
  });

  test('a proposal is accepted, ended and forgotten; the site stops learning', async () => {
    link.learnClients(deltas(0));
    await eventually(async () => (await statesAtApi()).includes('waiting'));
    const { page, faults } = await openPage(browser, `${url}/tuning?site=${siteId}`);
    await enterPassword(page);
    const desk = new Desk(page);
    await desk.shows('Waits for a person');
    await desk.shows('ARGS:content');
    await desk.press('Accept');
    await desk.press('Accept');
    await desk.shows('Accepted');
    expect(await statesAtApi()).toEqual(['accepted']);
    await desk.press('End it');
    await desk.shows('Dismissed');
    expect(await statesAtApi()).toEqual(['dismissed']);
    await page.setViewport({ width: 390, height: 800 });
    expect(await overflow(page)).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await desk.press('Forget all of it');
    await desk.press('Forget all of it');
    await desk.shows('Nothing is proposed.');
    expect(await statesAtApi()).toEqual([]);
    await desk.choose('The site', 'Does not learn', 'What a site learns');
    await desk.press('Save', 'The site');
    await desk.shows('This site does not learn.');
    expect(faults).toEqual([]);
  });

  test('the same page says all of it in Chinese', async () => {
    link.learnClients(deltas(1));
    await eventually(async () => (await statesAtApi()).includes('waiting'));
    const { page } = await openPage(browser, `${url}/tuning?site=${siteId}`);
    await enterPassword(page);
    await page.waitForSelector('header ~ main h1');
    await page.select('header select', 'zh-CN');
    const desk = new Desk(page);
    await desk.shows('等待决定');
    await settled(page);
    expect(await textOf(page)).toContain('站点学习到的内容');
    await desk.press('接受');
    await desk.press('接受');
    await desk.shows('已接受');
    expect(await statesAtApi()).toEqual(['accepted']);
  });
});
