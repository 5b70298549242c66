/**
 * Proof that checks of API documents do the same to live traffic and to a simulated request: each
 * mode, undeclared requests, bodies, fail policies, and guards that skip the checks.
 */

import { afterEach, expect, test } from 'vitest';
import type { ApiMode } from '../../engine/contract/api-checks.ts';
import type { GuardVerdict } from '../../engine/contract/guard.ts';
import { schemaLimits } from '../../base/schema-limits.ts';
import { blockWith, Closing, ScriptedInspector } from '../../engine/front/fixtures/fixture.ts';
import type { GuardKind } from '../../engine/guard/guard.ts';
import { checksOf, operation, parameter } from '../../engine/schema/fixture.ts';
import { live, simulated, type BothCase, type Seen } from './both-ways.ts';

const closing = new Closing();
afterEach(() => closing.run());

const json = { range: 'application/json', kind: 'json', check: 1, pointer: '/json' } as const;
const body = { required: true, media: [json], pointer: '/body' };
const code = '(v) => typeof v === "number" && v > 0, (v) => v !== null && v.name === "a"';

function operationsIn(mode: ApiMode) {
  const shape = { kind: 'scalar', types: ['integer'] } as const;
  const id = parameter('path', 'id', { shape, check: 0 });
  return [
    operation('GET', '/users/{id}', { mode, parameters: [id] }),
    operation('POST', '/users', { mode, body }),
  ];
}

/** Has requests of `/users/skip` skip the checks. */
const bypass: GuardKind = {
  name: 'ip',
  compile: () => ({
    name: 'ip',
    describe: () => '',
    decide: (view) => {
      if (view.path !== '/users/skip') return null;
      const verdict: GuardVerdict = {
        ...{ guard: 'ip', action: 'bypass', reason: 'listed', ruleId: '', detail: '' },
        ...{ status: 0, scenario: null, skips: ['schema'] },
      };
      return verdict;
    },
  }),
};

interface Row {
  readonly says: string;
  readonly mode?: ApiMode;
  readonly undeclared?: 'allow' | 'observe' | 'block';
  readonly request: string;
  readonly body?: string;
  readonly more?: Partial<BothCase>;
  readonly status: number;
  /** What the guard says; '' for nothing. */
  readonly note?: string;
}

const bad = '{"name":"b"}';
const long = JSON.stringify({ name: 'x'.repeat(schemaLimits.bodyBytesMax) });
const inspects = new ScriptedInspector({
  bodyNeed: { inspect: true, limitBytes: 4, onExcess: 'prefix' },
});

const rows: readonly Row[] = [
  { says: 'valid', request: 'GET /users/7', status: 0 },
  { says: 'a violation', request: 'GET /users/x', status: 403, note: 'deny schema_violation' },
  {
    says: 'a violation that is observed',
    ...{ mode: 'observe', request: 'GET /users/x', status: 0, note: 'monitor schema_violation' },
  },
  { says: 'a violation that is off', mode: 'off', request: 'GET /users/x', status: 0 },
  { says: 'undeclared, allowed', request: 'GET /else', status: 0 },
  {
    says: 'undeclared, observed',
    ...{ undeclared: 'observe', request: 'GET /else', status: 0 },
    note: 'monitor undeclared_operation',
  },
  {
    says: 'undeclared, blocked',
    ...{ undeclared: 'block', request: 'GET /else', status: 403 },
    note: 'deny undeclared_operation',
  },
  { says: 'a valid body', request: 'POST /users', body: '{"name":"a"}', status: 0 },
  {
    says: 'a body that is not valid',
    ...{ request: 'POST /users', body: bad, status: 403, note: 'deny schema_violation' },
  },
  {
    says: 'the rules take less of the body',
    ...{ request: 'POST /users', body: bad, status: 403, note: 'deny schema_violation' },
    more: { inspector: inspects },
  },
  {
    says: 'the rules block first',
    ...{ request: 'POST /users', body: bad, status: 406 },
    more: { inspector: new ScriptedInspector({ head: () => blockWith(406, 1) }) },
  },
  {
    says: 'a body that is too long, fail policy closed',
    ...{ request: 'POST /users', body: long, status: 403, note: 'deny schema_not_evaluated' },
  },
  {
    says: 'a body that is too long, fail policy open',
    ...{ request: 'POST /users', body: long, status: 0, note: 'monitor schema_not_evaluated' },
    more: { waf: { failPolicy: 'open' } },
  },
  {
    says: 'a guard skips the checks',
    ...{ request: 'GET /users/skip', status: 0, note: 'bypass listed' },
    more: { kinds: [bypass] },
  },
];

test.each(rows)('$says', async ({ mode = 'enforce', undeclared = 'allow', ...row }) => {
  const scopes = [{ host: 'api.test', basePath: '', undeclared }];
  const api = checksOf(operationsIn(mode), code, { scopes });
  const sent = row.body ?? '';
  const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(sent)}\r\n`;
  const fields = `Host: api.test\r\n${sent === '' ? '' : type}Connection: close\r\n\r\n${sent}`;
  const one: BothCase = { ...row.more, api, wire: `${row.request} HTTP/1.1\r\n${fields}` };
  const shape = ({ status, guards }: Seen) => ({
    status,
    note: guards.map(([, action, reason]) => `${action} ${reason}`).join(),
  });
  const expected = { status: row.status, note: row.note ?? '' };
  expect(shape((await live(closing, one)).seen)).toEqual(expected);
  const { seen, trace } = simulated(one);
  expect(shape(seen)).toEqual(expected);
  const [step] = trace.filter(({ guard }) => guard === 'schema');
  expect(step?.skipped).toBe(row.more?.kinds !== undefined);
  if (step?.verdict) expect(expected.note).toContain(step.verdict.reason);
});
