/** Manifests of alerts: names, references, and secrets that no manifest holds and none loses. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver } from '../../../test/support/alert-receivers.ts';
import { signInWith } from '../../../test/support/sign-in-with.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

type Json = Record<string, unknown>;

let waf: TestControl;
const receiver = await startReceiver();

beforeAll(async () => {
  waf = await startTestControl();
  await waf.call('SystemService/UpdateSystemSettings', {
    values: { 'outgoing.allowed_networks': ['127.0.0.0/8'] },
  });
});
afterAll(async () => {
  await waf.control.close();
  await receiver.close();
});

const document = (kind: string, name: string, spec: object): string =>
  JSON.stringify({ apiVersion: 'waf.io/v1', kind, metadata: { name }, spec });

async function apply(...documents: readonly string[]): Promise<string> {
  const manifestYaml = Buffer.from(documents.join('\n---\n')).toString('base64');
  const { status, text } = await waf.call('SystemService/Apply', { manifestYaml });
  return `${status} ${text}`;
}

async function named(rpc: string, name: string): Promise<Json> {
  const { body } = await waf.call(`AlertService/${rpc}`, {});
  return (body['items'] as Json[]).find((one) => one['name'] === name) ?? {};
}
const channel = (name: string): Promise<Json> => named('ListAlertChannels', name);
const rule = (name: string): Promise<Json> => named('ListAlertRules', name);

const hook = (config: object, more: object = {}): string =>
  document('AlertChannel', 'hook', { kind: 'webhook', config, ...more });
const url = `${receiver.url}/hook`;
const offline = { severity: 'warning', condition: { kind: 'node_offline' } };

async function trySending(id: string): Promise<Json> {
  const shown = (await waf.call('AlertService/GetAlertChannel', { id })).body['channel'] as Json;
  const { kind, name, config } = shown;
  const asked = { channel: { id, kind, name, config } };
  return (await waf.call('AlertService/TestAlertChannel', asked)).body;
}

test('a secret that a manifest cannot bring is named, and nothing is sent without it', async () => {
  const answer = await apply(hook({ url, secret: 'configured', headers: { 'x-a': 'configured' } }));
  expect(answer).toMatch(/^200 .*"create"/);
  for (const path of ['secret', 'headers.x-a']) {
    expect(answer).toContain(`spec.config.${path}: is a secret that no manifest holds`);
  }
  const { id } = (await channel('hook')) as { id: string };
  const message = 'config.secret of the channel has no value; set it';
  expect(await trySending(id)).toEqual({ message });
  expect(receiver.of('/hook')).toEqual([]);
});

test('a channel without its secret can still be disabled, and stays without it', async () => {
  const { id } = (await channel('hook')) as { id: string };
  const asked = { channel: { id, enabled: false }, updateMask: 'enabled' };
  expect((await waf.call('AlertService/UpsertAlertChannel', asked)).status).toBe(200);
  expect((await channel('hook'))['enabled']).toBeUndefined();
  expect((await trySending(id))['success']).toBeUndefined();
  expect(receiver.of('/hook')).toEqual([]);
});

test('apply keeps the secret that is stored, for the server that it was given for', async () => {
  const first = await apply(hook({ url, secret: 'kept secret', headers: { 'x-a': 'b' } }));
  expect(first).toMatch(/^200 /);
  expect(first).not.toContain('kept secret');
  const again = await apply(hook({ url, secret: 'configured', locale: 'zh-CN' }));
  expect(again).toMatch(/^200 .*"update"/);
  expect(again).not.toContain('no manifest holds');
  const { id } = (await channel('hook')) as { id: string };
  expect(await trySending(id)).toMatchObject({ success: true });
  expect(receiver.of('/hook')).toHaveLength(1);
  const stolen = await apply(hook({ url: 'https://elsewhere.example/', secret: 'configured' }));
  expect(stolen).toMatch(/^400 .*spec\.config\.secret: state the value anew for another server/);
});

test.each([
  ['a kind', document('AlertChannel', 'x', {}), /spec\.kind: is required/],
  ['a known kind', document('AlertChannel', 'x', { kind: 'fax' }), /spec\.kind: must be one of/],
  ['a field', hook({ url, odd: 1 }), /spec\.config: holds an unknown field/],
  ['a severity', document('AlertRule', 'x', { condition: {} }), /spec\.severity: is required/],
  [
    'a condition',
    document('AlertRule', 'x', { ...offline, condition: { kind: 'odd' } }),
    /spec\.condition\.kind: must be one of/,
  ],
  [
    'a channel',
    document('AlertRule', 'x', { ...offline, channels: ['gone'] }),
    /spec\.channels\[0\]: names no alert channel/,
  ],
  [
    'a site',
    document('AlertRule', 'x', {
      ...offline,
      condition: { kind: 'origin_down', filter: { siteRef: 'gone' } },
    }),
    /spec\.condition\.filter\.siteRef: names no site/,
  ],
])('a manifest that lacks %s is refused at its field', async (_what, yaml, why) => {
  const answer = await apply(yaml);
  expect(answer).toMatch(/^400 /);
  expect(answer).toMatch(why);
});

test('a rule names channels and pools of its own manifest, and keeps its id', async () => {
  const pool = document('Upstream', 'pool', { endpoints: [{ url: 'http://127.0.0.1:9' }] });
  const condition = { kind: 'origin_down', filter: { upstreamRef: 'pool' } };
  const spec = { severity: 'critical', condition, channels: ['hook'] };
  expect(await apply(document('AlertRule', 'down', spec), hook({ url }), pool)).toMatch(/^200 /);
  const made = await rule('down');
  const { id: channelId } = await channel('hook');
  expect(made).toMatchObject({ channelIds: [channelId], severity: 'ALERT_SEVERITY_CRITICAL' });
  const { body } = await waf.call('UpstreamService/ListUpstreams', {});
  const { id: upstreamId } = (body['items'] as Json[]).find(({ name }) => name === 'pool') ?? {};
  const expression = JSON.parse(String(made['expression'])) as { filter: Json };
  expect(expression.filter).toMatchObject({ upstreamId });
  const off = document('AlertRule', 'down', { ...spec, enabled: false });
  expect(await apply(off)).toMatch(/^200 .*"update"/);
  expect((await rule('down'))['id']).toBe(made['id']);
  expect((await rule('down'))['enabled']).toBeUndefined();
});

test('who may apply may not for that change alerts', async () => {
  const token = await signInWith(waf, ['system:apply', 'site:read']);
  for (const yaml of [hook({ url }), document('AlertRule', 'mine', offline)]) {
    const manifestYaml = Buffer.from(yaml).toString('base64');
    for (const rpc of ['Apply', 'PreviewApply']) {
      const answer = await waf.call(`SystemService/${rpc}`, { manifestYaml }, { token });
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('alert:write')]);
    }
  }
});
