/**
 * Measures how long Chromium takes to solve challenges: median and 95th percentile a difficulty, by
 * the script and the worker that pages load. Usage: node .build/bench/challenges/main.js [runs]
 */

import { randomBytes } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'puppeteer-core';
import { startChromium } from '../chromium.ts';
import { provesWork } from '../../engine/guard/bot/proof-of-work.ts';
import { solveScript } from '../../engine/guard/bot/page-assets.ts';

const difficulties = [12, 14, 16, 18, 20];
const runs = Number(process.argv[2] ?? 30);

const server = http.createServer((request, response) => {
  const script = request.url === '/solve.js';
  response.setHeader('Content-Type', script ? 'text/javascript' : 'text/html');
  response.end(script ? solveScript : '<!doctype html><title>solver</title>');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = await startChromium();
try {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  process.stdout.write('bits  median s     p95 s  runs\n');
  for (const bits of difficulties) {
    const seconds: number[] = [];
    for (let run = 0; run < runs; run++) seconds.push(await solveOnce(page, bits));
    seconds.sort((one, other) => one - other);
    const at = (share: number): string =>
      seconds[Math.min(runs - 1, Math.floor(share * runs))]!.toFixed(2).padStart(10);
    process.stdout.write(
      `${String(bits).padStart(4)}${at(0.5)}${at(0.95)}${String(runs).padStart(6)}\n`,
    );
  }
} finally {
  await browser.close();
  server.close();
}

/** Seconds for a fresh challenge, from starting the workers to the number. */
async function solveOnce(page: Page, bits: number): Promise<number> {
  const id = randomBytes(16).toString('hex');
  const { nonce, ms } = (await page.evaluate(`new Promise((resolve) => {
    const began = performance.now();
    const count = Math.max(1, Math.min(4, navigator.hardwareConcurrency || 1));
    const workers = [];
    for (let start = 0; start < count; start++) {
      const worker = new Worker('/solve.js');
      workers.push(worker);
      worker.onmessage = ({ data: { nonce } }) => {
        if (nonce === undefined) return;
        for (const one of workers) one.terminate();
        resolve({ nonce, ms: performance.now() - began });
      };
      worker.postMessage({ id: '${id}', bits: ${bits}, start, step: count });
    }
  })`)) as { nonce: number; ms: number };
  if (!provesWork(id, String(nonce), bits)) throw new Error(`a wrong solution of ${bits} bits`);
  return ms / 1000;
}
