/**
 * Challenges whose use is recorded in Redis, through the whole product: the thread that serves the
 * client, the main thread, Redis, and the same without Redis.
 */

import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { readPageText, solve } from '../support/challenge-solver.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';
import { missingRedis, TestRedis } from '../support/redis.ts';
import { readRedisOption } from '../../engine/process/redis-option.ts';
import { RedisConnection } from '../../engine/state/redis-connection.ts';

const missing = missingBuild ?? missingRedis;
if (missing !== null) console.log(missing);

const variable = 'WAF_RATE_LIMIT_REDIS';

interface Answer {
  readonly status: number;
  readonly body: string;
}

describe.skipIf(missing !== null)('challenges through Redis', () => {
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

  function ask(path: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = { host: 'asked.test', accept: 'text/html' };
      get({ port: product.proxyPort, path, headers, agent: false }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => (body += text));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      }).on('error', reject);
    });
  }

  /** The path of a solution, and the id of its challenge. */
  const solved = async (): Promise<readonly [path: string, id: string]> => {
    const page = readPageText((await ask('/')).body);
    return [`/.waf-check/pass?token=${page.token}&nonce=${solve(page)}`, page.id];
  };

  test('a solution counts once, in Redis and without it', async () => {
    const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(must('site', 'list', '--output', 'json'))?.[0];
    must('site', 'create', '--name', 'asked', '--host', 'asked.test', '--upstream', origin!);
    must('bot', 'set', 'asked', '--mode', 'browser', '--difficulty', '12');
    await eventually(async () => (await ask('/')).body.includes('data-bits'));
    const [path, id] = await solved();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(path)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(19);
    const connection = await RedisConnection.open(readRedisOption(redis.url)!);
    const [there] = await connection.send([['EXISTS', `waf:challenge:${id}`]]);
    expect(there).toBe(1);

    // Another node has used it.
    const [used, usedId] = await solved();
    await connection.send([['SET', `waf:challenge:${usedId}`, '1']]);
    connection.close();
    expect((await ask(used)).status).toBe(403);

    await redis.kill();
    const [alone] = await solved();
    expect((await ask(alone)).status).toBe(303);
    expect((await ask(alone)).status).toBe(403);
  }, 300_000);
});
