/**
 * The proof that no message of an enrolled node breaks control or harms another node: every kind
 * with random fields, repeated, out of order and oversized. WAF_SEED repeats a run.
 */

import { ScalarType, type DescField, type DescMessage } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConnectRequestSchema } from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { eventually } from '../support/eventually.ts';
import { seededRandom } from '../support/random.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';
import {
  enrollTestNode,
  helloOf,
  issueTestToken,
  nodeTransport,
  openTestStream,
  type Said,
  type TestNode,
  type TestStream,
} from '../support/test-node.ts';
import { draws } from '../support/soak.ts';

const seed = Number(process.env['WAF_SEED'] ?? 16);
const rounds = draws(3, 100, 'WAF_FUZZ_ROUNDS');
const kinds = ConnectRequestSchema.oneofs[0]!.fields;
let waf: TestControl;
let good: TestNode;
let other: TestNode;
let witness: TestStream;
let witnessEnded = false;
const errors: string[] = [];

beforeAll(async () => {
  const note = (message: string, fields?: object): void =>
    void errors.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const none = (): void => undefined;
  const logger = { debug: none, info: none, warn: none, error: note };
  waf = await startTestControl({ managementTls: 'own', demoOrigin: null, logger });
  const token = await issueTestToken(waf, kinds.length + 2);
  good = await enrollTestNode(waf, token, 'good');
  other = await enrollTestNode(waf, token, 'other');
  for (const { localName } of kinds) {
    hostile.set(localName, await enrollTestNode(waf, token, `hostile-${localName}`));
  }
  witness = open(good, helloOf(good));
  void witness.ended.then(() => (witnessEnded = true));
  await eventually(() => witness.heard.length > 0);
});
afterAll(async () => {
  witness?.end();
  await waf?.control.close();
});

const hostile = new Map<string, TestNode>();
const open = (node: TestNode, first: Said): TestStream =>
  openTestStream(nodeTransport(waf.control.managementPort, node, node), first);

const random = seededRandom(seed);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const words = [
  '',
  'x',
  'local',
  '../../x',
  '\u0000\r\n\u001b[2J',
  'a'.repeat(64),
  '9'.repeat(70_000),
];
const whole = [0n, 1n, 5n, 2n ** 31n, 2n ** 53n, 2n ** 63n - 1n];
const below = [-1n, -(2n ** 63n)];
const lengths = [0, 1, 16, 65, 100_000];

function scalar(type: ScalarType, name: string): unknown {
  if (type === ScalarType.STRING) {
    return pick(name.endsWith('Id') ? [...words, other.id, good.id] : words);
  }
  if (type === ScalarType.BYTES) return new Uint8Array(pick(lengths)).fill(pick([0, 1, 255]));
  if (type === ScalarType.BOOL) return random() < 0.5;
  if (type === ScalarType.DOUBLE) return pick([0, -1, 1e308, Number.NaN, Number.POSITIVE_INFINITY]);
  if (type === ScalarType.FLOAT) return pick([0, -1, 1e30, Number.NaN]);
  if (type === ScalarType.UINT32 || type === ScalarType.FIXED32) return pick([0, 1, 2 ** 32 - 1]);
  if (type === ScalarType.UINT64 || type === ScalarType.FIXED64) return pick(whole);
  const long = [ScalarType.INT64, ScalarType.SINT64, ScalarType.SFIXED64].includes(type);
  return long ? pick([...whole, ...below]) : pick([0, 1, -1, 2 ** 31 - 1, -(2 ** 31)]);
}

function valueOf(field: DescField, depth: number): unknown {
  const one = (): unknown => {
    if (field.message !== undefined) return messageOf(field.message, depth + 1);
    if (field.enum !== undefined) return pick([0, 1, 2, 99]);
    return scalar(field.scalar ?? ScalarType.STRING, field.localName);
  };
  if (field.fieldKind === 'list') return Array.from({ length: pick([0, 1, 3, 300]) }, one);
  if (field.fieldKind === 'map') return {};
  return one();
}

/** Fields at random; what a message of the standard types needs is always there. */
function messageOf(schema: DescMessage, depth: number): object {
  if (schema.typeName === 'google.protobuf.Struct') return { key: pick(words) };
  const found: Record<string, unknown> = {};
  if (depth > 3) return found;
  for (const member of schema.members) {
    if (random() < 0.3) continue;
    if (member.kind === 'field') found[member.localName] = valueOf(member, depth);
    else {
      const field = pick(member.fields);
      found[member.localName] = { case: field.localName, value: valueOf(field, depth) };
    }
  }
  return found;
}

function messageFor(kind: DescField, node: TestNode): Said {
  const value = messageOf(kind.message!, 0) as Record<string, unknown>;
  // Half of them are about the node itself: else most would be refused for that alone.
  if ('agentId' in value && random() < 0.5) value['agentId'] = node.id;
  return { case: kind.localName, value } as Said;
}

/** Every stream ends by a second hello, so that what came before it was taken or refused. */
async function endOf(node: TestNode, first: Said, messages: readonly Said[]): Promise<string> {
  const stream = open(node, first);
  for (const message of [...messages, helloOf(node)]) stream.say(message);
  const refusal = await stream.ended;
  stream.end();
  return refusal;
}

/** What is refused has a reason, or the transport ended it; what broke has no reason. */
function expectRefusal(refusal: string, what: unknown): void {
  const about = `seed ${seed}: ${String(what)}`;
  expect(refusal, about).toMatch(/^\[[a-z_]+\] \S/);
  expect(refusal, about).not.toMatch(/internal error;|^\[(?:unknown|unimplemented)\]/);
}

test.each(kinds.map((kind) => [kind.localName, kind] as const))(
  '%s: random fields, again, and before hello',
  async (name, kind) => {
    const node = hostile.get(name)!;
    for (let round = 0; round < rounds; round++) {
      const message = messageFor(kind, node);
      expectRefusal(await endOf(node, helloOf(node), [message]), `${name} ${round}`);
      expectRefusal(await endOf(node, helloOf(node), [message, message]), `${name} ${round} twice`);
      expectRefusal(await endOf(node, message, [message]), `${name} ${round} first`);
    }
  },
);

test('messages in any order', async () => {
  for (let round = 0; round < rounds; round++) {
    const kind = pick(kinds);
    const node = hostile.get(kind.localName)!;
    const messages = Array.from({ length: 8 }, () => messageFor(pick(kinds), node));
    expectRefusal(await endOf(node, helloOf(node), messages), `order ${round}`);
  }
});

test('a message past every bound', async () => {
  const node = hostile.get('hello')!;
  const huge = 'x'.repeat(40 << 20);
  const message: Said = { case: 'commandResult', value: { commandId: 'x', error: huge } };
  // The transport may end it before anybody reads it.
  expect(await endOf(node, helloOf(node), [message])).not.toBe('');
});

test('afterwards nobody else is harmed, and control broke nowhere', async () => {
  expect(witnessEnded).toBe(false);
  interface Shown {
    readonly id: string;
    readonly connectionStatus: string;
    readonly configHash?: string;
  }
  // A node that said nothing for as long as the tests above may take counts as gone.
  witness.say({ case: 'pingAck', value: { nonce: 'x' } });
  const of = await eventually(async () => {
    const { body } = await waf.call('AgentService/ListNodes', {});
    const find = (id: string) => (body['items'] as Shown[]).find((one) => one.id === id);
    return find(good.id)?.connectionStatus === 'CONNECTED' ? find : null;
  });
  expect(of(other.id)).toMatchObject({ connectionStatus: 'OFFLINE' });
  expect(of(other.id)?.configHash ?? '').toBe('');
  expect((await waf.call('SystemService/Health', {})).status).toBe(200);
  // Whoever floods is ended by the transport, in the middle of what it sent.
  expect(errors.filter((one) => !one.includes('"Premature close"'))).toEqual([]);
});
