/** Rate limits of several nodes through a real Redis, which hangs and dies in between. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import type { KeyHash } from '../contract/rate-limit.ts';
import type { RequestError } from '../contract/request-error.ts';
import { RateTable, shareRates, type RateAnswer } from '../guard/rate-table.ts';
import { readRedisOption } from '../process/redis-option.ts';
import { eventually } from '../../test/support/eventually.ts';
import { missingRedis, TestRedis } from '../../test/support/redis.ts';
import { RateExchange } from './rate-exchange.ts';
import { RedisConnection } from './redis-connection.ts';

if (missingRedis !== null) console.log(missingRedis);

const budget = { requests: 10, windowSeconds: 3_600 };

let redis: TestRedis;
let keys = 0;
const open: TestNode[] = [];

/** What an engine has of rate limits. */
class TestNode {
  readonly table = new RateTable(shareRates([1, 2], 64, true));
  readonly faults: RequestError[] = [];
  readonly exchange: RateExchange;

  constructor(name: string, url = redis.url) {
    this.exchange = new RateExchange(this.table, {
      address: readRedisOption(url)!,
      nodeId: name,
      clock: systemClock,
      log: createLogger('test', 'error'),
      onFault: (fault) => this.faults.push(fault),
    });
    open.push(this);
  }

  ask(key: KeyHash, dry = false): RateAnswer {
    return this.table.ask(key, budget, 0, Date.now(), dry);
  }

  /** How many of `count` requests pass. */
  passes(key: KeyHash, count: number): number {
    return Array.from({ length: count }, () => this.ask(key)).filter((one) => one === 'pass')
      .length;
  }

  /** Requests of a key that it knows of, its own and others'. */
  knows(key: KeyHash): number {
    this.ask(key, true);
    return this.table.used;
  }

  get reasons(): string[] {
    return this.faults.map(({ reason }) => reason);
  }
}

/** A key that no test had before. */
function newKey(): KeyHash {
  return { low: 1_000 + keys, high: -7 * ++keys };
}

describe.skipIf(missingRedis !== null)('rate limits of several nodes', () => {
  beforeAll(async () => {
    redis = await TestRedis.start();
  });
  afterEach(async () => {
    for (const { exchange } of open.splice(0)) await exchange.close();
  });
  afterAll(async () => {
    await redis?.kill();
  });

  test('a node learns what others counted, once, and refuses past the sum', async () => {
    const [one, two, three] = [new TestNode('1'), new TestNode('2'), new TestNode('3')];
    const key = newKey();
    expect(one.passes(key, 4)).toBe(4);
    await eventually(() => one.exchange.shared === 4);
    expect(two.passes(key, 3)).toBe(3);
    await eventually(() => two.knows(key) === 7);
    expect(two.passes(key, 9)).toBe(3);
    await eventually(() => two.exchange.shared === 6);
    expect(three.passes(key, 1)).toBe(1);
    await eventually(() => three.knows(key) >= 10);
    expect(three.passes(key, 5)).toBe(0);
    // The first one has not asked since: it lets one through, then knows of all.
    expect(one.passes(key, 1)).toBe(1);
    await eventually(() => one.knows(key) >= 12);
    expect(one.knows(key)).toBe(12);
    expect(one.passes(key, 5)).toBe(0);
  });

  test('together they let through no more than the limit and one exchange of each', async () => {
    const nodes = [new TestNode('4'), new TestNode('5'), new TestNode('6')];
    const key = newKey();
    let passed = 0;
    // A request a node a turn, until all of them refuse.
    await eventually(() => {
      const answers = nodes.map((node) => node.ask(key));
      passed += answers.filter((answer) => answer === 'pass').length;
      return answers.every((answer) => answer === 'over');
    });
    expect(passed).toBeGreaterThanOrEqual(budget.requests);
    expect(passed).toBeLessThanOrEqual(nodes.length * budget.requests);
    for (const node of nodes) expect(node.knows(key)).toBeGreaterThanOrEqual(budget.requests);
  });

  test('a ban reaches nodes that were never asked, also one that joins later', async () => {
    const [one, two] = [new TestNode('7'), new TestNode('8')];
    const key = newKey();
    one.table.ban(key, 600_000, Date.now());
    await eventually(() => two.table.hasBans && two.table.isBanned(key, Date.now()));
    const late = new TestNode('9');
    await eventually(() => late.table.hasBans && late.table.isBanned(key, Date.now()));
    expect(late.table.isBanned(newKey(), Date.now())).toBe(false);
  });

  test('a node that comes back with its counts does not count them twice', async () => {
    const key = newKey();
    const before = new TestNode('10');
    expect(before.passes(key, 4)).toBe(4);
    await eventually(() => before.exchange.shared === 4);
    await before.exchange.close();
    const after = new TestNode('10');
    for (const set of before.table.takeChanged(64)) {
      after.table.restoreSet(set, before.table.readSet(set, Date.now()), Date.now());
    }
    const other = new TestNode('11');
    expect(other.passes(key, 2)).toBe(2);
    await eventually(() => other.exchange.shared === 2);
    expect(after.passes(key, 1)).toBe(1);
    await eventually(() => after.knows(key) >= 7);
    expect(after.knows(key)).toBe(7);
  });

  test('killed in between: each counts for itself, reports it, and shares again', async () => {
    const [one, two] = [new TestNode('12'), new TestNode('13')];
    await eventually(() => one.exchange.isSharing && two.exchange.isSharing);
    await redis.kill();
    await eventually(() => !one.exchange.isSharing && !two.exchange.isSharing);
    const key = newKey();
    expect([one.passes(key, 15), two.passes(key, 15)]).toEqual([10, 10]);
    await eventually(() => one.exchange.unshared >= 10 && two.exchange.unshared >= 10);
    await redis.begin();
    await eventually(() => one.exchange.isSharing && two.exchange.isSharing);
    expect(one.reasons).toEqual(['rate_limits_alone', 'rate_limits_shared']);
    expect(one.faults[1]!.message).toMatch(/will not know of: \d\d/);
    const fresh = newKey();
    one.passes(fresh, 9);
    const shared = one.exchange.shared;
    await eventually(() => one.exchange.shared > shared);
    two.passes(fresh, 1);
    await eventually(() => two.knows(fresh) === 10);
    expect(two.passes(fresh, 5)).toBe(0);
  });

  test('a challenge is used up once among nodes, also what was used without Redis', async () => {
    const [one, two] = [new TestNode('17'), new TestNode('18')];
    await eventually(() => one.exchange.isSharing && two.exchange.isSharing);
    const asked = Array.from({ length: 200 }, (_, at) =>
      (at % 2 === 0 ? one : two).exchange.use('together', 60),
    );
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer === 'first')).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'again')).toHaveLength(199);
    await redis.kill();
    expect(await one.exchange.use('meanwhile', 60)).toBe('alone');
    await eventually(() => !one.exchange.isSharing && !two.exchange.isSharing);
    await redis.begin();
    await eventually(() => one.exchange.isSharing && two.exchange.isSharing);
    expect(await two.exchange.use('meanwhile', 60)).toBe('again');
    expect(await two.exchange.use('afterwards', 60)).toBe('first');
    expect(one.faults[1]!.message).toContain('Challenges that were used meanwhile: 1.');
    const connection = await RedisConnection.open(readRedisOption(redis.url)!);
    const [left] = await connection.send([['TTL', 'waf:challenge:afterwards']]);
    connection.close();
    expect(Number(left)).toBeGreaterThan(60);
    expect(Number(left)).toBeLessThanOrEqual(120);
  });

  test('hanging in between: requests are decided, the exchange is given up', async () => {
    const node = new TestNode('14');
    await eventually(() => node.exchange.isSharing);
    redis.pause();
    try {
      const key = newKey();
      expect(node.passes(key, 15)).toBe(10);
      await eventually(() => !node.exchange.isSharing);
      expect(node.passes(key, 5)).toBe(0);
      expect(node.faults[0]!.message).toContain('did not answer in time');
    } finally {
      redis.resume();
    }
    await eventually(() => node.exchange.isSharing);
  });

  test('scripts that Redis forgot are loaded again', async () => {
    const node = new TestNode('15');
    await eventually(() => node.exchange.isSharing);
    const connection = await RedisConnection.open(readRedisOption(redis.url)!);
    await connection.send([['SCRIPT', 'FLUSH']]);
    connection.close();
    node.passes(newKey(), 1);
    await eventually(() => node.reasons.includes('rate_limits_shared'));
    expect(node.faults[0]!.message).toContain('NOSCRIPT');
    const key = newKey();
    node.passes(key, 2);
    await eventually(() => node.exchange.shared >= 2);
  });

  test('a wrong password is said, and stays unsaid', async () => {
    const node = new TestNode('16', `redis://:sesame@127.0.0.1:${redis.port}`);
    await eventually(() => node.faults.length === 1);
    expect(node.faults[0]!.message).toContain('WRONGPASS');
    expect(JSON.stringify(node.faults)).not.toContain('sesame');
    expect(node.passes(newKey(), 15)).toBe(10);
  });
});
