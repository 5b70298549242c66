/** The same requests inspected inline, in the pool and by size: the records must be the same. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { poolLimits } from '../../engine/base/limits.ts';
import { silentLogger } from '../../base/log.ts';
import type { Inspector } from '../../engine/contract/inspection.ts';
import type { PhaseResult } from '../../engine/contract/inspection-failure.ts';
import type { TransactionRecord } from '../../engine/contract/verdict.ts';
import type { InspectionPlace } from '../../engine/contract/inspection.ts';
import { Pool, placeInspector } from '../../engine/pool/dispatch.ts';
import { policyOf, poolThreadSettings } from '../support/test-policy.ts';
import { buildEngine } from '../../engine/policies/policy-build.ts';
import {
  makeBody,
  makeConnection,
  makeRequest,
  makeResponse,
} from '../../engine/rules/oracle/conformance/exchange.ts';
import type { Exchange } from '../../engine/rules/oracle/evaluate.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { fixedPorts, noCache } from '../fuzz/compare-engines.ts';
import { transpileTree } from '../http/transpile.ts';

const root = path.resolve(import.meta.dirname, '../..');
const policy = policyOf(`SecAction "id:1,phase:1,pass,nolog,setvar:tx.late=1"
SecRule ARGS "@rx (select|union) (\\w+)" "id:2,phase:2,pass,capture,log,msg:'sql %{TX.2}',setvar:tx.inbound_anomaly_score=+5"
SecRule REQUEST_HEADERS:X-Stop "@streq now" "id:3,phase:1,deny,status:406"
SecRule ARGS_POST "@contains stop" "id:4,phase:2,deny,status:418"
SecRule REQUEST_BODY "@contains message" "id:7,phase:2,deny,status:419"
SecRule RESPONSE_BODY "@contains secret" "id:5,phase:4,deny,status:502,msg:'leak'"
SecRule TX:late "@eq 1" "id:6,phase:5,pass,log,msg:'%{tx.inbound_anomaly_score} %{MATCHED_VAR_NAME}'"
`);

let folder: string;
let transpiled: string;
let pool: Pool;
let engine: PolicyEngine;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'waf-places-'));
  const { url, folder: compiled } = await transpileTree(root, 'engine/threads/pool-thread.ts');
  transpiled = compiled;
  engine = buildEngine(policy, { cache: noCache, log: silentLogger, ports: fixedPorts });
  const workerData = poolThreadSettings(folder);
  pool = new Pool({
    workerFile: url,
    workerData,
    clock: systemClock,
    log: silentLogger,
    deadlineMs: 20_000,
    threads: 2,
  });
  pool.load('p', { policy: { key: 'p', source: policy }, shared: new Map() }, true);
});
afterAll(async () => {
  await pool.close();
  engine.retire();
  rmSync(folder, { recursive: true, force: true });
  rmSync(transpiled, { recursive: true, force: true });
});

function form(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}

function exchangeOf(target: string, fields: [string, string][], body: Uint8Array | null): Exchange {
  const length: [string, string][] = body
    ? [
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ['Content-Length', String(body.length)],
      ]
    : [];
  const all: [string, string][] = [['Host', 'a.example'], ...fields, ...length];
  const method = body ? 'POST' : 'GET';
  return {
    request: makeRequest(method, target, 'HTTP/1.1', all, makeConnection()),
    requestBody: makeBody(body),
    response: makeResponse(200, 'HTTP/1.1', [['Content-Type', 'text/html']]),
    responseBody: makeBody(form(target.includes('leak') ? 'a secret' : 'a page')),
  };
}

const large = 'a='.padEnd(poolLimits.inlineBodyBytesMax + 10, 'x');
const exchanges: readonly Exchange[] = [
  exchangeOf('/', [], null),
  exchangeOf('/?q=union+all&q=select+x', [], null),
  exchangeOf('/', [['X-Stop', 'now']], null),
  exchangeOf('/form', [], form('a=1&b=select+1')),
  exchangeOf('/form', [], form('a=stop')),
  exchangeOf('/leak', [], null),
  exchangeOf('/large', [], form(`${large}&c=union+all`)),
];

async function inspect(
  inspector: Inspector,
  exchange: Exchange,
): Promise<{ verdicts: PhaseResult[]; record: TransactionRecord }> {
  const session = inspector.open(exchange.request);
  const steps = [
    () => session.requestHead(),
    () => session.requestBody(session.bodyNeed.inspect ? exchange.requestBody : null),
    () => session.responseHead(exchange.response!),
    () => session.responseBody(session.responseNeed.inspect ? exchange.responseBody : null),
  ];
  const verdicts: PhaseResult[] = [];
  for (const step of steps) {
    const verdict = await step();
    verdicts.push(verdict);
    if (verdict.action !== 'pass') break;
  }
  return { verdicts, record: { ...(await session.finish()), inspectionUs: 0 } };
}

test('inline, pool and auto give the same verdicts and records', async () => {
  const how = { policy: 'p', recordOnly: false } as const;
  const run = (place: InspectionPlace): Promise<unknown[]> => {
    const inspector = placeInspector(place, engine, pool, how);
    return Promise.all(exchanges.map((exchange) => inspect(inspector, exchange)));
  };
  const inline = (await run('inline')) as Awaited<ReturnType<typeof inspect>>[];
  expect(inline.map(({ record }) => record.verdict.status)).toEqual([0, 0, 406, 0, 418, 502, 0]);
  expect(inline.some(({ record }) => record.matchedRules.some(({ ruleId }) => ruleId === 2))).toBe(
    true,
  );
  expect(await run('pool')).toEqual(inline);
  expect(await run('auto')).toEqual(inline);
});

test.each([10, poolLimits.inlineBodyBytesMax + 10, poolLimits.sharedBodyBytesMax + 10])(
  'a message of a WebSocket, of %i bytes and in no head, gets the same everywhere',
  async (length) => {
    const how = { policy: 'p', recordOnly: false } as const;
    const body = form('message'.padStart(length, 'x'));
    const opening = exchangeOf('/chat', [], null);
    const request = { ...opening.request, messageBytes: body.length };
    const exchange = { ...opening, request, requestBody: makeBody(body) };
    const inline = await inspect(placeInspector('inline', engine, pool, how), exchange);
    expect(inline.record.verdict.status).toBe(419);
    for (const place of ['pool', 'auto'] as const) {
      expect(await inspect(placeInspector(place, engine, pool, how), exchange)).toEqual(inline);
    }
  },
);

test('the pool begins with the first body, however small', () => {
  const start = vi.spyOn(pool, 'start');
  const inspector = placeInspector('auto', engine, pool, { policy: 'p', recordOnly: false });
  const open = (bytes: number): unknown =>
    inspector.open({ ...exchangeOf('/', [], null).request, messageBytes: bytes });
  open(0);
  expect(start).not.toHaveBeenCalled();
  open(1);
  expect(start).toHaveBeenCalledOnce();
});

test('recording only: the pool lets everything pass and records the same rules', async () => {
  const how = { policy: 'p', recordOnly: true } as const;
  const pooled = placeInspector('pool', engine, pool, how);
  const inline: Inspector = { open: (request) => engine.open(request, true) };
  for (const exchange of exchanges) {
    const [a, b] = [await inspect(pooled, exchange), await inspect(inline, exchange)];
    expect(a.verdicts.every(({ action }) => action === 'pass')).toBe(true);
    expect(a).toEqual(b);
  }
});
