/** A real rsyslog receives by UDP, TCP and TLS what nodes tell control of requests. */

import { hostname } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportBit } from '../../engine/contract/logging.ts';
import type { ControllerLink } from '../../engine/link/controller-link.ts';
import { eventually } from '../support/eventually.ts';
import { sampleEvent } from '../support/sample-event.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';
import { connectTestLink } from '../support/test-link.ts';
import { hasRsyslog, startRsyslog, ways, type Received, type Rsyslog } from './rsyslog.ts';

let server: Rsyslog;
let waf: TestControl;
let link: ControllerLink;

if (!hasRsyslog) console.log('skipped: no rsyslog with rsyslog-openssl');

beforeAll(async () => {
  if (!hasRsyslog) return;
  server = await startRsyslog();
  waf = await startTestControl();
  link = connectTestLink(waf.socket, [], () => Promise.resolve());
});
afterAll(async () => {
  await link?.close();
  await waf?.control.close();
  await server?.stop();
});

const selection = { access: exportBit, securityDetail: true, windowMs: 0, score: 0, revision: 1 };

/** A blocked request, as a front thread hands it on. */
function attack(requestId: string, userAgent = 'curl'): void {
  const told = { status: 403, outcome: 'blocked', blocked: true, selection } as const;
  link.observe(sampleEvent({ ...told, requestId, userAgent, receivedAtMs: Date.now() }));
}

function targetOf(id: string, way: (typeof ways)[number], more: object = {}): object {
  const port = server.ports[way];
  const secure = way === 'tls' ? { caPem: server.caPem, serverName: 'localhost' } : {};
  return { id, transport: way, host: '127.0.0.1', port, format: 'ecs', ...secure, ...more };
}

async function use(targets: readonly object[], allowed: readonly string[] = ['127.0.0.0/8']) {
  const values = { 'siem.targets': targets, 'outgoing.allowed_networks': allowed };
  const { status, text } = await waf.call('SystemService/UpdateSystemSettings', { values });
  expect(status, text).toBe(200);
}

interface Lane {
  readonly name: string;
  readonly written?: string;
  readonly dropped?: string;
  readonly lastError?: string;
}

async function laneOf(id: string): Promise<Lane> {
  const { body } = await waf.call('SystemService/GetObservationPipelineStats', {});
  const { lanes = [] } = body['stats'] as { lanes?: Lane[] };
  return lanes.find(({ name }) => name === `siem:${id}`) ?? { name: '' };
}

function requestIdOf({ content }: Received): unknown {
  return (content as { http?: { request?: { id?: unknown } } }).http?.request?.id;
}

test.skipIf(!hasRsyslog).each(ways)(
  'what is sent by %s arrives whole, in its form, in order',
  async (way) => {
    await use([targetOf('one', way, { facility: 20 })]);
    const before = server.received(way).length;
    const long = 'x'.repeat(4000);
    for (let at = 0; at < 50; at++) attack(`${way}-${at}`, at === 7 ? long : 'curl');
    await eventually(() => server.received(way).length - before >= 50);
    const messages = server.received(way).slice(before);
    expect(messages.map(requestIdOf)).toEqual(
      Array.from({ length: 50 }, (_, at) => `${way}-${at}`),
    );
    expect(messages[0]).toMatchObject({
      ...{ facility: 20, severity: 4, appName: 'waf', msgId: 'security', hostname: hostname() },
      content: { event: { kind: 'alert', type: ['denied'] }, ecs: { version: '8.11.0' } },
    });
    expect(messages[7]?.content).toMatchObject({ user_agent: { original: long } });
    await eventually(async () => (await laneOf('one')).written === '50');
  },
);

test.skipIf(!hasRsyslog)('a stream whose messages end with a line break', async () => {
  await use([targetOf('lines', 'tcp', { framing: 'newline', format: 'audit' })]);
  const before = server.received('tcp').length;
  attack('line-1', 'one\ntwo');
  attack('line-2');
  await eventually(() => server.received('tcp').length - before >= 2);
  const [first] = server.received('tcp').slice(before);
  expect(first?.content).toMatchObject({
    transaction: { unique_id: 'line-1', request: { headers: { 'User-Agent': 'one\ntwo' } } },
  });
});

test.skipIf(!hasRsyslog)(
  'every target gets its own form; access events come by themselves',
  async () => {
    await use([
      targetOf('audit', 'tcp', { format: 'audit' }),
      targetOf('access', 'udp', { format: 'access' }),
      targetOf('ocsf', 'tls', { format: 'ocsf', events: ['security', 'access'] }),
    ]);
    const before = Object.fromEntries(ways.map((way) => [way, server.received(way).length]));
    const since = (way: (typeof ways)[number]) => server.received(way).slice(before[way]);
    attack('each');
    link.observe(sampleEvent({ requestId: 'plain', receivedAtMs: Date.now(), selection }));
    await eventually(() => since('udp').length >= 2 && since('tls').length >= 3);
    await eventually(() => since('tcp').length >= 1);
    expect(since('tcp').map(({ content }) => Object.keys(content))).toEqual([['transaction']]);
    expect(since('udp').map(({ content }) => content['requestId'])).toEqual(['each', 'plain']);
    expect(since('udp').map(({ msgId }) => msgId)).toEqual(['access', 'access']);
    expect(
      since('tls')
        .map(({ msgId }) => msgId)
        .toSorted(),
    ).toEqual(['access', 'access', 'security']);
  },
);

test.skipIf(!hasRsyslog)(
  'a certificate of nobody we know is refused, with the reason',
  async () => {
    const before = server.received('tls').length;
    await use([targetOf('wrong', 'tls', { serverName: 'other.example' })]);
    attack('secret');
    const lane = await eventually(async () => {
      const found = await laneOf('wrong');
      return (found.lastError ?? '') === '' ? null : found;
    });
    expect(lane.lastError).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(server.received('tls')).toHaveLength(before);
  },
);

test.skipIf(!hasRsyslog)('special addresses get nothing unless they are allowed', async () => {
  const before = server.received('tcp').length;
  await use([targetOf('inside', 'tcp')], []);
  attack('inside');
  const lane = await eventually(async () => {
    const found = await laneOf('inside');
    return (found.lastError ?? '') === '' ? null : found;
  });
  expect(lane.lastError).toContain('outgoing.allowed_networks');
  expect(server.received('tcp')).toHaveLength(before);
  const { body } = await waf.call('SystemService/Health', {});
  const checks = body['checks'] as { component: string; status: string; message: string }[];
  expect(checks.find(({ component }) => component === 'siem')).toMatchObject({
    status: 'degraded',
    message: expect.stringContaining('inside: 127.0.0.1 is a loopback') as string,
  });
  const metrics = (await waf.get('/metrics', false)).text;
  expect(metrics).toContain('waf_observation_lane_value{lane="siem:inside",field="attempted"} 1');
});
