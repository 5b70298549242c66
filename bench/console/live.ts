/** The measurements of the live view: tasks of the main thread, elements, memory. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import type { StandIn } from './stand-in.ts';
import { mainThread, type MainThread, type TraceEvent } from './trace.ts';

/** What the page holds after a number of events. */
export interface Held {
  readonly counted: number;
  readonly sent: number;
  readonly heapMb: number;
  readonly nodes: number;
  readonly rows: number;
}

/** Opens the live view in a page of its own. */
export async function openLive(browser: Browser, standIn: StandIn): Promise<Page> {
  const page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(`${standIn.url}/attacks?live=1`);
  await page.waitForSelector('[data-count]');
  return page;
}

/** Traces the main thread while events come at a rate. */
export async function traceLive(
  page: Page,
  standIn: StandIn,
  perSecond: number,
  seconds: number,
): Promise<MainThread> {
  const folder = mkdtempSync(join(tmpdir(), 'waf-trace-'));
  const path = join(folder, 'trace.json');
  try {
    await page.tracing.start({
      path,
      categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel'],
    });
    standIn.start(perSecond * seconds, perSecond);
    await reached(page, standIn, standIn.sent() + perSecond * seconds);
    await page.tracing.stop();
    const { traceEvents } = JSON.parse(readFileSync(path, 'utf8')) as { traceEvents: TraceEvent[] };
    return mainThread(traceEvents);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Sends events as fast as the page reads them; says what it holds at first, after each part. */
export async function fillLive(
  page: Page,
  standIn: StandIn,
  events: number,
  parts: number,
  report: (held: Held) => void,
): Promise<void> {
  report(await heldBy(page, standIn));
  for (let part = 0; part < parts; part += 1) {
    const goal = standIn.sent() + events / parts;
    standIn.start(events / parts, 0);
    await reached(page, standIn, goal);
    report(await heldBy(page, standIn));
  }
}

/** Waits until the page has counted this many; the browser ends the wait where it stands still. */
async function reached(page: Page, standIn: StandIn, goal: number): Promise<void> {
  let before = -1;
  for (;;) {
    const ended = await page
      .waitForFunction(`Number(document.querySelector('[data-count]').dataset.count) >= ${goal}`, {
        timeout: 20_000,
        polling: 200,
      })
      .then(
        () => true,
        () => false,
      );
    if (ended) return;
    if (standIn.sent() === before) throw new Error(`the page stands still before ${goal} events`);
    before = standIn.sent();
  }
}

async function heldBy(page: Page, standIn: StandIn): Promise<Held> {
  const session = await page.createCDPSession();
  try {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    const [counted, nodes, rows] = (await page.evaluate(`[
      Number(document.querySelector('[data-count]').dataset.count),
      document.querySelectorAll('*').length,
      document.querySelectorAll('main tbody tr').length,
    ]`)) as [number, number, number];
    return { counted, sent: standIn.sent(), heapMb: usedSize / 2 ** 20, nodes, rows };
  } finally {
    await session.detach();
  }
}
