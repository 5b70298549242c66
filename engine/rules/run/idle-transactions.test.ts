/** Proves that policies which take transactions in turn see nothing of each other's requests. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { createLogger } from '../../../base/log.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import type { PolicySource } from '../../contract/policy.ts';
import { buildEngine } from '../../policies/policy-build.ts';
import { makeConnection, makeRequest } from '../oracle/conformance/exchange.ts';
import { noRequest } from '../transaction/no-request.ts';
import { Transaction } from '../transaction/transaction.ts';
import { IdleTransactions } from './idle-transactions.ts';
import type { PolicyEngine, RuleSession } from './policy-engine.ts';

const ports = { collections: null, geo: null, rbl: null, env: new Map() };
const log = createLogger('test', 'error');
const cache = { get: () => null, put: () => undefined };
const { idleTransactionsMax, largeTransactionsKept, transactionBytesKept } = ruleRunLimits;

/** Blocks `word`; what one request sets, a later rule of the same request reads. */
function engineOf(word: string, transactions: IdleTransactions, clock = systemClock): PolicyEngine {
  const seclangEntry =
    'SecRuleEngine On\n' +
    `SecRule ARGS "@contains ${word}" "id:1,phase:1,pass,nolog,setvar:tx.${word}=1"\n` +
    `SecRule TX:/^(first|second)$/ "@eq 1" "id:2,phase:2,deny,status:403"\n`;
  const source: PolicySource = {
    id: word,
    name: word,
    revision: '1',
    seclangEntry,
    files: new Map(),
  };
  return buildEngine(source, { cache, log, ports: { ...ports, clock }, transactions });
}

function openOn(engine: PolicyEngine, target: string): RuleSession {
  return engine.open(makeRequest('GET', target, 'HTTP/1.1', [], makeConnection()));
}

describe('policies with the same idle transactions', () => {
  test('answer as if each had its own, whichever requests overlap', () => {
    const transactions = new IdleTransactions();
    const engines = ['first', 'second'].map((word) => engineOf(word, transactions));
    const request = fc.record({
      policy: fc.nat({ max: 1 }),
      text: fc.constantFrom('first', 'second', 'neither', 'x'.repeat(100_000)),
      depth: fc.nat({ max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 12 }), (requests) => {
        const open: { session: RuleSession; blocks: boolean }[] = [];
        const end = (): void => {
          const { session, blocks } = open.shift()!;
          expect(session.requestBody(null).action).toBe(blocks ? 'block' : 'pass');
          expect(session.finish().matchedRules).toHaveLength(blocks ? 1 : 0);
        };
        for (const { policy, text, depth } of requests) {
          const session = openOn(engines[policy]!, `/?q=${text}`);
          expect(session.requestHead().action).toBe('pass');
          open.push({ session, blocks: text === ['first', 'second'][policy] });
          while (open.length > depth) end();
        }
        while (open.length > 0) end();
      }),
      { numRuns: 200 },
    );
    // As many as were in flight at a time, not as many as policies and requests.
    expect(transactions.size).toBeLessThanOrEqual(4);
    for (const engine of engines) engine.retire();
  });

  test('hold nothing of a request that is over', () => {
    const transactions = new IdleTransactions();
    const engine = engineOf('first', transactions);
    const session = openOn(engine, '/?q=first');
    session.requestHead();
    session.requestBody(null);
    expect(session.transaction.tx.get('first')).toBe('1');
    session.finish();
    const idle = transactions.take();
    expect([idle.values.count, idle.tx.entries(), idle.request]).toEqual([0, [], noRequest]);
    expect([idle.matchedRules, idle.matchedVariable]).toEqual([[], '']);
    engine.retire();
  });

  test('a request that cannot begin gives its transaction back', () => {
    const transactions = new IdleTransactions();
    let stopped = false;
    const monotonicUs = (): number => {
      if (stopped) throw new Error('no clock');
      return 0;
    };
    const engine = engineOf('first', transactions, { ...systemClock, monotonicUs });
    stopped = true;
    expect(() => openOn(engine, '/')).toThrow('no clock');
    expect(transactions.size).toBe(1);
    stopped = false;
    const session = openOn(engine, '/?q=first');
    expect(transactions.size).toBe(0);
    expect(session.requestHead().action).toBe('pass');
    expect(session.requestBody(null).action).toBe('block');
    session.finish();
    engine.retire();
  });
});

describe('a thread keeps', () => {
  test('no more transactions than it may', () => {
    const transactions = new IdleTransactions();
    for (let at = 0; at < idleTransactionsMax + 5; at++) transactions.giveBack(new Transaction());
    expect(transactions.size).toBe(idleTransactionsMax);
  });

  test('few that have become large', () => {
    const transactions = new IdleTransactions();
    for (let at = 0; at < largeTransactionsKept + 5; at++) {
      const large = new Transaction();
      large.values.reserve(transactionBytesKept + 1);
      transactions.giveBack(large);
    }
    expect(transactions.size).toBe(largeTransactionsKept);
    transactions.giveBack(new Transaction());
    expect(transactions.size).toBe(largeTransactionsKept + 1);
  });
});
