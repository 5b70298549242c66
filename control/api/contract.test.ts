/** The proof of the contract: counts, permissions, conventions over all RPCs. */

import { readFileSync, writeFileSync } from 'node:fs';
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtInRoles, meets, permissionCodes, requirePermission } from '../auth/permissions.ts';
import { catalog, catalogFields } from '../../test/support/rpc-catalog.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { ruleOf } from './authorize.ts';
import { services } from './services.ts';
import { contractStatus, renderStatus } from './status.ts';

const proto = new URL('../../proto/', import.meta.url);
const methods = services.flatMap(({ service }) => service.methods);

test('the description lists exactly the fields that the catalog does not name', () => {
  const text = readFileSync(new URL('README.md', proto), 'utf8');
  const [, section = ''] = text.split('## Fields that are ours');
  const listed = [...section.matchAll(/`([A-Z]\w+)\.(\w+)`/g)].map(([, ...name]) => name.join('.'));
  expect(listed.length).toBeGreaterThan(30);
  expect(new Set(listed).size).toBe(listed.length);
  const messages = new Map<string, DescMessage>();
  const visit = (message: DescMessage): void => {
    if (messages.has(message.typeName)) return;
    messages.set(message.typeName, message);
    for (const field of message.fields) if (field.message) visit(field.message);
  };
  for (const { input, output } of methods) [input, output].forEach(visit);
  const ours = [...messages.values()].filter(({ typeName }) => typeName.startsWith('waf.'));
  const known = ours.flatMap(({ name, fields }) =>
    fields.map(({ jsonName }) => `${name}.${jsonName}`),
  );
  expect(listed.filter((one) => !known.includes(one))).toEqual([]);
  const named = new Set(catalogFields());
  expect(named.size).toBeGreaterThan(2000);
  expect(known.filter((one) => !named.has(one) && !listed.includes(one))).toEqual([]);
  expect(listed.filter((one) => named.has(one))).toEqual([]);
  expect([...named].filter((one) => !known.includes(one))).toEqual([]);
});

test('every permission is the one of the catalog', () => {
  const table = catalog();
  expect(table.length).toBeGreaterThan(300);
  const found = methods.map((method) => {
    const rule = ruleOf(method);
    const codes = [...rule.anyPermission, ...rule.allPermission].join(' ');
    const text = rule.public ? 'public' : codes === '' ? 'session' : codes;
    return `${method.parent.name}/${method.name} ${text}`;
  });
  expect(found.sort()).toEqual(table.sort());
  // Several codes mean all of them; none of the contract's rules is an alternative.
  for (const method of methods) expect(ruleOf(method).anyPermission.length).toBeLessThan(2);
});

test('59 permission codes, and every rule names known ones', () => {
  const codes = new Set(permissionCodes.map(([code]) => code));
  expect(codes.size).toBe(59);
  for (const method of methods) {
    const rule = ruleOf(method);
    for (const code of [...rule.anyPermission, ...rule.allPermission]) {
      expect(codes.has(code)).toBe(true);
    }
  }
  for (const role of builtInRoles) {
    for (const code of role.permissions) expect(codes.has(code)).toBe(true);
  }
});

test('each RPC is refused without its permission and open with it', () => {
  const caller = { userId: 'u', username: 'u', tenantId: 't', sessionId: 's', address: '' };
  for (const method of methods) {
    const rule = ruleOf(method);
    const needed = [...rule.anyPermission, ...rule.allPermission];
    const as = (codes: readonly string[]) => ({ ...caller, permissions: new Set(codes) });
    if (rule.public) {
      requirePermission(rule, null);
      continue;
    }
    expect(() => requirePermission(rule, null)).toThrow(/sign in/);
    requirePermission(rule, as(needed));
    requirePermission(rule, as(['waf:superadmin']));
    for (const left of needed) {
      const others = permissionCodes.map(([code]) => code).filter((code) => code !== left);
      const without = others.filter((code) => code !== 'waf:superadmin');
      expect(meets(rule, new Set(without))).toBe(false);
    }
  }
});

test('proto/STATUS.md says what is built', () => {
  const path = new URL('STATUS.md', proto);
  const text = renderStatus(contractStatus());
  if (process.env['WAF_WRITE_STATUS'] === '1') writeFileSync(path, text);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test('field names are lowerCamelCase in JSON and every enum begins with its zero', () => {
  const seen = new Set<string>();
  const visit = (message: DescMessage): void => {
    if (seen.has(message.typeName) || message.typeName.startsWith('google.')) return;
    seen.add(message.typeName);
    for (const field of message.fields) {
      expect(field.jsonName).toMatch(/^[a-z][a-zA-Z0-9]*$/);

      if (field.message !== undefined) visit(field.message);
      if (field.enum !== undefined) expect(field.enum.values[0]?.name).toMatch(/_UNSPECIFIED$/);
    }
  };
  for (const method of methods) {
    visit(method.input);
    visit(method.output);
  }
  expect(seen.size).toBeGreaterThan(700);
});

let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(() => waf.control.close());

const unary = methods.filter((method) => method.methodKind === 'unary');
const rpcOf = (method: (typeof methods)[number]): string => `${method.parent.name}/${method.name}`;

test('over the network no unary RPC but the public ones answers a stranger', async () => {
  let refused = 0;
  for (const method of unary) {
    if (ruleOf(method).public) continue;
    const answer = await waf.call(rpcOf(method), {}, { network: true });
    expect([method.name, answer.status, answer.body['code']]).toEqual([
      method.name,
      401,
      'unauthenticated',
    ]);
    refused++;
  }
  expect(refused).toBe(unary.length - 6);
});

test('unknown fields and bad enums are invalid_argument that names the field', async () => {
  const isEnum = (field: DescField): boolean => field.fieldKind === 'enum';
  let enums = 0;
  for (const method of unary) {
    const unknown = await waf.call(rpcOf(method), { notAField: 1 });
    expect([method.name, unknown.status, unknown.body['code']]).toEqual([
      method.name,
      400,
      'invalid_argument',
    ]);
    expect(unknown.body['message']).toContain('notAField');
    const found = method.input.fields.find(isEnum);
    if (found === undefined) continue;
    enums++;
    const bad = await waf.call(rpcOf(method), { [found.jsonName]: 'NO_SUCH_VALUE' });
    expect([method.name, bad.body['code']]).toEqual([method.name, 'invalid_argument']);
    expect(bad.body['message']).toMatch(
      new RegExp(`^${found.jsonName}.*: must be (?:one of|a list)`),
    );
  }
  expect(enums).toBeGreaterThan(5);
});
