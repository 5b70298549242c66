/**
 * The proof of the contract's conventions over all RPCs: the JSON form of every message, how pages,
 * masks, keys and streams are spelt, and that a wrong field is named in every protocol.
 */

import {
  create,
  fromJson,
  ScalarType,
  toJson,
  type DescField,
  type DescMessage,
  type DescMethod,
  type JsonObject,
} from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { catalog } from '../../test/support/rpc-catalog.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { ruleOf } from './authorize.ts';
import { checkJson } from './listener/check-json.ts';
import { services } from './services.ts';

const methods = services.flatMap(({ service }) => service.methods);
const unary = methods.filter((method) => method.methodKind === 'unary');
const nameOf = (method: DescMethod): string => `${method.parent.name}/${method.name}`;

/** Every message of the contract, those inside others too. */
const messages = new Map<string, DescMessage>();
const visit = (message: DescMessage): void => {
  if (messages.has(message.typeName) || message.typeName.startsWith('google.')) return;
  messages.set(message.typeName, message);
  for (const { message: inner } of message.fields) if (inner !== undefined) visit(inner);
};
for (const { input, output } of methods) for (const one of [input, output]) visit(one);
const fields = [...messages.values()].flatMap((message) =>
  message.fields.map((field) => ({ message, field })),
);

/** JSON of a message in which one field has one value. */
function jsonOf(message: DescMessage, field: DescField, value: unknown): unknown {
  const made = reflect(message, create(message));
  if (field.fieldKind === 'list') made.get(field).add(value as never);
  else made.set(field, value as never);
  const json = toJson(message, made.message) as JsonObject;
  expect(Object.keys(json)).toEqual([field.jsonName]);
  const found = json[field.jsonName];
  return field.fieldKind === 'list' ? (found as unknown[])[0] : found;
}

const wide = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);

test('64-bit numbers are decimal strings, both ways, without loss', () => {
  const beyond = 9_007_199_254_740_993n;
  let count = 0;
  for (const { message, field } of fields) {
    if (field.scalar === undefined || !wide.has(field.scalar)) continue;
    if (field.fieldKind === 'map') continue;
    expect(jsonOf(message, field, beyond)).toBe(String(beyond));
    count++;
  }
  expect(count).toBeGreaterThan(150);
});

test('bytes are base64, and nothing else is taken for it', () => {
  let count = 0;
  for (const { message, field } of fields) {
    if (field.scalar !== ScalarType.BYTES || field.fieldKind !== 'scalar') continue;
    expect(jsonOf(message, field, new Uint8Array([251, 255]))).toBe('+/8=');
    expect(checkJson(message, { [field.jsonName]: '***' })?.message).toContain('must be base64');
    count++;
  }
  expect(count).toBeGreaterThan(40);
});

test('enums go by their full names, which begin with the name of the enum', () => {
  const seen = new Set<string>();
  for (const { message, field } of fields) {
    const { enum: desc } = field;
    if (desc === undefined || field.fieldKind === 'map') continue;
    seen.add(desc.typeName);
    const snake = desc.name
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
      .toUpperCase();
    for (const { name } of desc.values) expect(name.startsWith(`${snake}_`)).toBe(true);
    const last = desc.values.at(-1);
    expect(jsonOf(message, field, last?.number)).toBe(last?.name);
  }
  expect(seen.size).toBeGreaterThan(40);
});

test('times are RFC 3339 in UTC; other spellings are read, others than times refused', () => {
  const zoned = '2026-01-31T13:30:00.5+01:30';
  let count = 0;
  for (const { message, field } of fields) {
    if (field.message?.typeName !== 'google.protobuf.Timestamp') continue;
    if (field.fieldKind !== 'message') continue;
    const read = fromJson(message, { [field.jsonName]: zoned });
    const json = toJson(message, read) as JsonObject;
    expect(json[field.jsonName]).toBe('2026-01-31T12:00:00.500Z');
    for (const wrong of ['2026-01-31', 1_700_000_000, 'yesterday', '2026-13-01T00:00:00Z']) {
      const problem = checkJson(message, { [field.jsonName]: wrong })?.message;
      expect(problem).toBe(
        `${field.jsonName}: must be an RFC 3339 time such as 2026-01-31T12:00:00Z`,
      );
    }
    count++;
  }
  expect(count).toBeGreaterThan(120);
});

test('masks are one text, keys are texts, nobody says which tenant it is', () => {
  const masks: string[] = [];
  const keys: string[] = [];
  for (const method of methods) {
    for (const field of method.input.fields) {
      const isText = field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING;
      if (field.jsonName === 'updateMask') masks.push(nameOf(method));
      if (field.jsonName === 'idempotencyKey') keys.push(nameOf(method));
      if (['updateMask', 'idempotencyKey'].includes(field.jsonName)) expect(isText).toBe(true);
      expect(field.jsonName).not.toBe('tenantId');
    }
  }
  expect(masks).toHaveLength(10);
  expect(keys.map((name) => name.split('/')[1])).toEqual([
    'StageSchemaSource',
    'StageApiDeclaration',
    'StageSchemaProfile',
    'StageSchemaBindings',
    'ChangeSchemaControl',
    'StageApiCatalogChange',
    'ChangeSchemaLearning',
    'StageLearnedDocument',
    'StageApiRequestDocument',
    'ApplyBodyControl',
    'ChangeBodyControl',
    'ReplaceOperationControls',
    'RollbackOperationControls',
  ]);
});

test('a page is asked for with PageRequest or CursorRequest and answered in kind', () => {
  const kinds = new Map<string, number>();
  for (const method of methods) {
    const asked = method.input.fields.find(({ jsonName }) => jsonName === 'page')?.message?.name;
    if (asked === undefined) continue;
    const answered = method.output.fields.find(({ jsonName }) => jsonName === 'page');
    expect(answered?.message?.name).toBe(asked.replace('Request', 'Response'));
    const items = method.output.fields.find(({ jsonName }) => jsonName === 'items');
    expect([nameOf(method), items?.fieldKind]).toEqual([nameOf(method), 'list']);
    kinds.set(asked, (kinds.get(asked) ?? 0) + 1);
  }
  expect([...kinds]).toEqual([
    ['PageRequest', 26],
    ['CursorRequest', 5],
  ]);
});

test('streams are those of the documents', () => {
  const streams = methods
    .filter((method) => method.methodKind !== 'unary')
    .map((method) => `${method.name} ${method.methodKind}`);
  expect(streams).toEqual([
    'StreamUpgradeRun server_streaming',
    'TailSecurityEvents server_streaming',
    'StreamRequestEvidenceBody server_streaming',
    'DownloadRequestEvidenceBody server_streaming',
    'StreamAgentEvents server_streaming',
    'Connect bidi_streaming',
    'Upload bidi_streaming',
    'StreamAnalysis server_streaming',
    'StreamChat server_streaming',
  ]);
});

/** A value that no field of this kind takes. */
function wrongValue(field: DescField): unknown {
  if (field.fieldKind === 'list') return { not: 'a list' };
  if (field.fieldKind === 'map') return ['not a map'];
  if (field.enum !== undefined) return 'NO_SUCH_VALUE';
  if (field.message !== undefined) return 7;
  if (field.scalar === ScalarType.STRING) return 7;
  if (field.scalar === ScalarType.BOOL) return 'yes';
  if (field.scalar === ScalarType.BYTES) return '***';
  return 'many';
}

/** A value of the right kind that a number cannot hold. */
function outOfRange(field: DescField): unknown {
  const values: Partial<Record<ScalarType, unknown>> = {
    [ScalarType.INT32]: 2_147_483_648,
    [ScalarType.UINT32]: -1,
    [ScalarType.FIXED32]: 4_294_967_296,
    [ScalarType.INT64]: '9223372036854775808',
    [ScalarType.UINT64]: '-1',
  };
  return field.fieldKind === 'scalar' ? values[field.scalar] : undefined;
}

test('in every message, however deep, a wrong field is named by its JSON path', () => {
  let count = 0;
  const descend = (message: DescMessage, path: string[], root: DescMessage): void => {
    if (path.length > 4) return;
    for (const field of message.fields) {
      const here = [...path, field.jsonName];
      for (const value of [wrongValue(field), outOfRange(field)]) {
        if (value === undefined) continue;
        const body = here.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
        const problem = checkJson(root, body as JsonObject)?.message ?? 'none';
        expect(problem.startsWith(`${here.join('.')}: must be `)).toBe(true);
        count++;
      }
      const inner = field.fieldKind === 'message' ? field.message : undefined;
      if (inner !== undefined && !inner.typeName.startsWith('google.')) descend(inner, here, root);
    }
  };
  for (const { input } of methods) descend(input, [], input);
  expect(count).toBeGreaterThan(2000);
});

let waf: TestControl;
beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(() => waf.control.close());

test('over the wire: every first field of every RPC, wrong', async () => {
  let count = 0;
  for (const method of unary) {
    for (const field of method.input.fields) {
      const value = wrongValue(field);
      const answer = await waf.call(nameOf(method), { [field.jsonName]: value });
      expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_argument']);
      expect(Object.keys(answer.body)).toEqual(['code', 'message']);
      expect(String(answer.body['message'])).toMatch(new RegExp(`^${field.jsonName}: must be `));
      expect(answer.text).not.toContain('NO_SUCH_VALUE');
      count++;
    }
  }
  expect(count).toBeGreaterThan(600);
});

test('over the wire: what is no JSON object, for every RPC', async () => {
  for (const method of unary) {
    for (const body of [[], 'text', 7, null]) {
      const answer = await waf.call(nameOf(method), body);
      expect([nameOf(method), answer.body]).toEqual([
        nameOf(method),
        { code: 'invalid_argument', message: 'request: must be a JSON object' },
      ]);
    }
  }
});

test('names as in the .proto files and numbers of enums are read too, as ProtoJSON asks', async () => {
  const sites = await waf.call('SiteService/ListSites', { page: { page_size: 1 } });
  expect(sites.body['page']).toMatchObject({ pageSize: 1 });
  const policy = { policyId: 'x', revision: '1', engineState: 99 };
  const unknown = await waf.call('PolicyService/SetEngineState', policy);
  expect(unknown.body['message']).toMatch(/^engineState: must be one of ENGINE_STATE_ON, /);
});

test('methods that are not built answer unimplemented, whatever they are sent', async () => {
  const built = new Map(services.map(({ service, build }) => [service, build({} as never)]));
  let missing = 0;
  for (const method of unary) {
    if (built.get(method.parent)?.[method.localName] !== undefined) continue;
    const answer = await waf.call(nameOf(method), {});
    expect([nameOf(method), answer.status, answer.body['code']]).toEqual([
      nameOf(method),
      501,
      'unimplemented',
    ]);
    missing++;
  }
  const all = services.flatMap(({ service }) =>
    service.methods.filter((one) => built.get(service)?.[one.localName] === undefined),
  );
  expect(missing).toBe(all.filter((one) => one.methodKind === 'unary').length);
});

test('pages beyond the bounds are refused by every RPC that has pages', async () => {
  const wrong: [object, string][] = [
    [{ page: { pageSize: 201 } }, 'page.pageSize: must be at least 0 and at most 200'],
    [{ page: { pageSize: -1 } }, 'page.pageSize: must be at least 0 and at most 200'],
  ];
  let count = 0;
  for (const method of unary) {
    if (!method.input.fields.some(({ jsonName }) => jsonName === 'page')) continue;
    for (const [body, message] of wrong) {
      const answer = await waf.call(nameOf(method), body);
      if (answer.status === 501) continue;
      expect([nameOf(method), answer.body]).toEqual([
        nameOf(method),
        { code: 'invalid_argument', message },
      ]);
      count++;
    }
  }
  expect(count).toBeGreaterThan(20);
});

test('every rule of an RPC is public, any session, or asks for codes', () => {
  const kinds = { public: 0, session: 0, codes: 0 };
  const listed = { public: 0, session: 0, codes: 0 };
  for (const line of catalog()) {
    const [, kind] = line.split(' ');
    listed[kind === 'public' || kind === 'session' ? kind : 'codes']++;
  }
  for (const method of methods) {
    const rule = ruleOf(method);
    const codes = rule.anyPermission.length + rule.allPermission.length;
    if (rule.public) kinds.public++;
    else if (codes === 0) kinds.session++;
    else kinds.codes++;
    expect(rule.public && codes > 0).toBe(false);
  }
  expect(kinds).toEqual(listed);
});
