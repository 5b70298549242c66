/**
 * Proof that a live front refuses what an API document does not allow, where it is enforced; that
 * observed operations block nothing; and that what cannot be looked at is never taken for valid.
 */

import { afterEach, expect, test } from 'vitest';
import type { ApiChecks, ApiOperation } from '../../contract/api-checks.ts';
import { linearPattern } from '../../match/linear-pattern.ts';
import { checksOf, operation, parameter } from '../../schema/fixture.ts';
import { schemaLimits } from '../../../base/schema-limits.ts';
import { Closing, httpOrigin, RawClient, siteFor, startFront } from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const isPositive = '(v) => typeof v === "number" && v > 0';
const isUser =
  '(v) => typeof v === "object" && v !== null && typeof v.name === "string" && v.age === undefined';

const json = { range: 'application/json', kind: 'json', check: 1, pointer: '/json' } as const;
const operations: readonly ApiOperation[] = [
  operation('GET', '/users/{id}', {
    parameters: [
      parameter('path', 'id', { shape: { kind: 'scalar', types: ['integer'] }, check: 0 }),
      parameter('query', 'page', { shape: { kind: 'scalar', types: ['integer'] }, check: 0 }),
    ],
    unknownQuery: 'violation',
  }),
  operation('GET', '/users/me'),
  operation('GET', '/files/{name}'),
  operation('POST', '/users', { body: { required: true, media: [json], pointer: '/body' } }),
  operation('POST', '/seen', {
    mode: 'observe',
    body: { required: true, media: [json], pointer: '/body' },
  }),
  operation('POST', '/off', {
    mode: 'off',
    body: { required: true, media: [json], pointer: '/body' },
  }),
];
const code = `${isPositive}, ${isUser}`;

interface Row {
  readonly says: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: string;
  readonly body?: string;
  readonly status: number;
  readonly undeclared?: ApiChecks['scopes'][number]['undeclared'];
  readonly failPolicy?: 'open' | 'closed';
}

const sendsJson = 'Content-Type: application/json\r\n';
const long = JSON.stringify({ name: 'x'.repeat(schemaLimits.bodyBytesMax) });

const rows: readonly Row[] = [
  { says: 'a valid path parameter', path: '/users/7', status: 200 },
  { says: 'a path parameter of another type', path: '/users/seven', status: 403 },
  { says: 'a literal wins over a template', path: '/users/me', status: 200 },
  { says: 'a slash at the end means the same', path: '/users/seven/', status: 403 },
  { says: 'case means the same', path: '/USERS/seven', status: 403 },
  { says: 'an escape means the same', path: '/%75sers/seven', status: 403 },
  { says: 'a dot segment means the same', path: '/x/../users/seven', status: 403 },
  { says: 'a doubled slash means the same', path: '//users/seven', status: 403 },
  { says: 'an escaped dot segment means the same', path: '/x/%2e%2e/users/seven', status: 403 },
  { says: 'readings of two operations', path: '/users/./me', status: 200 },
  { says: 'readings that disagree', path: '/users/7/..;/me', status: 200 },
  { says: 'HEAD is checked as GET', method: 'HEAD', path: '/users/seven', status: 403 },
  { says: 'a valid query', path: '/users/7?page=2', status: 200 },
  { says: 'a query parameter of another type', path: '/users/7?page=two', status: 403 },
  { says: 'a query parameter twice', path: '/users/7?page=2&page=3', status: 403 },
  { says: 'an escaped name is that name', path: '/users/7?p%61ge=two', status: 403 },
  { says: 'a query parameter that is not declared', path: '/users/7?q=1', status: 403 },
  { says: 'a broken escape', path: '/users/7?page=%2', status: 403 },
  { says: 'no operation, allowed', path: '/other', status: 200 },
  { says: 'no operation, observed', path: '/other', status: 200, undeclared: 'observe' },
  { says: 'no operation, blocked', path: '/other', status: 403, undeclared: 'block' },
  { says: 'an escaped slash, where all is allowed', path: '/files/a%2Fb', status: 200 },
  { says: 'a slash to some origins', path: '/files/a%2Fb', status: 403, undeclared: 'block' },
  { says: 'dots to some origins', path: '/files/..%2Fx', status: 403, undeclared: 'block' },
  { says: 'a way around', path: '/admin/../files/a', status: 403, undeclared: 'block' },
  { says: 'slashes that are too many', path: '/files//./a', status: 200, undeclared: 'block' },
  { says: 'a host to some origins', path: '//files/a', status: 403, undeclared: 'block' },
  { says: 'an operation after what some take for a host', path: '//x/users/x', status: 403 },
  { says: 'the same with backslashes', path: '/\\x\\users\\x', status: 403 },
  { says: 'an operation that a script is given', path: '/index.php/users/x', status: 403 },
  { says: 'an operation in other case, after a parameter', path: '/;a/USERS/x', status: 403 },
  { says: 'a parameter of a segment', path: '/files/a;v=1', status: 200, undeclared: 'block' },
  { says: 'no method, blocked', method: 'PUT', path: '/users', status: 403, undeclared: 'block' },
  {
    says: 'a valid body',
    method: 'POST',
    path: '/users',
    headers: sendsJson,
    body: '{"name":"a"}',
    status: 200,
  },
  {
    says: 'a body that breaks its schema',
    method: 'POST',
    path: '/users',
    headers: sendsJson,
    body: '{"name":1}',
    status: 403,
  },
  { says: 'no body where one is required', method: 'POST', path: '/users', status: 403 },
  {
    says: 'a member twice',
    method: 'POST',
    path: '/users',
    headers: sendsJson,
    body: '{"name":1,"name":"a"}',
    status: 403,
  },
  {
    says: 'a member twice, once escaped',
    method: 'POST',
    path: '/users',
    headers: sendsJson,
    body: '{"name":"a","n\\u0061me":"b"}',
    status: 403,
  },
  {
    says: 'what is no JSON',
    method: 'POST',
    path: '/users',
    headers: sendsJson,
    body: '{"name":"a",}',
    status: 403,
  },
  {
    says: 'another media type',
    method: 'POST',
    path: '/users',
    headers: 'Content-Type: text/plain\r\n',
    body: '{"name":"a"}',
    status: 403,
  },
  {
    says: 'two media types',
    method: 'POST',
    path: '/users',
    headers: sendsJson + sendsJson,
    body: '{"name":"a"}',
    status: 403,
  },
  {
    says: 'a longer body than is looked at, closed',
    method: 'POST',
    path: '/users',
    headers: sendsJson,
    body: long,
    status: 403,
  },
  {
    says: 'a longer body than is looked at, open',
    method: 'POST',
    path: '/users',
    headers: sendsJson,
    body: long,
    status: 200,
    failPolicy: 'open',
  },
  {
    says: 'a compressed body',
    method: 'POST',
    path: '/users',
    headers: `${sendsJson}Content-Encoding: gzip\r\n`,
    body: '{"name":"a"}',
    status: 403,
  },
  {
    says: 'an observed body that breaks its schema',
    method: 'POST',
    path: '/seen',
    headers: sendsJson,
    body: '{"name":1}',
    status: 200,
  },
  {
    says: 'an operation that is off',
    method: 'POST',
    path: '/off',
    headers: sendsJson,
    body: '{"name":1}',
    status: 200,
  },
];

test.each(rows)('$says', async (row) => {
  const { method = 'GET', path, headers = '', body = '', status, undeclared = 'allow' } = row;
  const port = await httpOrigin(closing, (request, response) => {
    request.resume();
    request.on('end', () => response.end('ok'));
  });
  const scopes = [{ host: 'api.test', basePath: '', undeclared }];
  const api = checksOf(operations, code, { scopes });
  const failPolicy = row.failPolicy ?? 'closed';
  const site = siteFor(port, { api, waf: { enabled: false, mode: 'blocking', failPolicy } });
  const services = { schemaServices: { pattern: linearPattern, onFault: () => undefined } };
  const running = await startFront(closing, [site], null, {}, 'strict', services);
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n`;
  const text = await new RawClient(running.port)
    .send(`${head}${headers}${length}\r\n${body}`)
    .all();
  expect(text.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
  const [event] = await running.eventsReach(1);
  expect(event!.outcome).toBe(status === 403 ? 'blocked' : 'served');
});

test('the strictest of the parts of a site that a path may mean decides', async () => {
  const port = await httpOrigin(closing, (_, response) => response.end('ok'));
  const scopes = [
    { host: 'api.test', basePath: '', undeclared: 'block' },
    { host: 'api.test', basePath: '/open', undeclared: 'allow' },
  ] as const;
  const site = siteFor(port, { api: checksOf(operations, code, { scopes }) });
  const services = { schemaServices: { pattern: linearPattern, onFault: () => undefined } };
  const running = await startFront(closing, [site], null, {}, 'strict', services);
  const statuses: string[] = [];
  for (const path of ['/open/x', '/open/..%2Fadmin', '/open/x/../../admin']) {
    const wire = `GET ${path} HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n`;
    statuses.push((await new RawClient(running.port).send(wire).all()).slice(9, 12));
  }
  expect(statuses).toEqual(['200', '403', '403']);
});

test('what is found is counted, and an event names no value', async () => {
  const port = await httpOrigin(closing, (_, response) => response.end('ok'));
  const services = { schemaServices: { pattern: linearPattern, onFault: () => undefined } };
  const site = siteFor(port, { api: checksOf(operations, code) });
  const running = await startFront(closing, [site], null, {}, 'strict', services);
  const wires = ['/users/7', '/users/canary', '/users/canary', '/nowhere'];
  for (const path of wires) {
    const wire = `GET ${path} HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n`;
    await new RawClient(running.port).send(wire).all();
  }
  const events = await running.eventsReach(wires.length);
  expect(events[1]!.guards).toEqual([
    {
      guard: 'schema',
      action: 'deny',
      reason: 'schema_violation',
      ruleId: 'GET /users/{id}',
      detail: 'path: type at /parameters/id',
      skipped: [],
      finding: {
        contractId: 'contract-1',
        operationKey: 'GET /users/{id}',
        ...{ location: 'path', keyword: 'type', pointer: '/parameters/id' },
      },
    },
  ]);
  const deltas = running.front.drainApiCounts();
  const sums = new Map<string, number>();
  for (const { entries } of deltas) {
    for (const [key, count] of entries) sums.set(key, (sums.get(key) ?? 0) + count);
  }
  expect(Object.fromEntries(sums)).toEqual({
    'operation requests GET /users/{id}': 3,
    'path valid GET /users/{id}': 1,
    'path violation GET /users/{id}': 2,
    'query valid GET /users/{id}': 3,
    'operation undeclared ': 1,
  });
  expect(JSON.stringify(deltas.map(({ violations }) => violations))).not.toContain('canary');
  const violations = deltas.flatMap((delta) => delta.violations);
  expect(violations.reduce((sum, { count }) => sum + count, 0)).toBe(2);
});
