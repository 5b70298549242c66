/**
 * Rate limits through the whole product: exact with many clients at once on two front threads, in
 * the operator's wording, and not forgotten when the engine is killed.
 */

import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

const clients = 1_000;
const limit = 300;

describe.skipIf(missingBuild !== null)('rate limits', () => {
  let product: Product;
  const agent = new Agent({ keepAlive: false, maxSockets: clients });
  beforeAll(async () => {
    product = await startProduct('--workers', '2');
  }, 600_000);
  afterAll(async () => {
    agent.destroy();
    await product?.stop();
  });

  const must = (...words: string[]): string => {
    const { code, stdout, stderr } = product.waf(...words);
    if (code !== 0) throw new Error(`waf ${words.join(' ')}: ${stderr}`);
    return stdout;
  };

  interface Told {
    readonly status: number;
    readonly retryAfter: string;
    readonly text: string;
  }

  function ask(path: string, localAddress = '127.0.0.1'): Promise<Told> {
    return new Promise((resolve, reject) => {
      const address = { host: '127.0.0.1', port: product.proxyPort, localAddress };
      const where = { ...address, path, agent, headers: { host: 'limited.test' } };
      const sent = request(where, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('end', () => {
          const retryAfter = response.headers['retry-after'] ?? '';
          resolve({ status: response.statusCode ?? 0, retryAfter, text });
        });
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  test('request N passes and N+1 does not, with a thousand clients on two threads', async () => {
    const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(must('site', 'list', '--output', 'json'))?.[0];
    must('site', 'create', '--name', 'limited', '--host', 'limited.test', '--upstream', origin!);
    const place = ['--site', 'limited'];
    const rate = ['--requests', String(limit), '--window', '3600'];
    must('rate-limit', 'set', ...place, '--path', '/counted/*', ...rate);
    const ban = ['--requests', '1', '--window', '60', '--action', 'ban', '--for', '3600'];
    must('rate-limit', 'set', ...place, '--path', '/trap', ...ban);
    await eventually(async () => (await ask('/')).status === 200);
    const answers = await Promise.all(
      Array.from({ length: clients }, (_, at) => ask(`/counted/${at}`)),
    );
    const count = (status: number): number =>
      answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(429)]).toEqual([limit, clients - limit]);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(Number(refused.retryAfter)).toBeGreaterThan(3000);
    expect(refused.text).toContain('Too many requests');
    expect((await ask('/elsewhere')).status).toBe(200);
  });

  test('a ban and the counts survive kill -9', async () => {
    expect((await ask('/trap')).status).toBe(200);
    expect((await ask('/trap')).status).toBe(429);
    expect((await ask('/elsewhere')).status).toBe(429);
    await kept();
    const before = product.childPid('engine/main.js');
    process.kill(before, 'SIGKILL');
    await eventually(() => ![0, before].includes(product.childPid('engine/main.js')));
    expect((await ask('/elsewhere')).status).toBe(429);
    must('rate-limit', 'delete', /ratelimit-[\w-]+(?=[^\n]*\/trap)/.exec(limits())![0]);
    await eventually(async () => (await ask('/elsewhere')).status === 200);
    expect((await ask('/counted/again')).status).toBe(429);
  });

  test('the event names the limit', async () => {
    expect((await ask('/counted/x')).status).toBe(429);
    await eventually(() =>
      must('log', 'security', '--output', 'json', '--limit', '5').includes('rate_limit'),
    );
  });

  /** Resolves when all that was counted until now is kept: what is written holds all before it. */
  async function kept(): Promise<void> {
    const path = join(product.data, 'engine', 'rates');
    const saved = open({ path, encoding: 'binary', noSubdir: false, readOnly: true });
    const read = async (): Promise<string> => {
      await saved.resetReadTxn();
      return JSON.stringify([...saved.getRange({})]);
    };
    const before = await read();
    // Counted for another client, who is not banned.
    await ask('/counted/kept', '127.0.0.2');
    await eventually(async () => (await read()) !== before);
    await saved.close();
  }

  function limits(): string {
    return must('rate-limit', 'list', '--site', 'limited');
  }
});
