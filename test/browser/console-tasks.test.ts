/** What people do at the console, as a table: one product and one browser for all tasks. */

import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { missingBuild, startProduct } from '../support/product.ts';
import { missingChromium, startChromium } from './chromium.ts';
import { choosePassword, enterPassword, openPage, tokenOf } from './console-driver.ts';
import { paths, policyTabs, siteTabs } from './console-paths.ts';
import { attackTasks } from './tasks/attack-tasks.ts';
import { channelTasks } from './tasks/channel-tasks.ts';
import { chineseTasks } from './tasks/chinese-tasks.ts';
import { codeTasks } from './tasks/code-tasks.ts';
import { countryTasks } from './tasks/country-tasks.ts';
import { conflictTasks, contestedFiles } from './tasks/conflict-tasks.ts';
import { deliveryTasks } from './tasks/delivery-tasks.ts';
import { Desk } from './tasks/desk.ts';
import { editTasks } from './tasks/edit-tasks.ts';
import { entryTasks } from './tasks/entry-tasks.ts';
import { eventTasks } from './tasks/event-tasks.ts';
import { findTasks } from './tasks/find-tasks.ts';
import { freshTasks, notWatched, watched } from './tasks/fresh-tasks.ts';
import { keyTasks } from './tasks/key-tasks.ts';
import { numberTasks } from './tasks/number-tasks.ts';
import { operateTasks } from './tasks/operate-tasks.ts';
import { policyTasks } from './tasks/policy-tasks.ts';
import { refusedTasks } from './tasks/refused-tasks.ts';
import { rulesetTasks } from './tasks/ruleset-tasks.ts';
import { settingsTasks } from './tasks/settings-tasks.ts';
import { siteTasks } from './tasks/site-tasks.ts';
import { tableTasks } from './tasks/table-tasks.ts';
import { World } from './tasks/task.ts';
import { wholeTasks } from './tasks/whole-tasks.ts';

const skip = missingChromium ?? missingBuild;
/** More than a wait has, so that what did not come is what the report says. */
const testMs = 600_000;
/** What the browser says of an answer that the page shows or expects. */
const usualFault = /status of (?:400|409) /;

const tasks = [
  ...[...eventTasks, ...keyTasks, ...chineseTasks, ...siteTasks, ...editTasks],
  ...[
    ...conflictTasks,
    ...findTasks,
    ...freshTasks,
    ...deliveryTasks,
    ...channelTasks,
    ...entryTasks,
    ...policyTasks,
    ...rulesetTasks,
    ...operateTasks,
    ...refusedTasks,
    ...wholeTasks,
    ...numberTasks,
    ...settingsTasks,
    ...tableTasks,
    ...attackTasks,
    ...countryTasks,
    ...codeTasks,
  ],
];
const origin = createServer((_request, response) => {
  response.setHeader('content-type', 'text/plain').end('ok');
});
let browser: Browser;
let world: World;
let desk: Desk;
let faults: string[];

test('each form of a record that others edit, too, is tried with two editors', () => {
  const folder = new URL('../../control/console/pages/', import.meta.url);
  const found = readdirSync(folder).filter((name) =>
    readFileSync(new URL(name, folder), 'utf8').includes('latest={'),
  );
  expect(found.toSorted()).toEqual(contestedFiles.toSorted());
});

test('each page is watched while somebody else changes what it shows, or it says why not', () => {
  const ofSite = siteTabs.map((tab) => `site ${tab}`);
  const all = [...paths, ...ofSite, ...policyTabs.map((tab) => `policy ${tab}`)];
  const left = all.filter((one) => !watched.includes(one));
  expect(Object.keys(notWatched).toSorted()).toEqual(left.toSorted());
});

describe.skipIf(skip !== null)(`tasks (${skip ?? 'in Chromium'})`, { timeout: testMs }, () => {
  beforeAll(async () => {
    const securePort = await freePort();
    const product = await startProduct('--workers', '1', '--https', `127.0.0.1:${securePort}`);
    await choosePassword(product);
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    const { port } = origin.address() as AddressInfo;
    const own = `http://127.0.0.1:${port}`;
    world = new World({ product, token: await tokenOf(product), origin: own, securePort });
    browser = await startChromium();
    const opened = await openPage(browser, `${world.url}/`);
    await enterPassword(opened.page);
    await opened.page.waitForSelector('header ~ main h1');
    ({ faults } = opened);
    desk = new Desk(opened.page);
  }, testMs);
  afterAll(async () => {
    await browser?.close();
    await world?.product.stop();
    origin.closeAllConnections();
    origin.close();
  });

  test.each(tasks)('$page: $does ($id)', async ({ run, expects }) => {
    await run(desk, world).catch((error: unknown) => {
      throw new Error(`expected: ${expects}`, { cause: error });
    });
    expect(faults.splice(0).filter((fault) => !usualFault.test(fault))).toEqual([]);
  });
});
