/** Tests what every variable shows of heads, bodies, answers and rules. */

import { describe, expect, test } from 'vitest';

import { clientCollections } from '../../../base/client-collections.ts';
import { loadRequestBody } from '../../load/request-body.ts';
import { loadResponseBody } from '../../load/response-body.ts';
import { loadResponseHead } from '../../load/response-head.ts';
import {
  responseFrom,
  samplePorts,
  transactionFor,
  transactionWithBody,
} from '../../load/test-sample.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type { MacroText, Rule } from '../../transaction/types.ts';
import { SOURCE } from '../../transaction/values.ts';
import { findVariable, variables } from './list.ts';

const get = (tx: Transaction, name: string): string[] =>
  findVariable(name)!
    .entries(tx)
    .map(({ key, value }) => (key === '' ? value : `${key}=${value}`));

const lookup = (tx: Transaction, name: string, key: string): string[] =>
  findVariable(name)!.lookup!(tx, key).map((entry) => `${entry.key}=${entry.value}`);

const head = (...fields: string[]): string =>
  ['POST /one/t%3fo/a.php?q=1&Q=2 HTTP/1.1', ...fields].join('\r\n');

test('collections of values under names of clients are known where values are hidden', () => {
  const { argGet, argPost, argPath, argRenamed, file } = SOURCE;
  const { requestHeader, headerRenamed, requestCookie, cookieRenamed } = SOURCE;
  const named: readonly number[] = [
    ...[argGet, argPost, argPath, argRenamed, file],
    ...[requestHeader, headerRenamed, requestCookie, cookieRenamed],
  ];
  const collections = variables.filter(
    ({ shape, rows }) =>
      shape === 'collection' &&
      rows?.rowPart === 'value' &&
      rows.sources.some((source) => named.includes(source)),
  );
  expect(collections.map(({ name }) => name.toLowerCase()).sort()).toEqual(
    [...clientCollections].sort(),
  );
});

test('every variable tells what it is', () => {
  expect(variables.length).toBeGreaterThan(90);
  for (const variable of variables) {
    expect(variable.name).toMatch(/^[A-Z_]+$/);
    expect(variable.summary).toMatch(/\S.*\.$/);
    expect(variable.example).not.toBe('');
    expect(variable.source).not.toBe('');
    expect(findVariable(variable.name)).toBe(variable);
  }
  expect(findVariable('WEBSERVER_ERROR_LOG')).toBeUndefined();
});

test('every variable answers on an empty and on a full transaction', () => {
  const tx = transactionFor(head('Host: a'));
  const full = transactionWithBody('JSON', '{"a":1}');
  loadResponseHead(full, responseFrom('HTTP/1.1 200 OK\r\nA: b'));
  for (const variable of variables) {
    for (const each of [tx, full]) {
      const entries = variable.entries(each);
      expect(variable.count?.(each) ?? entries.length).toBe(entries.length);
      for (const { key, value } of entries) {
        expect([typeof key, typeof value]).toEqual(['string', 'string']);
        const found = variable.lookup?.(each, key.toLowerCase());
        if (found) expect(found).toContainEqual({ key, value });
      }
    }
  }
});

describe('request', () => {
  const fields = ['Host: shop.example:8080', 'AuThOrIzAtIoN: Basic QWxhZGRpbjpPcGVuU2VzYW1l'];
  const scalars: [string, string[]][] = [
    ['REQUEST_METHOD', ['POST']],
    ['REQUEST_PROTOCOL', ['HTTP/1.1']],
    ['REQUEST_URI', ['/one/t%3fo/a.php?q=1&Q=2']],
    ['REQUEST_FILENAME', ['/one/t?o/a.php']],
    ['REQUEST_BASENAME', ['a.php']],
    ['REQUEST_PATHS', ['/one/t%3fo/a.php', '/one/t?o/a.php']],
    ['REQUEST_PATHS_JOINED', ['/one/t%3fo/a.php\n/one/t?o/a.php\n']],
    ['PATH_INFO', ['/one/t?o/a.php']],
    ['QUERY_STRING', ['q=1&Q=2']],
    ['AUTH_TYPE', ['Basic']],
    ['REMOTE_USER', ['Aladdin']],
    ['SERVER_NAME', ['shop.example']],
    ['REMOTE_ADDR', ['200.249.12.31']],
    ['REMOTE_HOST', ['200.249.12.31']],
    ['REMOTE_PORT', ['123']],
    ['SERVER_ADDR', ['200.249.12.11']],
    ['SERVER_PORT', ['80']],
    ['UNIQUE_ID', ['req-1']],
    ['ARGS', ['q=1', 'Q=2']],
    ['ARGS_NAMES', ['q=q', 'Q=Q']],
    ['ARGS_COMBINED_SIZE', ['4']],
    ['REQBODY_ERROR', ['0']],
    ['MULTIPART_STRICT_ERROR', ['0']],
    ['REQUEST_BODY', []],
    ['REQUEST_BODY_LENGTH', ['0']],
    ['RESPONSE_STATUS', []],
    ['HIGHEST_SEVERITY', ['255']],
    ['DURATION', ['0']],
    ['TIME_EPOCH', ['1714979289']],
    ['TIME_YEAR', ['2024']],
    ['TIME_MON', ['4']],
    ['TIME_WDAY', ['1']],
    ['TIME_SEC', ['09']],
  ];
  test.each(scalars)('%s', (name, expected) => {
    expect(get(transactionFor(head(...fields)), name)).toEqual(expected);
  });

  test('UNIQUE_ID is not for the client to choose', () => {
    const chosen = (receivedAtMs: number): string => {
      const tx = transactionFor(head('Host: a', 'X-Request-ID: req-1'));
      tx.request = { ...tx.request, requestId: 'req-1', receivedAtMs };
      return get(tx, 'UNIQUE_ID')[0] ?? '';
    };
    expect(chosen(1)).toMatch(/^[0-9a-f]{32}$/);
    expect(chosen(1)).toBe(chosen(1));
    expect(chosen(2)).not.toBe(chosen(1));
    expect(get(transactionFor(head('X-Request-Id: other')), 'UNIQUE_ID')).toEqual(['req-1']);
  });

  test('keys are found whatever their case', () => {
    const tx = transactionFor(head('Host: a', 'X-A: 1', 'x-a: 2', 'X-AB: 3'));
    expect(lookup(tx, 'REQUEST_HEADERS', 'x-a')).toEqual(['X-A=1', 'x-a=2']);
    expect(lookup(tx, 'REQUEST_HEADERS_NAMES', 'x-a')).toEqual(['X-A=X-A', 'x-a=x-a']);
    expect(lookup(tx, 'ARGS', 'q')).toEqual(['q=1', 'Q=2']);
    expect(lookup(tx, 'ARGS', 'none')).toEqual([]);
    expect(findVariable('REQUEST_HEADERS')!.count!(tx)).toBe(4);
  });

  test('names that an origin changes are found as it has them', () => {
    const target = 'GET /?a.b=1&a_b=2&%20c=3 HTTP/1.1';
    const fields = ['X_Tool: 4', 'X-Tool: 5', 'Cookie: d.e=6; d_e=7'];
    const tx = transactionFor([target, ...fields].join('\r\n'), { renamedValues: true });
    expect(get(tx, 'ARGS')).toEqual(['a.b=1', 'a_b=2', ' c=3']);
    expect(get(tx, 'ARGS_RENAMED')).toEqual(['a_b=1', 'c=3']);
    expect(get(tx, 'ARGS_RENAMED_NAMES')).toEqual(['a_b=a_b', 'c=c']);
    expect(lookup(tx, 'REQUEST_HEADERS_RENAMED', 'x-tool')).toEqual(['X-Tool=4']);
    expect(get(tx, 'REQUEST_COOKIES_RENAMED')).toEqual(['d_e=6']);
    expect(findVariable('ARGS_RENAMED')!.count!(tx)).toBe(2);
  });

  const hosts: [string, string][] = [
    ['a', 'a'],
    ['a:1', 'a'],
    ['[::1]:80', '[::1]'],
    ['[::1]', '[::1]'],
  ];
  test.each(hosts)('SERVER_NAME of %s', (host, name) => {
    expect(get(transactionFor(head(`Host: ${host}`)), 'SERVER_NAME')).toEqual([name]);
  });
});

describe('body', () => {
  const form = 'Content-Type: application/x-www-form-urlencoded';
  const load = (tx: Transaction, body: string, truncated = false): Transaction => {
    loadRequestBody(tx, { bytes: Buffer.from(body), truncated });
    return tx;
  };

  test('a form', () => {
    const tx = load(transactionFor(head('Host: a', form)), 'p=%41+b&q=3');
    expect(get(tx, 'ARGS')).toEqual(['q=1', 'Q=2', 'p=A b', 'q=3']);
    expect(get(tx, 'ARGS_POST')).toEqual(['p=A b', 'q=3']);
    expect(get(tx, 'REQUEST_BODY')).toEqual(['p=%41+b&q=3']);
    expect(get(tx, 'REQBODY_PROCESSOR')).toEqual(['URLENCODED']);
    const full = `${head('Host: a', form)}\r\n\r\np=%41+b&q=3`;
    expect(get(tx, 'FULL_REQUEST')).toEqual([full]);
    expect(get(tx, 'FULL_REQUEST_LENGTH')).toEqual([String(full.length)]);
  });

  test('no processor', () => {
    const tx = load(transactionFor(head('Content-Type: text/plain')), 'a=1', true);
    expect(get(tx, 'REQUEST_BODY')).toEqual(['a=1']);
    expect(get(tx, 'ARGS_POST')).toEqual([]);
    expect(get(tx, 'REQBODY_PROCESSOR')).toEqual(['']);
    expect(get(tx, 'INBOUND_DATA_ERROR')).toEqual(['1']);
  });

  test('an unknown processor, and one that ctl chose', () => {
    const tx = transactionFor(head('Host: a', form));
    tx.control.requestBodyProcessor = 'PROTOBUF';
    expect(get(load(tx, 'a=1'), 'REQBODY_ERROR')).toEqual(['1']);
    expect(get(tx, 'REQUEST_BODY')).toEqual(['a=1']);
    expect(get(transactionWithBody('URLENCODED', 'a=1'), 'ARGS_POST')).toEqual(['a=1']);
  });

  test('no access, no body', () => {
    const tx = transactionFor(head('Host: a', form), { requestBodyAccess: false });
    expect(get(load(tx, 'a=1'), 'ARGS_POST')).toEqual([]);
    loadRequestBody(tx, null);
    expect(get(tx, 'REQUEST_BODY_LENGTH')).toEqual(['0']);
  });

  test('the limit without files', () => {
    const settings = { requestBodyNoFilesLimitBytes: 5 };
    expect(get(transactionWithBody('JSON', '{"a":1}', settings), 'REQBODY_ERROR')).toEqual(['1']);
    expect(get(transactionWithBody('JSON', '[1]', settings), 'REQBODY_ERROR')).toEqual(['0']);
  });

  test('files', () => {
    const tx = transactionFor(head('Content-Type: multipart/form-data; boundary=B'));
    const part = (n: number): string =>
      `--B\r\nContent-Disposition: form-data; name="f${n}"; filename="n${n}"\r\n\r\n` +
      `${'x'.repeat(n)}\r\n`;
    load(tx, `${part(1)}${part(2)}--B--\r\n`);
    expect(get(tx, 'FILES')).toEqual(['f1=n1', 'f2=n2']);
    expect(get(tx, 'FILES_NAMES')).toEqual(['f1=f1', 'f2=f2']);
    expect(get(tx, 'FILES_SIZES')).toEqual(['f1=1', 'f2=2']);
    expect(get(tx, 'FILES_COMBINED_SIZE')).toEqual(['3']);
    expect(get(tx, 'FILES_TMP_CONTENT')).toEqual(['f1=x', 'f2=xx']);
    expect(findVariable('FILES_TMPNAMES')!.count!(tx)).toBe(2);
    expect(get(tx, 'MULTIPART_NAME')).toEqual(['f1=f1', 'f2=f2']);
    expect(get(tx, 'MULTIPART_FILENAME')).toEqual(['n1=n1', 'n2=n2']);
    expect(lookup(tx, 'MULTIPART_PART_HEADERS', 'f2')).toHaveLength(1);
    expect(get(tx, 'MULTIPART_STRICT_ERROR')).toEqual(['0']);
  });
});

test('answers', () => {
  const tx = transactionFor(head('Host: a'));
  loadResponseHead(
    tx,
    responseFrom('HTTP/1.1 404 Nope\r\nContent-Type: text/html; a=b\r\nContent-Length: 9'),
  );
  expect(get(tx, 'STATUS_LINE')).toEqual(['HTTP/1.1 404 Nope']);
  expect(get(tx, 'RESPONSE_PROTOCOL')).toEqual(['HTTP/1.1']);
  expect(get(tx, 'RESPONSE_STATUS')).toEqual(['404']);
  expect(get(tx, 'RESPONSE_CONTENT_TYPE')).toEqual(['text/html']);
  expect(get(tx, 'RESPONSE_CONTENT_LENGTH')).toEqual(['9']);
  expect(get(tx, 'RESPONSE_HEADERS_NAMES')).toEqual([
    'Content-Type=Content-Type',
    'Content-Length=Content-Length',
  ]);
  expect(get(tx, 'RESPONSE_BODY')).toEqual([]);
  loadResponseBody(tx, { bytes: Buffer.from('body'), truncated: true });
  expect(get(tx, 'RESPONSE_BODY')).toEqual(['body']);
  expect(get(tx, 'RESPONSE_CONTENT_LENGTH')).toEqual(['4']);
  expect(get(tx, 'OUTBOUND_DATA_ERROR')).toEqual(['1']);
});

test('collections', () => {
  const tx = transactionFor(head('Host: a'));
  tx.tx.set('score', '5');
  const stored = (value: string, expiresAtMs: number) => ({ value, expiresAtMs });
  tx.persistent.set('ip', {
    key: 'k',
    changes: new Map(),
    changed: false,
    values: new Map([
      ['live', stored('1', samplePorts.clock.nowMs() + 1)],
      ['dead', stored('2', samplePorts.clock.nowMs())],
    ]),
  });
  tx.geo = new Map([['COUNTRY_NAME', 'Österreich']]);
  tx.env.set('A', 'b');
  expect(get(tx, 'TX')).toEqual(['score=5']);
  expect(lookup(tx, 'TX', 'score')).toEqual(['score=5']);
  expect(lookup(tx, 'TX', 'none')).toEqual([]);
  expect(get(tx, 'IP')).toEqual(['live=1']);
  expect(lookup(tx, 'IP', 'dead')).toEqual([]);
  expect(get(tx, 'GLOBAL')).toEqual([]);
  expect(lookup(tx, 'GEO', 'country_name')).toEqual(['COUNTRY_NAME=\xc3\x96sterreich']);
  expect(lookup(tx, 'ENV', 'a')).toEqual(['A=b']);
});

test('matches and the running rule', () => {
  const tx = transactionFor(head('Host: a'));
  expect(get(tx, 'RULE')).toEqual([]);
  tx.matchedVariables = [{ key: 'ARGS:keyI', value: 'v' }];
  expect(get(tx, 'MATCHED_VARS')).toEqual(['ARGS:keyI=v']);
  expect(get(tx, 'MATCHED_VARS_NAMES')).toEqual(['ARGS:keyI=ARGS:keyI']);
  const ruleVariable = findVariable('RULE')!;
  const message: MacroText = {
    source: 'is %{RULE.msg}',
    literal: null,
    parts: ['is ', { variable: ruleVariable, key: 'msg', text: 'RULE.msg' }],
  };
  const rule = { id: 7, rev: '2', severity: 2, logData: null, message } as unknown as Rule;
  tx.rule = rule;
  expect(get(tx, 'RULE')).toEqual(['id=7', 'rev=2', 'severity=2', 'msg=is is %{RULE.msg}']);
});

test('a chain link that matches MATCHED_VARS does not walk what it adds itself', () => {
  const tx = transactionFor(head('Host: a'));
  tx.matchedVariables = [{ key: 'ARGS:a', value: 'v' }];
  let walked = 0;
  for (const entry of findVariable('MATCHED_VARS')!.entries(tx)) {
    if (walked < 5) tx.matchedVariables.push(entry);
    walked++;
  }
  expect(walked).toBe(1);
});
