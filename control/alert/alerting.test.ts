/**
 * Alerts from end to end in control: conditions over its store and counts, messages to receivers on
 * loopback. Rounds run often; a test waits for what must come, never for a time to pass.
 */

import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crc32c } from '../../base/crc32c.ts';
import { metricPayloadVersion } from '../../base/protocol-versions.ts';
import { CounterBatchSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { startMailbox, startReceiver, type Received } from '../../test/support/alert-receivers.ts';
import { eventually } from '../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { openCounterStore } from '../observe/counter-store.ts';
import { openLmdbKv } from '../store/lmdb-kv.ts';

type Json = Record<string, unknown>;

let waf: TestControl;
const receiver = await startReceiver();
const mailbox = await startMailbox();
const everyMs = 20;

beforeAll(async () => {
  waf = await startTestControl(
    { alerting: { everyMs, pagerDutyUrl: `${receiver.url}/pagerduty`, sendTimeoutMs: 20_000 } },
    (folder) => countEvents(join(folder, '..', 'events')),
  );
});
afterAll(async () => {
  await waf.control.close();
  await receiver.close();
  await mailbox.close();
});

/** 120 blocked attacks on a site, and 30 requests that were noticed, all of them just now. */
async function countEvents(folder: string): Promise<void> {
  const kv = openLmdbKv({ folder, durable: false });
  const entries = [
    { family: 'alert', key: 'b 2 sqli 942100,949110', count: 120n },
    { family: 'alert', key: 'p 5  920350', count: 30n },
  ];
  const delta = { siteId: 'site-demo', policyId: 'p', requests: 150n, entries };
  const batch = create(CounterBatchSchema, { toMs: BigInt(Date.now()), deltas: [delta] });
  const payload = toBinary(CounterBatchSchema, batch);
  const header = { agentId: 'local', tenantId: 'default', bootId: '00', batchSeq: 1n };
  const whole = { ...header, crc32c: crc32c(payload), payload };
  expect(await openCounterStore(kv).ingest(whole, metricPayloadVersion)).toBe('stored');
  await kv.close();
}

async function ok(rpc: string, body: object): Promise<Json> {
  const answer = await waf.call(`AlertService/${rpc}`, body);
  expect([rpc, answer.status, answer.body['message']]).toEqual([rpc, 200, undefined]);
  return answer.body;
}

const allow = (networks: readonly string[]) =>
  waf.call('SystemService/UpdateSystemSettings', {
    values: { 'outgoing.allowed_networks': networks },
  });

async function addChannel(name: string, kind: string, config: object): Promise<string> {
  const channel = { name, kind: `ALERT_CHANNEL_KIND_${kind}`, enabled: true, config };
  return ((await ok('UpsertAlertChannel', { channel }))['channel'] as { id: string }).id;
}

interface Rule {
  readonly id: string;
}

async function addRule(name: string, condition: object, channelIds: readonly string[]) {
  const expression = JSON.stringify(condition);
  const rule = { name, enabled: true, severity: 'ALERT_SEVERITY_CRITICAL', expression, channelIds };
  return (await ok('UpsertAlertRule', { rule }))['rule'] as unknown as Rule;
}

interface ShownAlert {
  readonly id: string;
  readonly ruleId: string;
  readonly status: string;
  readonly evaluationState: string;
  readonly title: string;
  readonly message: string;
  readonly closedReason?: string;
  readonly payload: Json;
}

async function alertsOf(ruleId: string): Promise<ShownAlert[]> {
  return ((await ok('ListAlerts', { ruleId }))['items'] ?? []) as ShownAlert[];
}

async function notesOf(alertId: string): Promise<string[]> {
  const items = (await ok('ListAlertNotes', { alertId }))['items'] as { body?: string }[];
  return items.map(({ body = '' }) => body);
}

async function arrived(path: string, count = 1): Promise<Received> {
  return eventually(() => receiver.of(path)[count - 1] ?? null);
}

const threshold = { kind: 'security_threshold', threshold: 100, windowSeconds: 3600 };

test('a threshold fires; every kind of channel gets its message, signed where it signs', async () => {
  expect((await allow(['127.0.0.0/8'])).status).toBe(200);
  const secret = 'secret of the webhook';
  const from = { from: 'waf@shop.example', to: ['ops@shop.example', 'more@shop.example'] };
  const channels = [
    await addChannel('hook', 'WEBHOOK', {
      ...{ url: `${receiver.url}/hook`, secret, headers: { 'X-Team': 'shop' } },
    }),
    await addChannel('slack', 'SLACK', { webhookUrl: `${receiver.url}/slack/T0/B0/token` }),
    await addChannel('pager', 'PAGERDUTY', { routingKey: 'R0123456789ABCDEF0123456789ABCDE' }),
    await addChannel('lark', 'FEISHU', { webhookUrl: `${receiver.url}/lark`, secret: 'lark' }),
    await addChannel('wecom', 'WECOM', { webhookUrl: `${receiver.url}/wecom`, locale: 'zh-CN' }),
    await addChannel('mail', 'EMAIL', {
      ...{ host: '127.0.0.1', port: mailbox.port, tls: 'none', ...from },
    }),
  ];
  const rule = await addRule('Attacks', threshold, channels);
  const hook = await arrived('/hook');
  const [alert] = await alertsOf(rule.id);
  expect(alert).toMatchObject({
    ...{ status: 'ALERT_STATUS_OPEN', evaluationState: 'firing', kind: 'security_threshold' },
    payload: { count: 150, threshold: 100 },
  });
  expect(alert?.message).toContain('150 security events in 3600 s for ');

  const [, seconds = '', digest = ''] =
    /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(hook.headers['waf-signature'])) ?? [];
  const signed = createHmac('sha256', secret).update(`${seconds}.${hook.body}`).digest('hex');
  expect(digest).toBe(signed);
  expect(hook.headers).toMatchObject({ 'x-team': 'shop', 'waf-event': 'firing' });
  expect(JSON.parse(hook.body)).toMatchObject({
    version: '1',
    event: 'firing',
    alert: {
      ...{ id: alert?.id, ruleId: rule.id, siteId: 'site-demo', severity: 'critical' },
      ...{ status: 'open', resolvedAt: null },
    },
  });

  expect(JSON.parse((await arrived('/slack/T0/B0/token')).body)).toEqual({
    text: expect.stringMatching(/^\*\[critical\] Attacks: .*\*\n150 security events/) as unknown,
  });
  expect(JSON.parse((await arrived('/pagerduty')).body)).toMatchObject({
    ...{ routing_key: 'R0123456789ABCDEF0123456789ABCDE', event_action: 'trigger' },
    ...{ dedup_key: alert?.id, payload: { severity: 'critical', source: 'site-demo' } },
  });
  const lark = JSON.parse((await arrived('/lark')).body) as { timestamp: string; sign: string };
  const key = `${lark.timestamp}\nlark`;
  expect(lark.sign).toBe(createHmac('sha256', key).update('').digest('base64'));
  expect(lark).toMatchObject({ msg_type: 'text' });
  const wecom = JSON.parse((await arrived('/wecom')).body) as { markdown: { content: string } };
  expect(wecom.markdown.content).toContain('内发生 150 个安全事件');
  const mail = await eventually(() => mailbox.mails[0] ?? null);
  expect(mail).toMatchObject({ from: 'waf@shop.example', to: from.to });
  expect(mail.text).toMatch(/^Subject: \[critical\] Attacks: /m);
  expect(mail.text).toMatch(/^Message-ID: <delivery-\d+\.waf@shop\.example>/m);
  expect(mail.text).toContain('150 security events in 3600 s');

  const sent = await eventually(async () => {
    const notes = await notesOf(alert!.id);
    return notes.filter((note) => note.startsWith('firing message sent through')).length === 6
      ? notes
      : null;
  });
  expect(sent[0]).toMatch(/^opened: /);

  await ok('DeleteAlertRule', { id: rule.id });
  const recovery = JSON.parse((await arrived('/hook', 2)).body) as Json;
  expect(recovery).toMatchObject({ event: 'resolved', alert: { status: 'resolved' } });
  expect(JSON.parse((await arrived('/pagerduty', 2)).body)).toMatchObject({
    ...{ event_action: 'resolve', dedup_key: alert?.id },
  });
  const [ended] = await alertsOf(rule.id);
  expect(ended).toMatchObject({ status: 'ALERT_STATUS_RESOLVED', closedReason: 'rule_deleted' });
});

/** Value of a sample whose line begins so. */
async function metric(start: string): Promise<number> {
  const { text } = await waf.get('/metrics', false);
  const line = text.split('\n').find((one) => one.startsWith(start));
  return Number(line?.split(' ').at(-1));
}

const openAttacks = 'waf_alerts_open{severity="critical",kind="security_threshold"}';
const messagesOf = (id: string, name: string, result: string): string =>
  `waf_alert_deliveries_total{channel_id="${id}",channel="${name}",result="${result}"}`;

test('a filter counts what it means and nothing else', async () => {
  const filters: readonly (readonly [object, number])[] = [
    [{ outcome: 'blocked' }, 120],
    [{ outcome: 'passed' }, 30],
    [{ ruleIds: ['942100'] }, 120],
    [{ ruleIds: ['920350', '1'] }, 30],
    [{ ruleIds: ['1'] }, 0],
    [{ attackTypes: ['sqli'] }, 120],
    [{ attackTypes: ['xss'] }, 0],
    [{ minimumSeverity: 'warning' }, 120],
    [{ minimumSeverity: 'notice' }, 150],
    [{ siteId: 'site-demo' }, 150],
    [{ siteId: 'other' }, 0],
    [{ agentId: 'local', outcome: 'blocked', ruleIds: ['949110'] }, 120],
    [{ agentId: 'elsewhere' }, 0],
  ];
  for (const [filter, events] of filters) {
    const expression = JSON.stringify({ ...threshold, threshold: 30, filter });
    const answer = await ok('ReplayAlertRule', { expression });
    const { matchingEventCount = '0', triggerCount = '0' } = answer;
    const wanted = [filter, String(events), events === 0 ? '0' : '1'];
    expect([filter, matchingEventCount, triggerCount]).toEqual(wanted);
  }
});

test('a message that fails is tried again, in the order of messages, under the same id', async () => {
  const id = await addChannel('flaky', 'WEBHOOK', { url: `${receiver.url}/flaky` });
  receiver.answer('/flaky', { status: 503 }, {});
  const rule = await addRule('Offline', { ...threshold, threshold: 10 }, [id]);
  await arrived('/flaky');
  const failing = await eventually(async () => {
    const { channel } = (await ok('GetAlertChannel', { id })) as { channel: { health: Json } };
    return channel.health['failuresInRow'] === 1 ? channel.health : null;
  });
  expect(failing).toMatchObject({
    ...{ waitingCount: '1', lastError: 'it answered with status 503' },
  });
  expect(await metric(openAttacks)).toBe(1);
  expect(await metric('waf_alerts_open{severity="info",kind="security_threshold"}')).toBe(0);
  expect(await metric(messagesOf(id, 'flaky', 'retried'))).toBe(1);
  expect(await metric(messagesOf(id, 'flaky', 'failed'))).toBe(0);
  expect(await metric(`waf_alert_deliveries_waiting{channel_id="${id}"`)).toBe(1);
  await ok('DeleteAlertRule', { id: rule.id });
});

test('a message that is refused for good is given up, and the timeline tells', async () => {
  const id = await addChannel('refusing', 'WEBHOOK', { url: `${receiver.url}/refusing` });
  receiver.answer('/refusing', { status: 400, body: 'secret of the other side' });
  const rule = await addRule('Refused', { ...threshold, threshold: 10 }, [id]);
  const [alert] = await eventually(async () => {
    const found = await alertsOf(rule.id);
    return found.length > 0 ? found : null;
  });
  const note = await eventually(
    async () => (await notesOf(alert!.id)).find((one) => one.includes('not sent')) ?? null,
  );
  expect(note).toBe('firing message not sent through refusing: it answered with status 400');
  expect(await metric(messagesOf(id, 'refusing', 'failed'))).toBe(1);
  expect(await metric(messagesOf(id, 'refusing', 'retried'))).toBe(0);
});

test('messages go to no special address that is not allowed, nor after a redirect', async () => {
  receiver.answer('/away', { status: 302, headers: { location: `${receiver.url}/secret` } });
  const moved = await tryChannel({ kind: 'WEBHOOK', config: { url: `${receiver.url}/away` } });
  expect(moved).toEqual({ message: 'it answered with status 302' });
  expect(receiver.of('/secret')).toEqual([]);
  expect((await allow([])).status).toBe(200);
  const before = receiver.of('/hook').length;
  for (const config of [
    { kind: 'WEBHOOK', config: { url: `${receiver.url}/hook` } },
    { kind: 'SLACK', config: { webhookUrl: `${receiver.url}/hook` } },
    { kind: 'FEISHU', config: { webhookUrl: `${receiver.url}/hook` } },
    { kind: 'WECOM', config: { webhookUrl: `${receiver.url}/hook` } },
    {
      kind: 'EMAIL',
      config: {
        ...{ host: '127.0.0.1', port: mailbox.port, tls: 'none' },
        ...{ from: 'a@b.example', to: ['c@d.example'] },
      },
    },
  ]) {
    const { message = '' } = await tryChannel(config);
    expect(message).toContain('private or reserved address');
  }
  expect(receiver.of('/hook')).toHaveLength(before);
  expect((await allow(['127.0.0.0/8'])).status).toBe(200);
});

async function tryChannel({ kind, config }: { kind: string; config: object }): Promise<Json> {
  const channel = { name: 'tried', kind: `ALERT_CHANNEL_KIND_${kind}`, config };
  return (await waf.call('AlertService/TestAlertChannel', { channel })).body;
}

test('secrets of channels leave only to where they were given for', async () => {
  const url = `${receiver.url}/first`;
  const headers = { authorization: 'Bearer of-the-first' };
  const id = await addChannel('kept', 'WEBHOOK', { url, secret: 'kept secret', headers });
  const { text, body } = await waf.call('AlertService/GetAlertChannel', { id });
  expect(text).not.toMatch(/kept secret|of-the-first/);
  const { config } = body['channel'] as { config: Json };
  expect(config).toMatchObject({
    ...{ secret: 'configured', headers: { authorization: 'configured' } },
  });
  const stolen = { ...config, url: 'https://elsewhere.example/' };
  const change = { id, name: 'kept', kind: 'ALERT_CHANNEL_KIND_WEBHOOK', config: stolen };
  for (const [rpc, request] of [
    ['UpsertAlertChannel', { channel: change, updateMask: 'config' }],
    ['TestAlertChannel', { channel: change }],
  ] as const) {
    const refused = await waf.call(`AlertService/${rpc}`, request);
    expect([refused.status, refused.body['code']]).toEqual([400, 'invalid_argument']);
    expect(refused.body['message']).toContain('state the value anew for another server');
  }
  const same = { id, name: 'kept', kind: 'ALERT_CHANNEL_KIND_WEBHOOK', config };
  const { body: tested } = await waf.call('AlertService/TestAlertChannel', { channel: same });
  expect(tested).toMatchObject({ success: true });
  const got = await arrived('/first');
  expect(got.headers).toMatchObject({ authorization: 'Bearer of-the-first', 'waf-event': 'test' });
  const audit = await waf.call('AuditService/QueryAudit', { page: { pageSize: 200 } });
  expect(audit.text).not.toMatch(/kept secret|of-the-first/);
});
