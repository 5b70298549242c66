/** A rate limit is exact from the answer on that says that it serves, on both front threads. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from 'undici';
import { adminCall } from '../support/admin-call.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

const limits = 20;
const requestCount = 5;

describe.skipIf(missingBuild !== null)('a new rate limit', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct('--workers', '2');
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
  });

  /** Each on a connection of its own, so that both threads are met. */
  const ask = async (path: string): Promise<number> => {
    const url = `http://127.0.0.1:${product.proxyPort}${path}`;
    const { statusCode, body } = await request(url, { reset: true, headersTimeout: 120_000 });
    await body.dump();
    return statusCode;
  };

  /** Sets a limit and asks at once; how many passed, null where the answer said `publishing`. */
  const passedAtOnce = async (pathPattern: string): Promise<number | null> => {
    const { body } = await adminCall(product.data, 'SiteService/ListSites', {});
    const [site] = body['items'] as { id: string }[];
    const endpoint = { siteId: site!.id, pathPattern, requestCount, windowSeconds: 3600 };
    const made = await adminCall(product.data, 'RateLimitService/UpsertRateLimitEndpoint', {
      endpoint: { ...endpoint, action: 'block' },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    if (made.body['publishing'] === true) return null;
    const asked = Array.from({ length: requestCount + 4 }, () => ask(pathPattern));
    return (await Promise.all(asked)).filter((status) => status !== 429).length;
  };

  test('lets as many pass as it says, from the first on', async () => {
    const passed: number[] = [];
    for (let at = 0; at < limits; at++) {
      const count = await passedAtOnce(`/limited-${at}`);
      if (count !== null) passed.push(count);
    }
    console.log(`${passed.length} of ${limits} limits were said to serve in time`);
    expect(passed.length).toBeGreaterThan(0);
    expect(passed.filter((count) => count !== requestCount)).toEqual([]);
  }, 300_000);

  test('serves when the answer comes, while the engine or control starts again', async () => {
    for (const program of ['engine/main.js', 'control/main.js']) {
      const before = product.childPid(program);
      process.kill(before, 'SIGKILL');
      await eventually(async () => {
        if ([0, before].includes(product.childPid(program))) return false;
        return (await adminCall(product.data, 'SiteService/ListSites', {})).status === 200;
      });
      // The first limit of which the answer says that it serves: a busy machine starts slowly.
      let at = 0;
      const passed = await eventually(() => passedAtOnce(`/after-${program}-${at++}`));
      expect(passed, product.output()).toBe(requestCount);
    }
  }, 300_000);
});
