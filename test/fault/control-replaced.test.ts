/** Callers of the management API who connect while control is killed or restarted wait. */

import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

/** Milliseconds between two callers. */
const everyMs = 20;
/** Those that call before control is ended, and after it was replaced. */
const callsBefore = 15;
const callsAfter = 25;

/** How one caller fared: the status, or the code of the error. */
interface Call {
  readonly outcome: string;
  readonly beganMs: number;
}

function call(port: number): Promise<Call> {
  const beganMs = performance.now();
  return new Promise((resolve) => {
    const end = (outcome: string): void => resolve({ outcome, beganMs });
    const request = get({ host: '127.0.0.1', port, path: '/healthz', agent: false }, (response) => {
      response.resume();
      response.on('end', () => end(String(response.statusCode)));
      response.on('error', () => end('cut off'));
    });
    request.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'error'));
  });
}

/** Calls, one every few milliseconds, until `work` has ended, and some more. */
async function callDuring(
  port: number,
  work: (calls: readonly Promise<Call>[]) => Promise<void>,
): Promise<Call[]> {
  const calls: Promise<Call>[] = [];
  const coming = setInterval(() => calls.push(call(port)), everyMs);
  await work(calls);
  const all = calls.length + callsAfter;
  await eventually(() => calls.length >= all);
  clearInterval(coming);
  return Promise.all(calls);
}

describe.skipIf(missingBuild !== null)('control is replaced under calls', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct('--workers', '1', '--management-tls', 'off');
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
  });

  const control = (): number => product.childPid('control/main.js');
  const replaced = async (before: number): Promise<void> => {
    await eventually(() => control() !== 0 && control() !== before);
    await eventually(async () => (await call(product.managementPort)).outcome === '200');
  };

  test.each(['kill -9', 'a restart'])('%s refuses nobody', async (how) => {
    const before = control();
    const status = readFileSync(`/proc/${before}/status`, 'utf8');
    const supervisor = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]);
    let endedMs = 0;
    const calls = await callDuring(product.managementPort, async (begun) => {
      await eventually(() => begun.length >= callsBefore);
      if (how === 'kill -9') process.kill(before, 'SIGKILL');
      else process.kill(supervisor, 'SIGUSR2');
      await eventually(() => control() !== before);
      endedMs = performance.now();
      await replaced(before);
    });
    expect(calls.filter(({ outcome }) => outcome === 'ECONNREFUSED')).toEqual([]);
    // Whoever came after the old one had ended was answered by the new one.
    const later = calls.filter(({ beganMs }) => beganMs > endedMs);
    expect(later.length).toBeGreaterThan(5);
    expect(later.filter(({ outcome }) => outcome !== '200')).toEqual([]);
  });

  test('a product that stopped refuses callers', async () => {
    await product.stop();
    expect((await call(product.managementPort)).outcome).toBe('ECONNREFUSED');
  });
});
