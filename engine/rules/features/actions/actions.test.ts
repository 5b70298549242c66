/** What runtime actions do to a transaction, form by form. */

import { describe, expect, test } from 'vitest';
import { sampleMatch } from '../../../../test/support/sample-event.ts';
import { formatErrorLogLine, maskSanitised } from '../../transaction/report.ts';
import { isExcluded, isRuleRemoved, removedTargetsOf } from '../../transaction/removal.ts';
import { applyChange, type StoredChange, type StoredText } from '../../../base/stored-change.ts';
import { saveCollections } from '../../transaction/collections.ts';
import { sampleSettings } from '../../load/test-sample.ts';
import { parseMacros } from '../../transaction/macro.ts';
import type { CollectionStore } from '../../transaction/ports.ts';
import { Transaction } from '../../transaction/transaction.ts';
import type { BindContext, BoundAction, Rule, Target } from '../../transaction/types.ts';
import { SOURCE, type SourceId } from '../../transaction/values.ts';
import { findVariable } from '../variables/list.ts';
import { actions } from './list.ts';

const context: BindContext = {
  file: 'test.conf',
  pcreMatchLimit: 1000,
  known: false,
  findVariable,
  parseMacros: (text) => parseMacros(text, findVariable),
  readDataFile: () => null,
};

const startMs = 1_700_000_000_000;

function newTransaction(collections: CollectionStore | null = null): Transaction {
  const tx = new Transaction();
  tx.settings = sampleSettings;
  tx.ports = {
    clock: { nowMs: () => startMs, monotonicUs: () => 0 },
    collections,
    geo: null,
    rbl: null,
    env: new Map(),
  };
  return tx;
}

function bind(name: string, argument: string): BoundAction {
  const bound = actions.find((action) => action.name === name)?.bind?.(argument, context);
  if (!bound || 'failure' in bound) throw new Error(`${name}:${argument} does not bind`);
  return bound;
}

function failureOf(name: string, argument: string): string {
  const bound = actions.find((action) => action.name === name)?.bind?.(argument, context);
  return bound && 'failure' in bound ? bound.failure : '';
}

const rule = {
  id: 942100,
  tags: [parseMacros('attack-sqli', findVariable)],
  message: parseMacros('SQL injection', findVariable),
} as unknown as Rule;

function run(tx: Transaction, ...texts: string[]): Transaction {
  for (const text of texts) {
    const colon = text.indexOf(':');
    bind(text.slice(0, colon), text.slice(colon + 1)).run(tx, rule);
  }
  return tx;
}

function addRow(tx: Transaction, source: SourceId, key: string, value: string): void {
  const keyStart = tx.values.appendText(key);
  const start = tx.values.appendText(value);
  tx.values.add(source, keyStart, start, start, tx.values.used);
}

describe('setvar', () => {
  const table: [string[], Record<string, string>][] = [
    [['setvar:tx.a=1'], { a: '1' }],
    [['setvar:TX.A'], { a: '1' }],
    [['setvar:tx:a=x=y'], { a: 'x=y' }],
    [["setvar:tx.a='quoted'"], { a: 'quoted' }],
    [['setvar:tx.a=5', 'setvar:tx.a=+3'], { a: '8' }],
    [['setvar:tx.a=5', 'setvar:tx.a=-7'], { a: '-2' }],
    [['setvar:tx.a=+3'], { a: '3' }],
    [['setvar:tx.a=text', 'setvar:tx.a=+3'], { a: '3' }],
    [['setvar:tx.a=5', 'setvar:!tx.a'], {}],
    [['setvar:tx.n=2', 'setvar:tx.a=+%{tx.n}', 'setvar:tx.a=+%{TX.N}'], { n: '2', a: '4' }],
    [['setvar:tx.n=K', 'setvar:tx.%{tx.n}-x=1'], { n: 'K', 'k-x': '1' }],
    [['setvar:tx.a=%{tx.none}'], { a: '' }],
    [['setvar:ip.a=1'], {}],
  ];
  test.each(table)('%j', (texts, expected) => {
    const tx = run(newTransaction(), ...texts);
    expect(Object.fromEntries(tx.tx.snapshot())).toEqual(expected);
  });

  test('tells the planner what it changes', () => {
    const { effect } = bind('setvar', 'tx.Score=+%{tx.n}');
    expect(effect).toMatchObject({ kind: 'setTx', op: 'add', name: { literal: 'score' } });
    expect(bind('setvar', 'ip.x=1').effect).toEqual({ kind: 'isolated' });
    expect(bind('setvar', '!tx.x').effect).toMatchObject({ kind: 'setTx', op: 'unset' });
  });

  test('values that double at every match stop growing', () => {
    const tx = run(newTransaction(), 'setvar:tx.a=0123456789');
    const double = bind('setvar', 'tx.a=%{tx.a}%{tx.a}');
    for (let i = 0; i < 40; i++) double.run(tx, rule);
    expect(tx.tx.get('a')?.length).toBe(1_048_576);
  });

  test.each(['x', 'foo.a=1', 'tx.', '=1'])('refuses %s', (text) => {
    expect(failureOf('setvar', text)).toMatch(/expected/);
  });
});

describe('collections', () => {
  class MemoryStore implements CollectionStore {
    readonly saved = new Map<string, Map<string, StoredText>>();
    readonly ends = new Map<string, number>();
    load(collection: string, key: string): Map<string, StoredText> | null {
      const values = this.saved.get(`${collection}/${key}`);
      return values ? new Map(values) : null;
    }
    update(
      collection: string,
      key: string,
      changes: ReadonlyMap<string, StoredChange>,
      expiresAtMs: number,
    ): void {
      const id = `${collection}/${key}`;
      const values = this.saved.get(id) ?? new Map<string, StoredText>();
      for (const [name, change] of changes) {
        const after = applyChange(values.get(name), change);
        if (after) values.set(name, after);
        else values.delete(name);
      }
      this.saved.set(id, values);
      this.ends.set(id, expiresAtMs);
    }
  }

  test('live over transactions', () => {
    const store = new MemoryStore();
    const first = run(newTransaction(store), 'initcol:ip=192.0.2.1', 'setvar:ip.n=+1');
    expect(first.persistent.get('ip')?.values.get('is_new')?.value).toBe('1');
    saveCollections(first);
    const second = run(newTransaction(store), 'initcol:ip=192.0.2.1', 'setvar:ip.n=+1');
    expect(second.persistent.get('ip')?.values.get('n')?.value).toBe('2');
    expect(second.persistent.get('ip')?.values.get('is_new')?.value).toBe('0');
    saveCollections(second);
    expect(store.saved.get('ip/192.0.2.1')?.get('update_counter')?.value).toBe('2');
  });

  test('transactions that run at the same time add up', () => {
    const store = new MemoryStore();
    saveCollections(run(newTransaction(store), 'initcol:ip=a', 'setvar:ip.n=5', 'setvar:ip.old=1'));
    const open = ['initcol:ip=a', 'setvar:ip.n=+1', 'setvar:ip.n=+2', 'setvar:!ip.old'];
    const first = run(newTransaction(store), ...open);
    const second = run(newTransaction(store), ...open, 'setvar:ip.n=-1', 'expirevar:ip.n=60');
    expect(first.persistent.get('ip')?.values.get('n')?.value).toBe('8');
    saveCollections(first);
    saveCollections(second);
    const saved = store.saved.get('ip/a');
    expect(saved?.get('n')).toEqual({ value: '10', expiresAtMs: startMs + 60_000 });
    expect(saved?.has('old')).toBe(false);
    expect(saved?.get('update_counter')?.value).toBe('3');
  });

  test('are forgotten after SecCollectionTimeout, or TIMEOUT', () => {
    const store = new MemoryStore();
    const tx = run(newTransaction(store), 'initcol:ip=a', 'setvar:ip.n=1');
    expect(tx.persistent.get('ip')?.values.get('timeout')?.value).toBe('3600');
    saveCollections(tx);
    expect(store.ends.get('ip/a')).toBe(startMs + 3_600_000);
    saveCollections(run(newTransaction(store), 'initcol:ip=b', 'setvar:ip.timeout=5'));
    expect(store.ends.get('ip/b')).toBe(startMs + 5000);
    saveCollections(run(newTransaction(store), 'initcol:ip=b', 'setvar:ip.n=1'));
    expect(store.ends.get('ip/b')).toBe(startMs + 5000);
  });

  test('belong to an application when SecWebAppId names one', () => {
    const store = new MemoryStore();
    const tx = newTransaction(store);
    tx.webAppId = 'shop';
    saveCollections(run(tx, 'setsid:1', 'setvar:session.n=1'));
    expect([...store.saved.keys()]).toEqual(['session/shop\u00001']);
    expect(tx.persistent.get('session')?.values.get('key')?.value).toBe('1');
  });

  test('are not written when nothing changed', () => {
    const store = new MemoryStore();
    saveCollections(run(newTransaction(store), 'initcol:global=global'));
    expect(store.saved.size).toBe(0);
  });

  test('the first opening stands', () => {
    const tx = run(newTransaction(), 'setsid:one', 'setsid:two', 'setuid:me', 'setrsc:page');
    expect(tx.persistent.get('session')?.key).toBe('one');
    expect([tx.sessionId, tx.userId, tx.resourceId]).toEqual(['two', 'me', 'page']);
  });

  test('values end', () => {
    const tx = run(newTransaction(), 'initcol:ip=x', 'setvar:ip.a=1', 'expirevar:ip.a=60');
    const { values } = tx.persistent.get('ip')!;
    expect(values.get('a')?.expiresAtMs).toBe(startMs + 60_000);
    run(tx, 'setvar:ip.a=2');
    expect(values.get('a')).toEqual({ value: '2', expiresAtMs: startMs + 60_000 });
    run(tx, 'expirevar:ip.a=0');
    expect(values.has('a')).toBe(false);
  });

  test('counters fall', () => {
    const tx = run(newTransaction(), 'initcol:ip=x', 'setvar:ip.score=100');
    const { values } = tx.persistent.get('ip')!;
    const saved = String(startMs / 1000 - 650);
    values.set('last_update_time', { value: saved, expiresAtMs: 0 });
    run(tx, 'deprecatevar:ip.score=10/300');
    expect(values.get('score')?.value).toBe('80');
    run(tx, 'deprecatevar:ip.score=1000/1');
    expect(values.get('score')?.value).toBe('0');
  });

  test.each([
    ['initcol', 'ip'],
    ['initcol', 'tx=1'],
    ['expirevar', 'tx.a=1'],
    ['deprecatevar', 'ip.a=1'],
    ['deprecatevar', 'ip.a=1/0'],
  ])('refuses %s:%s', (name, argument) => {
    expect(failureOf(name, argument)).toMatch(/expected/);
  });
});

describe('ctl', () => {
  test('turns switches', () => {
    const tx = run(
      newTransaction(),
      'ctl:ruleEngine=DetectionOnly',
      'ctl:requestBodyAccess=off',
      'ctl:responseBodyAccess=Off',
      'ctl:forceRequestBodyVariable=On',
      'ctl:requestBodyProcessor=xml',
      'ctl:parseXmlIntoArgs=OnlyArgs',
      'ctl:auditEngine=RelevantOnly',
      'ctl:auditLogParts=ABE',
      'ctl:auditLogParts=+C',
      'ctl:auditLogParts=-B',
      'ctl:debugLogLevel=9',
    );
    expect(tx.control).toMatchObject({
      engine: 'detectionOnly',
      requestBodyAccess: false,
      responseBodyAccess: false,
      forceRequestBodyVariable: true,
      requestBodyProcessor: 'XML',
      parseXmlIntoArgs: 'onlyArgs',
      auditEngine: 'relevantOnly',
      auditLogParts: 'AEC',
      debugLogLevel: 9,
    });
  });

  test.each([
    ['GRPC', ''],
    ['', 'JSON'],
  ])('requestBodyProcessor=JSON keeps the frames of gRPC: %j', (bodyProcessor, chosen) => {
    const tx = newTransaction();
    tx.bodyProcessor = bodyProcessor;
    expect(run(tx, 'ctl:requestBodyProcessor=JSON').control.requestBodyProcessor).toBe(chosen);
  });

  const removals: [string, boolean][] = [
    ['ctl:ruleRemoveById=942100', true],
    ['ctl:ruleRemoveById=942000-942200', true],
    ['ctl:ruleRemoveById=1,942100', true],
    ['ctl:ruleRemoveById=942101', false],
    ['ctl:ruleRemoveByTag=attack-sqli', true],
    ['ctl:ruleRemoveByTag=attack', false],
    ['ctl:ruleRemoveByMsg=SQL injection', true],
    ['ctl:ruleRemoveByMsg=SQL', false],
  ];
  test.each(removals)('%s: %s', (text, removed) => {
    expect(isRuleRemoved(rule, run(newTransaction(), text))).toBe(removed);
  });

  const targets: [string, string, string, boolean][] = [
    ['ctl:ruleRemoveTargetById=942100;ARGS:Foo', 'ARGS', 'fOO', true],
    ['ctl:ruleRemoveTargetById=942100;ARGS:foo', 'ARGS', 'food', false],
    ['ctl:ruleRemoveTargetById=942100;ARGS:/^fo/', 'ARGS', 'food', true],
    ['ctl:ruleRemoveTargetById=942100-942199;ARGS', 'ARGS', 'x', true],
    ['ctl:ruleRemoveTargetById=942100;ARGS', 'ARGS_GET', 'x', false],
    ['ctl:ruleRemoveTargetById=1;ARGS', 'ARGS', 'x', false],
    ['ctl:ruleRemoveTargetByTag=attack-sqli;REQUEST_COOKIES:a', 'REQUEST_COOKIES', 'a', true],
    ['ctl:ruleRemoveTargetByMsg=SQL injection;ARGS_NAMES', 'ARGS_NAMES', 'a', true],
    ['ctl:ruleRemoveTargetById=942100;ARGS:A.b', 'ARGS_RENAMED', 'a_B', true],
    ['ctl:ruleRemoveTargetById=942100;ARGS:a_b', 'ARGS_RENAMED', 'a_b', true],
    ['ctl:ruleRemoveTargetById=942100;ARGS:a.c', 'ARGS_RENAMED', 'a_b', false],
    ['ctl:ruleRemoveTargetById=942100;ARGS', 'ARGS_RENAMED', 'a_b', true],
    ['ctl:ruleRemoveTargetById=942100;ARGS_RENAMED:a_b', 'ARGS_RENAMED', 'a_b', true],
    ['ctl:ruleRemoveTargetById=942100;ARGS_RENAMED:a_b', 'ARGS', 'a_b', false],
    ['ctl:ruleRemoveTargetById=942100;ARGS_GET', 'ARGS_RENAMED', 'a_b', false],
    ['ctl:ruleRemoveTargetById=942100;ARGS_NAMES:a.b', 'ARGS_RENAMED_NAMES', 'a_b', true],
    ['ctl:ruleRemoveTargetById=942100;ARGS:a.b', 'ARGS_RENAMED_NAMES', 'a_b', false],
    [
      'ctl:ruleRemoveTargetById=942100;REQUEST_HEADERS:x_tool',
      ...(['REQUEST_HEADERS_RENAMED', 'X-Tool', true] as const),
    ],
    ['ctl:ruleRemoveTargetById=942100;REQUEST_COOKIES', 'REQUEST_COOKIES_RENAMED', 'a', true],
  ];
  test.each(targets)('%s: %s:%s %s', (text, name, key, excluded) => {
    const variable = findVariable(name);
    if (!variable) throw new Error(name);
    const target: Target = { variable, selector: null, count: false };
    const removed = removedTargetsOf(rule, run(newTransaction(), text));
    expect(isExcluded(removed, target, key)).toBe(excluded);
  });

  test('many matches record a removal once', () => {
    const tx = newTransaction();
    const removal = bind('ctl', 'ruleRemoveTargetById=1-9;ARGS:x');
    for (let i = 0; i < 100; i++) removal.run(tx, rule);
    expect(tx.control.removedTargets.length).toBe(1);
  });

  test.each([
    'ruleEngine',
    'ruleEngine=Maybe',
    'nosuch=1',
    'ruleRemoveById=a',
    'ruleRemoveTargetById=1',
    'ruleRemoveTargetById=1;NOSUCH',
    'ruleRemoveTargetById=1;ARGS:/(/',
    'requestBodyProcessor=CSV',
  ])('refuses %s', (text) => {
    expect(failureOf('ctl', text)).not.toBe('');
  });
});

describe('others', () => {
  test('setenv sets and removes', () => {
    const tx = run(newTransaction(), 'setenv:A=1', 'setenv:b=x==y', 'setenv:c', 'setenv:!A');
    expect(Object.fromEntries(tx.env)).toEqual({ b: 'x==y', c: '1' });
  });

  test('sanitise actions hide values in records', () => {
    const tx = newTransaction();
    const secret = { name: 'ARGS:Password', value: 's3cret' };
    const record = {
      ruleId: 1,
      phase: 2,
      message: 'm',
      data: 'Matched s3cret within ARGS:Password',
      severity: 2,
      tags: [],
      operator: '@rx s',
      matched: [secret, { name: 'ARGS:b', value: 'b' }],
      disruptive: false,
      file: 'a.conf',
      line: 3,
      rev: '',
      ver: '',
      maturity: 0,
      accuracy: 0,
      log: true,
      auditLog: true,
    };
    tx.matchedRules = [record];
    expect(maskSanitised(tx)[0]).toEqual(record);
    run(tx, 'sanitiseArg:password');
    expect(maskSanitised(tx)[0]?.data).toBe('Matched ****** within ARGS:Password');
    expect(maskSanitised(tx)[0]?.matched[0]?.value).toBe('******');
    tx.matchedVariableName = 'ARGS:b';
    run(tx, 'sanitiseMatched:');
    expect(tx.sanitised).toEqual(['args:password', 'args:b']);
    // Other variables hold the value too, as it was sent or decoded.
    addRow(tx, SOURCE.argPost, 'password', 's3 cret');
    addRow(tx, SOURCE.requestHeader, 'Authorization', 'Basic eDp5');
    const line = { name: 'REQUEST_LINE', value: 'GET /?a=1&password=s3+cret HTTP/1.1' };
    const data = 's3 cret in password=s3%20cret, Basic eDp5';
    tx.matchedRules = [{ ...record, data, message: '', tags: ['s3 cret'], matched: [line] }];
    run(tx, 'sanitiseRequestHeader:Authorization');
    expect(maskSanitised(tx)).toMatchObject([
      {
        data: '******* in password=********** **********',
        tags: ['*******'],
        matched: [{ name: 'REQUEST_LINE', value: 'GET /?a=1&password=******* HTTP/1.1' }],
      },
    ]);
  });

  test('exec and its like are refused', () => {
    expect(failureOf('exec', '/bin/sh')).toBe('refused: no script execution');
    for (const name of ['proxy', 'pause', 'append', 'prepend']) {
      expect(failureOf(name, 'x')).toMatch(/unsupported/);
    }
  });

  test('log lines cannot be forged', () => {
    const tx = newTransaction();
    tx.request = {
      requestId: 'r',
      connection: { serverIp: '127.0.0.1' },
    } as Transaction['request'];
    const line = formatErrorLogLine(
      sampleMatch({
        ruleId: 1,
        message: 'a\nb',
        data: '\x1b[0m\xff',
        severity: -1,
        tags: ['t'],
        operator: '!@streq x',
        matched: [{ name: 'ARGS:\r', value: 'v\n' }],
        disruptive: true,
        file: 'f',
      }),
      tx,
    );
    expect(line).toMatch(/^[\x20-\x7e]+$/);
    expect(line).toContain("Operator `StrEq' with parameter `x' against variable `ARGS:\\x0d'");
    expect(line).toContain('Access denied with code 403 (phase 2)');
  });

  test('the list names everything once', () => {
    const names = actions.flatMap(({ name, aliases }) => [name, ...(aliases ?? [])]);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
    for (const { kind, bind: bindAction } of actions) {
      expect(kind === 'runtime').toBe(bindAction !== undefined);
    }
  });
});
