/**
 * Runs the table of sentences on what is observed, one line of log-rules.jsonl a sentence, in
 * order: log policies, events, evidence, SIEM targets, alerts, LogService and plain HTTP.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../test/support/free-port.ts';
import { LogRows, type LogRow } from '../../../test/support/log-rows.ts';
import { readRuleRows } from '../../../test/support/rule-table.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';

const rows = readRuleRows(new URL('log-rules.jsonl', import.meta.url)) as LogRow[];
const password = 'a-long-password-1';
/** Who asks, and what each may. */
const users: Readonly<Record<string, readonly string[]>> = {
  reader: ['log:read'],
  exporter: ['log:export'],
  watcher: ['telemetry:read'],
  tree: ['api_inventory:write'],
  poor: [],
};
let waf: TestControl;
let run: LogRows;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null, alerting: { everyMs: 50 } });
  run = new LogRows(waf);
  const { known } = run.table;
  const upstreams = [{ inline: { url: 'http://127.0.0.1:9', weight: 1 } }];
  const site = { name: 'shop', primaryHost: 'shop.test', upstreams };
  const made = await waf.call('SiteService/CreateSite', { site });
  known.set('site', (made.body['site'] as { id: string }).id);
  keepTimes(known);
  known.set('quota', String(evidenceStoreLimits.quotaBytes));
  known.set('closedPort', await freePort());
  for (const name of ['ecs', 'audit', 'access', 'ocsf', 'hook']) await run.receive(name);
  for (const [name, permissions] of Object.entries(users)) await signUp(name, permissions);
  const login = { username: 'admin', password: waf.password };
  await signIn('admin', login);
});
afterAll(() => run.close());

/** Events lie two hours back, a second apart. */
function keepTimes(known: Map<string, unknown>): void {
  const nowMs = Date.now();
  const hourMs = 3_600_000;
  const dayMs = 24 * hourMs;
  const atMs = (number: number): number => nowMs - 2 * hourMs + number * 1000;
  const iso = (ms: number): string => new Date(ms).toISOString();
  for (let number = 1; number <= 8; number++) {
    known.set(`at${number}`, atMs(number));
    known.set(`iso${number}`, iso(atMs(number)));
  }
  known.set('now', nowMs);
  known.set('isoStart', iso(atMs(0)));
  known.set('isoEnd', iso(atMs(60)));
  known.set('isoDay', iso(nowMs - dayMs));
  known.set('isoSoon', iso(nowMs + hourMs));
  known.set('expires1', iso(atMs(1) + 3 * dayMs));
  known.set('expires1Short', iso(atMs(1) + dayMs));
  known.set('today', iso(nowMs).slice(0, 10));
}

async function signUp(username: string, permissions: readonly string[]): Promise<void> {
  const role = { name: username, permissions };
  const made = await waf.call('RoleService/CreateRole', { role });
  const roles = [{ id: (made.body['role'] as { id: string }).id }];
  await waf.call('UserService/CreateUser', { user: { username, roles }, password });
  await signIn(username, { username, password });
}

async function signIn(name: string, login: object): Promise<void> {
  const { body } = await waf.call('AuthService/Login', login, { network: true });
  const token = body['accessToken'];
  if (typeof token !== 'string') throw new Error(`${name} cannot sign in`);
  run.tokens.set(name, token);
}

function expectSentence(row: LogRow): Promise<void> {
  return run.run(row);
}

describe('sentences on what is observed', () => {
  test.each(rows.map((row) => [`${row.rpc}: ${row.rule}`, row] as const))('%s', (_, row) =>
    expectSentence(row),
  );

  test('every row of the table ran, and every RPC of LogService is in it', () => {
    expect(rows.length).toBeGreaterThanOrEqual(300);
    expect(run.table.ran).toBe(rows.length);
    const called = rows.map(({ rpc, body }) => {
      const { method } = body as { readonly method?: string };
      return rpc === 'stream' ? `LogService/${method}` : rpc;
    });
    expect(new Set(called.filter((rpc) => rpc.startsWith('LogService/'))).size).toBe(22);
    console.log(`sentences on what is observed: ${run.table.ran} of ${rows.length} rows ran`);
  });
});
