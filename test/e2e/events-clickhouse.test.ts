/**
 * Runs the product with its events in ClickHouse: what traffic leaves there is what queries find.
 */

import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminCall } from '../support/admin-call.ts';
import { oldClickhouse, TestClickhouse } from '../support/clickhouse.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';

const missing = missingBuild ?? oldClickhouse.missing;
let product: Product;
let server: TestClickhouse;
let url = '';

if (missing !== null) console.log(missing);

interface Event {
  readonly id?: string;
  readonly uniqueId?: string;
  readonly host?: string;
  readonly status?: number;
  readonly ruleIds?: readonly string[];
  readonly level?: string;
}

beforeAll(async () => {
  if (missing !== null) return;
  server = await TestClickhouse.start();
  url = server.freshUrl();
  process.env['WAF_EVENTS_CLICKHOUSE'] = url;
  product = await startProduct();
}, 600_000);
afterAll(async () => {
  delete process.env['WAF_EVENTS_CLICKHOUSE'];
  await product?.stop();
  await server?.stop();
});

/** One request to the demo site, or to another; its id. */
async function ask(path: string, port = product.proxyPort): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  await answer.arrayBuffer();
  return answer.headers.get('x-request-id') ?? '';
}

/** One request to the site whose origin is dead; its status and its id. */
function askDead(): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const where = { port: product.proxyPort, headers: { host: 'dead.test' }, agent: false };
    const asked = request(where, (answer) => {
      const id = String(answer.headers['x-request-id']);
      answer.resume().on('end', () => resolve([answer.statusCode ?? 0, id]));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** The only event of a request, once a query finds it. */
function eventOf(kind: 'Security' | 'Access' | 'Error', requestId: string): Promise<Event> {
  return eventually(async () => {
    const outcome = kind === 'Security' ? { outcome: 'SECURITY_EVENT_OUTCOME_ANY' } : {};
    const body = { ...outcome, uniqueId: requestId, page: { pageSize: 10 } };
    const answer = await adminCall(product.data, `LogService/Query${kind}Events`, body);
    const items = (answer.body['items'] ?? []) as Event[];
    return items.length === 1 ? items[0]! : null;
  });
}

/** Rows that ClickHouse itself counts of a request, in all tables of the product's database. */
async function rowsOf(requestId: string): Promise<string[]> {
  const { username, password, pathname, origin } = new URL(url);
  const database = pathname.slice(1);
  const headers = {
    'x-clickhouse-user': username,
    'x-clickhouse-key': decodeURIComponent(password),
  };
  const query = async (sql: string): Promise<string[]> => {
    const answer = await fetch(origin, { method: 'POST', headers, body: sql });
    expect(answer.status).toBe(200);
    return (await answer.text()).split('\n').filter((line) => line !== '');
  };
  const tables = await query(
    `SELECT DISTINCT table FROM system.columns WHERE database = '${database}' AND name = 'request'`,
  );
  const found: string[] = [];
  for (const table of tables) {
    const [count] = await query(
      `SELECT count() FROM ${database}.${table} WHERE request = '${requestId}'`,
    );
    if (Number(count) > 0) found.push(table);
  }
  return found;
}

test.skipIf(missing !== null)(
  'security, access and error events are stored there and found by their queries',
  async () => {
    const attack = await ask('/?id=1%27%20OR%20%271%27=%271');
    const security = await eventOf('Security', attack);
    expect(security).toMatchObject({ uniqueId: attack, status: 403 });
    expect(security.ruleIds).toContain('942100');
    expect(await eventOf('Access', attack)).toMatchObject({ uniqueId: attack, status: 403 });
    const dead = `http://127.0.0.1:${await freePort()}`;
    const words = ['--name', 'dead', '--host', 'dead.test', '--upstream', dead];
    const { code, stderr } = product.waf('site', 'create', ...words);
    expect(code, stderr).toBe(0);
    const failed = await eventually(async () => {
      const [status, id] = await askDead();
      return status === 502 ? id : null;
    }, 300_000);
    expect(await eventOf('Error', failed)).toMatchObject({ uniqueId: failed, level: 'error' });
    expect(await rowsOf(attack)).not.toEqual([]);
  },
  600_000,
);

test.skipIf(missing !== null)(
  'a query says that ClickHouse is away, and finds what is there again',
  async () => {
    const before = await ask('/kept?id=1%27%20OR%20%271%27=%271');
    await eventOf('Security', before);
    await server.kill();
    const outcome = 'SECURITY_EVENT_OUTCOME_ANY';
    const query = { outcome, uniqueId: before, page: { pageSize: 10 } };
    const away = await adminCall(product.data, 'LogService/QuerySecurityEvents', query);
    expect(away).toMatchObject({ status: 503 });
    // Traffic is served and blocked meanwhile; its events wait.
    const meanwhile = await ask('/meanwhile?id=1%27%20OR%20%271%27=%271');
    expect(meanwhile).not.toBe('');
    await server.begin();
    expect(await eventOf('Security', before)).toMatchObject({ uniqueId: before });
    expect(await eventOf('Security', meanwhile)).toMatchObject({ uniqueId: meanwhile });
  },
  600_000,
);
