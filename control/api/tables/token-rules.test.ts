/**
 * Runs the table of sentences on API tokens, one line of token-rules.jsonl a sentence, in order:
 * `as` names who calls, by a token that an earlier line kept. No answer but that of the call which
 * makes a token, no audit row and no line of the log may hold the text of one.
 */

import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { createLogger } from '../../../base/log.ts';
import {
  expectRow,
  readRuleRows,
  RuleTable,
  type RuleRow,
} from '../../../test/support/rule-table.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { users } from '../../store/collections.ts';
import { openLmdbKv } from '../../store/lmdb-kv.ts';
import { openStore } from '../../store/store.ts';

interface TokenRow extends RuleRow {
  readonly as?: string;
}

const rows: readonly TokenRow[] = readRuleRows(new URL('token-rules.jsonl', import.meta.url));
const table = new RuleTable();
const password = 'a long passphrase 42';
const lines: string[] = [];
const answers: string[] = [];
let waf: TestControl;

beforeAll(async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'waf-tokens-'));
  const logger = createLogger('control', 'debug', (line) => lines.push(line), 'json');
  waf = await startTestControl({ dataFolder, demoOrigin: null });
  for (const [name, role] of [
    ['admin2', 'role-administrator'],
    ['operator', 'role-waf-operator'],
    ['foreigner', 'role-administrator'],
  ] as const) {
    const user = { username: name, roles: [{ id: role }] };
    const { body } = await waf.call('UserService/CreateUser', { user, password });
    table.known.set(`${name}Id`, (body['user'] as { id: string }).id);
  }
  table.known.set('adminId', table.known.get('admin2Id'));
  await waf.control.close();
  await moveToOtherTenant(join(dataFolder, 'control'), String(table.known.get('foreignerId')));
  waf = await startTestControl({ dataFolder, demoOrigin: null, logger });
  table.known.set('admin', await signIn('admin2'));
  table.known.set('operator', await signIn('operator'));
  table.known.set('foreigner', await signIn('foreigner'));
  table.known.set('nobody', '');
  table.known.set('password', password);
  for (const [name, days] of Object.entries({ soon: 30, later: 60, far: 400 })) {
    table.known.set(name, new Date(Date.now() + days * 86_400_000).toISOString());
  }
});
afterAll(() => waf.control.close());

async function moveToOtherTenant(folder: string, id: string): Promise<void> {
  const store = await openStore(openLmdbKv({ folder, durable: false }), systemClock);
  await store.write((tx) => {
    const user = tx.get(users, id);
    if (user === undefined) throw new Error('no such user');
    tx.put(users, { ...user, tenantId: 'second' });
  });
  await store.close();
}

async function signIn(username: string): Promise<string> {
  const { body } = await waf.call('AuthService/Login', { username, password }, { network: true });
  expect(body['message']).toBeUndefined();
  return String(body['accessToken']);
}

/** Runs a row as its caller, and keeps the answer's text where it must hold no secret. */
async function expectSentence(row: TokenRow): Promise<void> {
  const { as = 'socket' } = row;
  const known = (name: string): string => String(table.known.get(name));
  if (as === 'cut') table.known.set('cut', known('ci').slice(0, -1));
  if (as === 'bare') table.known.set('bare', known('ci').slice(0, 16));
  if (as === 'forged') table.known.set('forged', otherSecret(known('ci')));
  const way = as === 'socket' ? {} : as === 'nobody' ? { network: true } : { token: known(as) };
  if (as !== 'socket' && as !== 'nobody') expect(table.known.has(as)).toBe(true);
  const call = async (rpc: string, body: unknown) => {
    const answer = await waf.call(rpc, body, way);
    if (answer.body['secret'] === undefined) answers.push(answer.text);
    return answer;
  };
  await expectRow(table, { ...waf, call }, row);
}

/** The text with the third character of its secret changed. */
function otherSecret(text: string): string {
  return text.slice(0, 18) + (text[18] === 'x' ? 'y' : 'x') + text.slice(19);
}

function secrets(): string[] {
  const texts = [...table.known.values()].map(String);
  return texts.filter((text) => /^waf_\w{58}$/.test(text)).map((text) => text.slice(16));
}

describe('sentences on API tokens', () => {
  test.each(rows.map((row) => [row.rule, row] as const))('%s', (_, row) => expectSentence(row));

  test('every row of the table ran', () => {
    expect(rows.length).toBeGreaterThanOrEqual(110);
    expect(table.ran).toBe(rows.length);
    expect(new Set(rows.map(({ rule }) => rule)).size).toBe(rows.length);
  });

  test.each<[string, number, (token: string) => Sent]>([
    ['as Bearer', 200, (token) => ({ headers: { authorization: `Bearer ${token}` } })],
    ['as bearer', 200, (token) => ({ headers: { authorization: `bearer ${token}` } })],
    ['as BEARER', 200, (token) => ({ headers: { authorization: `BEARER ${token}` } })],
    ['after two spaces', 200, (token) => ({ headers: { authorization: `Bearer  ${token}` } })],
    ['in quotation marks', 401, (token) => ({ headers: { authorization: `Bearer "${token}"` } })],
    ['before another word', 401, (token) => ({ headers: { authorization: `Bearer ${token} a` } })],
    ['without a scheme', 401, (token) => ({ headers: { authorization: token } })],
    ['under another scheme', 401, (token) => ({ headers: { authorization: `Token ${token}` } })],
    ['as a password', 401, (token) => ({ headers: { authorization: basic('admin2', token) } })],
    ['as a name', 401, (token) => ({ headers: { authorization: basic(token, '') } })],
    ['in another field', 401, (token) => ({ headers: { 'x-api-key': token } })],
    ['in a cookie', 401, (token) => ({ headers: { cookie: `access_token=${token}` } })],
    ['in the URL', 401, (token) => ({ query: `?access_token=${token}` })],
    ['in the URL of a GET', 405, (token) => ({ query: `?token=${token}`, method: 'GET' })],
    ['in a form', 401, (token) => ({ form: `access_token=${token}` })],
  ])('a token %s gets %i, and is in no answer and no log', async (_, status, how) => {
    const token = String(table.known.get('root'));
    const { headers = {}, query = '', method = 'POST', form } = how(token);
    const type = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
    const base = `http://127.0.0.1:${waf.control.managementPort}`;
    const answer = await fetch(`${base}/waf.v1.SiteService/ListSites${query}`, {
      ...{ method, headers: { 'content-type': type, ...headers } },
      ...(method === 'POST' && { body: form ?? '{}' }),
    });
    expect(answer.status).toBe(status);
    expect([await answer.text(), ...lines].filter((one) => one.includes(token))).toEqual([]);
  });

  test('no text of a token is in an answer, in the log, in the audit log or on disk', async () => {
    const { text } = await waf.call('AuditService/QueryAudit', { page: { pageSize: 200 } });
    expect(text).toContain('api_token');
    expect(secrets().length).toBeGreaterThanOrEqual(10);
    const said = [...answers, ...lines, text];
    expect(said.length).toBeGreaterThan(80);
    for (const secret of secrets()) {
      expect(said.filter((one) => one.includes(secret))).toEqual([]);
      expect(filesWith(waf.folder, secret)).toEqual([]);
    }
  });

  test('a token of single sites reads no telemetry of the deployment', async () => {
    const admin = String(table.known.get('admin'));
    const site = String(table.known.get('mine'));
    const made = await waf.call(
      'waf.access.v1.TokenService/CreateApiToken',
      { name: 'telemetry', roleId: 'role-auditor', noExpiry: true, siteIds: [site] },
      { token: admin },
    );
    const url = `http://127.0.0.1:${waf.control.managementPort}/api/v1/telemetry/apitree`;
    const ask = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(url, { headers });
      return { status: answer.status, text: await answer.text() };
    };
    expect((await ask(String(made.body['secret']))).text).toContain('single sites');
    expect((await ask(admin)).text).not.toContain('single sites');
  });

  test('wrong tokens of an address are bounded, tokens used from there keep working', async () => {
    const admin = String(table.known.get('admin'));
    const made = await waf.call(
      'waf.access.v1.TokenService/CreateApiToken',
      { name: `t ${randomUUID()}`, roleId: 'role-auditor', noExpiry: true },
      { token: admin },
    );
    const good = String(made.body['secret']);
    const ask = async (token: string) =>
      (await waf.call('SiteService/ListSites', {}, { token })).status;
    expect(await ask(good)).toBe(200);
    const found: number[] = [];
    for (let at = 0; at < 60; at++)
      found.push(await ask(otherSecret(String(table.known.get('root')))));
    expect(found.at(-1)).toBe(429);
    expect(await ask(good)).toBe(200);
    const { status } = await waf.call(
      'AuthService/GetLoginOptions',
      {},
      { token: otherSecret(good) },
    );
    expect(status).toBe(200);
    expect(lines.filter((line) => line.includes('too many wrong API tokens'))).toHaveLength(1);
  });
});

/** What a request says beside the usual. */
interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly method?: string;
  readonly form?: string;
}

function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

function filesWith(folder: string, secret: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(secret));
}
