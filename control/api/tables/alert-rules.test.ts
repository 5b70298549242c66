/**
 * Runs the table of what AlertService says and does, one line of alert-rules.jsonl a sentence, in
 * order. `$name` in a line stands for what an earlier line kept, or for what is made here.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startReceiver } from '../../../test/support/alert-receivers.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { expectRow, readRuleRows, RuleTable } from '../../../test/support/rule-table.ts';
import { makeTestCertificate } from '../../../test/support/test-certificates.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

const rows = readRuleRows(new URL('alert-rules.jsonl', import.meta.url));
const table = new RuleTable(['s3cret', 'S3CRET']);
const receiver = await startReceiver();
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null, alerting: { everyMs: 20 } });
  const day = 86_400_000;
  const after = (days: number): string =>
    `${new Date(Date.now() + days * day).toISOString().slice(0, 19)}Z`;
  table.known.set('hook', receiver.url);
  table.known.set('soon', after(1));
  table.known.set('later', after(2));
  table.known.set('user', 'local-administrator');
  await made('SystemService/UpdateSystemSettings', {
    values: { 'outgoing.allowed_networks': ['127.0.0.0/8'] },
  });
  const { cert, key } = await makeTestCertificate({ names: ['soon.test'], toDays: 9.5 });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const upload = { name: 'soon', certPem: base64(cert), keyPem: base64(key) };
  await made('CertService/UploadCert', upload);
  const rule = {
    ...{ name: 'certs ending', enabled: true, severity: 'ALERT_SEVERITY_WARNING' },
    expression: '{"kind":"cert_expiring","repeatSeconds":0}',
  };
  const { id } = (await made('AlertService/UpsertAlertRule', { rule }))['rule'] as { id: string };
  table.known.set('firing', id);
  await eventually(async () => {
    const { items } = await made('AlertService/ListAlerts', {});
    return items !== undefined;
  });
});
afterAll(async () => {
  await waf.control.close();
  await receiver.close();
});

async function made(rpc: string, body: object): Promise<Record<string, unknown>> {
  const answer = await waf.call(rpc, body);
  expect([rpc, answer.status, answer.body['message']]).toEqual([rpc, 200, undefined]);
  return answer.body;
}

describe('rules on alerts', () => {
  test.each(rows.map((row) => [`${row.rpc}: ${row.rule}`, row] as const))('%s', (_, row) =>
    expectRow(table, waf, row),
  );

  test('every row of the table ran, and every RPC is in it', () => {
    expect(rows.length).toBeGreaterThan(130);
    expect(table.ran).toBe(rows.length);
    const rpcs = new Set(rows.map(({ rpc }) => rpc).filter((rpc) => rpc.startsWith('Alert')));
    expect(rpcs.size).toBe(21);
    console.log(`rules on alerts: ${table.ran} of ${rows.length} rows ran`);
  });
});
