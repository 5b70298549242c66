/**
 * Two enrolled nodes that share a Redis: a challenge of one is solved at the other, once among
 * both. Without Redis each takes its own only, and Redis gets what was used afterwards.
 */

import { mkdtempSync } from 'node:fs';
import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRedisOption } from '../../engine/process/redis-option.ts';
import { RedisConnection } from '../../engine/state/redis-connection.ts';
import { eventually } from '../support/eventually.ts';
import { readPageText, solve } from '../support/challenge-solver.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';
import { missingRedis, TestRedis } from '../support/redis.ts';
import {
  endNode,
  enroll,
  makeEnrollment,
  startNode,
  type TestNode,
} from '../support/remote-node.ts';

const missing = missingBuild ?? missingRedis;
if (missing !== null) console.log(missing);

interface Answer {
  readonly status: number;
  readonly body: string;
  /** As a browser sends it back; '' for none. */
  readonly cookie: string;
}

describe.skipIf(missing !== null)('two nodes and one Redis', () => {
  let waf: Product;
  let redis: TestRedis;
  let origin: Server;
  const nodes: TestNode[] = [];
  /** Of challenges, by token. */
  const ids = new Map<string, string>();

  beforeAll(async () => {
    redis = await TestRedis.start();
    origin = createServer((_request, response) => response.end('from the origin'));
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    const { port } = origin.address() as AddressInfo;
    waf = await startProduct('--no-demo');
    must(
      'site',
      'create',
      '--name',
      'shop',
      '--host',
      'shop.test',
      '--upstream',
      `http://127.0.0.1:${port}`,
    );
    const enrollment = makeEnrollment(waf, 2);
    for (let count = 0; count < 2; count++) {
      const data = mkdtempSync(join(tmpdir(), 'waf-node-'));
      const { code, stderr } = enroll(data, enrollment);
      if (code !== 0) throw new Error(stderr);
      nodes.push(await startNode(data, { WAF_RATE_LIMIT_REDIS: redis.url }));
    }
    const shows = (text: string): Promise<unknown> =>
      Promise.all(
        nodes.map((node) => eventually(async () => (await ask(node, '/')).body.includes(text))),
      );
    await shows('from the origin');
    must('bot', 'set', 'shop', '--mode', 'browser', '--difficulty', '12');
    await shows('data-bits');
  }, 300_000);
  afterAll(async () => {
    for (const node of nodes) await endNode(node);
    await waf?.stop();
    await redis?.kill();
    origin?.close();
  });

  function must(...words: string[]): void {
    const { code, stderr } = waf.waf(...words);
    if (code !== 0) throw new Error(`waf ${words.join(' ')}: ${stderr}`);
  }

  /** A navigation; with `program` the reason of a refusal comes as JSON. */
  function ask({ port }: TestNode, path: string, cookie = '', program = false): Promise<Answer> {
    const accept = program ? '*/*' : 'text/html';
    const headers = { host: 'shop.test', accept, ...(cookie === '' ? {} : { cookie }) };
    return new Promise((resolve) => {
      get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => (body += text));
        const [set = ''] = response.headers['set-cookie'] ?? [];
        const kept = set.split(';', 1)[0]!;
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body, cookie: kept }));
      }).on('error', () => resolve({ status: 0, body: '', cookie: '' }));
    });
  }

  /** Whether Redis knows a challenge as used. */
  async function knows(id: string): Promise<boolean> {
    const connection = await RedisConnection.open(readRedisOption(redis.url)!);
    const [there] = await connection.send([['EXISTS', `waf:challenge:${id}`]]);
    connection.close();
    return there === 1;
  }

  /** The path of a solution to a challenge of a node. */
  async function solved(node: TestNode): Promise<string> {
    const page = readPageText((await ask(node, '/')).body);
    ids.set(page.token, page.id);
    return `/.waf-check/pass?token=${page.token}&nonce=${solve(page)}`;
  }

  function idOf(path: string): string {
    return ids.get(/token=([^&]*)/.exec(path)?.[1] ?? '') ?? '';
  }

  async function reasonAt(node: TestNode, path: string): Promise<string> {
    const { status, body } = await ask(node, path, '', true);
    const said = /"reason":\s*"([^"]*)"/.exec(body)?.[1] ?? '';
    return `${status} ${said}`;
  }

  test('a challenge of one is solved at the other; the solution counts at neither again', async () => {
    const [one, two] = nodes as [TestNode, TestNode];
    for (const [asks, takes] of [
      [one, two],
      [two, one],
    ] as const) {
      const path = await solved(asks);
      const answer = await ask(takes, path);
      expect(answer.status).toBe(303);
      // Whoever solved it is served by both.
      for (const node of nodes) {
        expect((await ask(node, '/', answer.cookie)).body).toBe('from the origin');
        expect(await reasonAt(node, path)).toBe('403 bot_replayed');
      }
    }
  });

  test('handed to both at the same time it counts once', async () => {
    const path = await solved(nodes[0]!);
    const all = Array.from({ length: 20 }, (_, turn) => ask(nodes[turn % 2]!, path));
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(statuses.filter((status) => status === 403)).toHaveLength(19);
  });

  test('without Redis each node takes its own only; both share again when it is back', async () => {
    const [one, two] = nodes as [TestNode, TestNode];
    const elsewhere = await solved(one);
    const own = await solved(one);
    await redis.kill();
    expect(await reasonAt(two, elsewhere)).toBe('403 bot_other_node_required');
    const alone = await ask(one, own);
    expect(alone.status).toBe(303);
    expect(await reasonAt(one, own)).toBe('403 bot_replayed');
    // Clearances need nobody: they count at both.
    for (const node of nodes) {
      expect((await ask(node, '/', alone.cookie)).body).toBe('from the origin');
    }
    await redis.begin();
    await eventually(async () => (await ask(two, await solved(one))).status === 303);
    // What was used while Redis was away it hears afterwards.
    await eventually(() => knows(idOf(own)));
    expect(await reasonAt(two, own)).toBe('403 bot_replayed');
  });
});
