/** The proof that no JSON breaks an RPC: random messages, right and wrong, to all of them. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestBytesMaxOf } from '../../control/api/listener/request-size.ts';
import { services } from '../../control/api/services.ts';
import { seededRandom } from '../support/random.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';
import { draws } from '../support/soak.ts';

const seed = Number(process.env['WAF_SEED'] ?? Date.now() % 1_000_000);
const rounds = draws(2, 50, 'WAF_FUZZ_ROUNDS');
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl();
});
afterAll(() => waf.control.close());

const random = seededRandom(seed);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

const texts = [
  '',
  'x',
  'site-demo',
  'policy-light',
  'policy-standard',
  'template-strict',
  'user-admin',
  'role-auditor',
  'crs-default',
  'local',
  '942999',
  'http://127.0.0.1:1',
  'a.example.com',
  '/path',
  'name,waf.mode',
  '\u0000\r\n',
  'é'.repeat(300),
  '9'.repeat(40),
  '../../etc/passwd',
  '\'"%{tx.x}',
];
const wrong = [null, true, -1, 1e308, '', 'NaN', [], {}, [[[[]]]], { a: { b: {} } }, '2026-13-45'];

function fieldValue(field: DescField, depth: number): unknown {
  if (random() < 0.08) return pick(wrong);
  if (field.fieldKind === 'list') {
    return Array.from({ length: Math.floor(random() * 3) }, () => oneValue(field, depth));
  }
  if (field.fieldKind === 'map') return { [pick(texts)]: oneValue(field, depth) };
  return oneValue(field, depth);
}

function oneValue(field: DescField, depth: number): unknown {
  const { message } = field;
  if (message?.typeName === 'google.protobuf.Timestamp') return '2026-01-01T00:00:00Z';
  if (message?.typeName === 'google.protobuf.Duration') return '30s';
  if (message?.typeName === 'google.protobuf.Struct') return { conditions: pick(wrong), x: 1 };
  if (message !== undefined) return depth > 3 ? {} : messageValue(message, depth + 1);
  if (field.enum !== undefined) return pick(field.enum.values).name;
  switch (field.scalar) {
    case 8:
      return random() < 0.5;
    case 9:
      return pick(texts);
    case 12:
      return pick(['', 'AAAA', Buffer.from(pick(texts)).toString('base64')]);
    case 3:
    case 4:
      return pick(['0', '1', '2', '9223372036854775807']);
    default:
      return pick([0, 1, 2, 3, 50, 2_147_483_647]);
  }
}

function messageValue(message: DescMessage, depth = 0): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const field of message.fields) {
    if (random() < 0.6) made[field.jsonName] = fieldValue(field, depth);
  }
  return made;
}

test(`seed ${seed}: ${rounds} random requests to every RPC, no internal error`, async () => {
  const codes = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    for (const { service } of services) {
      for (const method of service.methods) {
        if (method.methodKind !== 'unary') continue;
        const body = messageValue(method.input);
        const { status, body: answer } = await waf.call(`${service.name}/${method.name}`, body);
        const code = typeof answer['code'] === 'string' ? answer['code'] : 'ok';
        codes.set(code, (codes.get(code) ?? 0) + 1);
        const shown = { rpc: `${service.name}/${method.name}`, body: JSON.stringify(body) };
        expect({
          ...shown,
          bad: status === 500 || code === 'internal' || code === 'unknown',
        }).toEqual({ ...shown, bad: false });
      }
    }
  }
  expect((codes.get('ok') ?? 0) + (codes.get('invalid_argument') ?? 0)).toBeGreaterThan(0);
  const verified = await waf.call('AuditService/VerifyChain', {});
  expect(verified.body).toMatchObject({ healthy: true });
  console.log(`seed ${seed}:`, Object.fromEntries(codes));
}, 900_000);

/** Bodies as large as they may be, each large in another way. */
const largeBodies: readonly (readonly [what: string, open: string, unit: string, end: string])[] = [
  ['one text', '{"site":{"name":"', 'x', '"}}'],
  ['escapes', '{"site":{"name":"', '\\u0041', '"}}'],
  ['one number', '{"page":{"page":', '9', '}}'],
  ['a long list', '{"ruleIds":["a"', ',"a"', ']}'],
  ['a list of objects', '{"overrides":[{}', ',{}', ']}'],
  ['a list of addresses', '{"ipList":{"name":"x","entries":[{}', ',{"value":"1.2.3.4"}', ']}}'],
  ['many names', '{"headers":{"a":"1"', ',"a":"1"', '}}'],
  ['many other names', '{"values":{"a":1', ',"a":1', '}}'],
  ['nested lists', '[', '[', ''],
  ['nested objects', '{"values":', '{"a":', ''],
  ['blanks', '{', ' ', '}'],
  ['bytes', '{"body":"', 'AAAA', '"}'],
];
const targets = [
  'SiteService/CreateSite',
  'RuleOverrideService/BulkUpsertRuleOverrides',
  'IpListService/CreateIpList',
  'PolicyService/TestPolicy',
];

/** The largest body that is read for an RPC. */
function largest(rpc: string, open: string, unit: string, end: string): string {
  const [service = '', name = ''] = rpc.split('/');
  const method = services
    .find((one) => one.service.name === service)
    ?.service.methods.find((one) => one.name === name);
  if (method === undefined) throw new Error(`there is no ${rpc}`);
  const room = requestBytesMaxOf(method) - open.length - end.length;
  return open + unit.repeat(Math.floor(room / unit.length)) + end;
}

test('the largest bodies, of every kind: an answer, no internal error, memory flat', async () => {
  const send = async (rpcs: readonly string[]): Promise<number> => {
    let answers = 0;
    for (const [what, ...parts] of largeBodies) {
      for (const rpc of rpcs) {
        const answer = await waf.send(rpc, largest(rpc, ...parts));
        const code = answer.status === 200 ? 'ok' : answer.body['code'];
        const allowed: unknown[] = ['ok', 'invalid_argument', 'resource_exhausted'];
        expect([what, rpc, allowed.includes(code)]).toEqual([what, rpc, true]);
        answers++;
      }
    }
    return answers;
  };
  const settled = (): number => {
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    return process.memoryUsage().heapUsed + process.memoryUsage().external;
  };
  // One of them loads what all need.
  await send(targets.slice(0, 1));
  const before = settled();
  expect(await send(targets)).toBe(largeBodies.length * targets.length);
  // What a round needs is given back; some bodies may still wait for the collector.
  expect(settled() - before).toBeLessThan(160 * 1024 * 1024);
  expect((await waf.get('/healthz', true)).status).toBe(200);
});

test('hostile bodies are refused early, and the process stays up', async () => {
  const deep = { site: JSON.parse('{"waf":'.repeat(200) + '{}' + '}'.repeat(200)) as unknown };
  expect((await waf.call('SiteService/CreateSite', deep)).status).toBe(400);
  const struct = JSON.parse('{"a":'.repeat(900) + '1' + '}'.repeat(900)) as unknown;
  const settings = await waf.call('SystemService/UpdateSystemSettings', { values: struct });
  expect(settings.body['code']).toBe('invalid_argument');
  const huge = { site: { name: 'x'.repeat(17 * 1024 * 1024) } };
  const refused = await waf.call('SiteService/CreateSite', huge).catch(() => null);
  if (refused !== null) expect(refused.body['code']).toBe('resource_exhausted');
  expect((await waf.get('/healthz', true)).status).toBe(200);
});
