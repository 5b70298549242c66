/**
 * Measures the console: its sizes as built, and in headless Chromium the live view at 1,000 events
 * a second, its memory after an hour of them, and how long a cold start takes over TLS.
 * Usage: npm run bench:console -- [live SECONDS] [hour EVENTS] [paint RUNS]; all three by default.
 */

import type { Browser } from 'puppeteer-core';
import { firstPaint, timed, type FirstPaint } from './first-paint.ts';
import { fillLive, openLive, traceLive } from './live.ts';
import { startChromium } from '../chromium.ts';
import { startProduct } from '../product.ts';
import { signIn } from './sign-in.ts';
import { sizesOf } from './sizes.ts';
import { startStandIn } from './stand-in.ts';

const perSecond = 1_000;
const defaults = { live: 20, hour: 3_600 * perSecond, paint: 9 } as const;
type Name = keyof typeof defaults;

const [which, size] = process.argv.slice(2);
const wanted = (name: Name): number =>
  which === undefined ? defaults[name] : which === name ? Number(size ?? defaults[name]) : 0;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

reportSizes();
const browser = await startChromium();
try {
  if (wanted('live') > 0 || wanted('hour') > 0) await measureLive(browser);
  if (wanted('paint') > 0) await measurePaint(browser, wanted('paint'));
} finally {
  await browser.close();
}

/** Kilobytes of the start and of each page, the largest first. */
function reportSizes(): void {
  const { start, pages } = sizesOf(new URL('../../console/', import.meta.url).pathname);
  const text = (bytes: number): string => (bytes / 1024).toFixed(1);
  const sorted = pages.toSorted((one, other) => other.bytes - one.bytes);
  say(`KB by gzip: start ${text(start)}; beside it for a page:`);
  say(`  ${sorted.map(({ page, bytes }) => `${page} ${text(bytes)}`).join(', ')}`);
}

async function measureLive(from: Browser): Promise<void> {
  const standIn = await startStandIn();
  try {
    const page = await openLive(from, standIn);
    const seconds = wanted('live');
    if (seconds > 0) {
      const found = await traceLive(page, standIn, perSecond, seconds);
      say(`live view, ${perSecond} events a second for ${seconds} s, main thread:`);
      say(
        `  longest task ${found.longestMs.toFixed(1)} ms (${found.longestCpuMs.toFixed(1)} ms of ` +
          `CPU), ${found.over50} tasks over 50 ms, ${found.frames} frames, ` +
          `${(found.cpuMs / seconds / 10).toFixed(0)} % of a CPU`,
      );
    }
    if (wanted('hour') > 0) {
      say('     counted        sent   heap MB  elements  rows');
      await fillLive(page, standIn, wanted('hour'), 6, (held) => {
        const { counted, sent, heapMb, nodes, rows } = held;
        const cells = [
          String(counted).padStart(12),
          String(sent).padStart(12),
          heapMb.toFixed(1).padStart(10),
          String(nodes).padStart(10),
          String(rows).padStart(6),
        ];
        say(cells.join(''));
      });
    }
    await page.close();
  } finally {
    standIn.close();
  }
}

/** Starts the product with its own certificate, and opens it as often as wanted. */
async function measurePaint(from: Browser, runs: number): Promise<void> {
  const product = await startProduct();
  try {
    say('                             median ms    most ms      KB');
    const signInPage: FirstPaint[] = [];
    for (let run = 0; run < runs; run += 1) {
      signInPage.push(await firstPaint(from, `${product.url}/`, 'input[type=password]'));
    }
    report('sign-in', signInPage);
    const page = await (await from.createBrowserContext()).newPage();
    await signIn(page, product.url, product.password);
    const first: FirstPaint[] = [];
    for (let run = 0; run < runs; run += 1) {
      first.push(await timed(page, `${product.url}/`, 'header ~ main h1'));
    }
    report('signed in', first);
  } finally {
    await product.stop();
  }
}

function report(name: string, found: readonly FirstPaint[]): void {
  for (const [kind, label] of [
    ['paintMs', 'first paint'],
    ['readyMs', 'ready for input'],
  ] as const) {
    const sorted = found.map((one) => one[kind]).toSorted((one, other) => one - other);
    const median = sorted[Math.floor(sorted.length / 2)]!;
    const bytes = found[0]!.bytes / 1024;
    say(
      `${`${name}: ${label}`.padEnd(28)}${median.toFixed(0).padStart(6)}` +
        `${sorted.at(-1)!.toFixed(0).padStart(11)}${bytes.toFixed(0).padStart(8)}`,
    );
  }
}
