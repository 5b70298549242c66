/**
 * Rate limits that are shared through Redis, through the whole product: exact while it is there,
 * while it is dead and after it came back; no request waits for it, and its absence is recorded.
 */

import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';
import { missingRedis, TestRedis } from '../support/redis.ts';

const missing = missingBuild ?? missingRedis;
if (missing !== null) console.log(missing);

const variable = 'WAF_RATE_LIMIT_REDIS';

describe.skipIf(missing !== null)('rate limits through Redis', () => {
  let product: Product;
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await TestRedis.start();
    process.env[variable] = redis.url;
    try {
      product = await startProduct('--workers', '2');
    } finally {
      delete process.env[variable];
    }
  }, 600_000);
  afterAll(async () => {
    await product?.stop();
    await redis?.kill();
  });

  const must = (...words: string[]): string => {
    const { code, stdout, stderr } = product.waf(...words);
    if (code !== 0) throw new Error(`waf ${words.join(' ')}: ${stderr}`);
    return stdout;
  };

  function ask(path: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = { host: 'limited.test' };
      get({ port: product.proxyPort, path, headers, agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      }).on('error', reject);
    });
  }

  const askAll = async (path: string, count: number): Promise<number[]> => {
    const answers = await Promise.all(Array.from({ length: count }, () => ask(path)));
    return [200, 429].map((status) => answers.filter((answer) => answer === status).length);
  };

  test('the limit holds with Redis, and without it from one moment to the next', async () => {
    const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(must('site', 'list', '--output', 'json'))?.[0];
    must('site', 'create', '--name', 'limited', '--host', 'limited.test', '--upstream', origin!);
    for (const path of ['/before', '/without', '/after']) {
      const rate = ['--requests', '20', '--window', '3600'];
      must('rate-limit', 'set', '--site', 'limited', '--path', path, ...rate);
    }
    await eventually(async () => (await ask('/')).toString() === '200');
    expect(await askAll('/before', 60)).toEqual([20, 40]);
    await redis.kill();
    expect(await askAll('/without', 60)).toEqual([20, 40]);
    await eventually(() => must('log', 'errors').includes('Redis cannot be reached'));
    await redis.begin();
    await eventually(() => must('log', 'errors').includes('Rate limits are shared again'));
    expect(await askAll('/after', 60)).toEqual([20, 40]);
    expect(await askAll('/before', 5)).toEqual([0, 5]);
    expect(must('log', 'errors') + product.output()).not.toContain(redis.password);
  }, 300_000);
});
