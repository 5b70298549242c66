/**
 * The proof that every RPC asks for its permission over the network: strangers, users without a
 * role, users with exactly what is needed, users with everything else, users of another tenant.
 */

import { mkdtempSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DescMethod } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { permissionCodes, superadmin } from '../auth/permissions.ts';
import { users } from '../store/collections.ts';
import { openLmdbKv } from '../store/lmdb-kv.ts';
import { openStore } from '../store/store.ts';
import { catalog } from '../../test/support/rpc-catalog.ts';
import {
  startTestControl,
  type Answer,
  type TestControl,
} from '../../test/support/test-control.ts';
import { ruleOf } from './authorize.ts';
import { services } from './services.ts';

const methods = services.flatMap(({ service }) => service.methods);
const unary = methods.filter((method) => method.methodKind === 'unary');
const streams = methods.filter((method) => method.methodKind === 'server_streaming');
const nameOf = (method: DescMethod): string => `${method.parent.name}/${method.name}`;
const neededBy = (method: DescMethod): string[] => {
  const { anyPermission, allPermission } = ruleOf(method);
  return [...anyPermission, ...allPermission];
};
const built = new Map(services.map(({ service, build }) => [service, build({} as never)]));
const isBuilt = (method: DescMethod): boolean =>
  built.get(method.parent)?.[method.localName] !== undefined;
const guarded = methods.filter((method) => neededBy(method).length > 0);
const ordinary = permissionCodes.map(([code]) => code).filter((code) => code !== superadmin);

const marker = 'belongs-to-the-first-tenant';
const password = 'a long passphrase 42';
let folder = '';
let waf: TestControl;
let roleId = '';
let tokens = { probe: '', stranger: '' };
const ids = new Map<string, string>();

const made = (answer: Answer, field: string): { readonly id: string } => {
  expect([field, answer.status, answer.body['message']]).toEqual([field, 200, undefined]);
  return answer.body[field] as { id: string };
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waf-permissions-'));
  waf = await startTestControl({ dataFolder: folder, demoOrigin: null });
  await makeResources();
  const createUser = (username: string, role: string): Promise<Answer> =>
    waf.call('UserService/CreateUser', { user: { username, roles: [{ id: role }] }, password });
  const role = { name: 'probe', permissions: [] };
  roleId = made(await waf.call('RoleService/CreateRole', { role }), 'role').id;
  made(await createUser('probe', roleId), 'user');
  const foreigner = made(await createUser('foreigner', 'role-administrator'), 'user').id;
  await waf.control.close();
  const kv = openLmdbKv({ folder: join(folder, 'control'), durable: false });
  const store = await openStore(kv, systemClock);
  await store.write((tx) => {
    const record = tx.get(users, foreigner);
    if (record !== undefined) tx.put(users, { ...record, tenantId: 'second' });
  });
  await store.close();
  waf = await startTestControl({ dataFolder: folder, demoOrigin: null });
  tokens = { probe: await signIn('probe'), stranger: await signIn('foreigner') };
});
afterAll(() => waf.control.close());

async function signIn(username: string): Promise<string> {
  const login = { username, password };
  const answer = await waf.call('AuthService/Login', login, { network: true });
  expect(answer.status).toBe(200);
  return String(answer.body['accessToken']);
}

/** One resource of each kind, marked, whose ids fill requests. */
async function makeResources(): Promise<void> {
  const name = marker;
  const url = 'http://127.0.0.1:9';
  const inList = { addressSource: 'client_ip', matchMode: 'in_list' };
  const keep = (key: string, { id }: { readonly id: string }): void => void ids.set(key, id);
  const create = async (rpc: string, field: string, value: object): Promise<{ id: string }> =>
    made(await waf.call(rpc, { [field]: value }), field);
  const policy = await create('PolicyService/CreatePolicy', 'policy', { name });
  const policyId = policy.id;
  keep('policyId', policy);
  const site = { name, primaryHost: `${marker}.test`, upstreams: [{ inline: { url } }] };
  keep('siteId', await create('SiteService/CreateSite', 'site', { ...site, waf: { policyId } }));
  const pool = { name, endpoints: [{ url }] };
  keep('upstreamId', await create('UpstreamService/CreateUpstream', 'upstream', pool));
  keep('roleId', await create('RoleService/CreateRole', 'role', { name }));
  const user = { user: { username: marker }, password };
  keep('userId', made(await waf.call('UserService/CreateUser', user), 'user'));
  const list = { name, entries: [{ value: '10.1.2.3', note: marker }] };
  keep('ipListId', await create('IpListService/CreateIpList', 'ipList', list));
  const group = { name, selector: { matchTags: [marker] } };
  keep('groupId', await create('AgentGroupService/CreateAgentGroup', 'group', group));
  const rule = { policyId, name, enabled: true, seclang: 'SecAction "id:9,phase:1,pass"' };
  keep('ruleId', await create('CustomRuleService/CreateCustomRule', 'rule', rule));
  const override = { policyId, crsRuleId: '942999', actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE' };
  const rationale = marker;
  const upsert = 'RuleOverrideService/UpsertRuleOverride';
  keep('overrideId', await create(upsert, 'override', { ...override, rationale }));
  const country = { name, countryCodes: ['DE'], kind: 'deny', targets: [{ scope: 'global' }] };
  const access = 'CountryAccessService/UpsertCountryAccessRule';
  keep('countryId', await create(access, 'rule', { ...country, ...inList }));
}

async function setPermissions(permissions: readonly string[]): Promise<void> {
  const body = { role: { id: roleId, permissions }, updateMask: 'permissions' };
  expect((await waf.call('RoleService/UpdateRole', body)).status).toBe(200);
}

/** Calls, one after the other, before whose last answer a stream says whether it is refused. */
const callsAfter = 25;

/** Status and code of a stream's first answer, as a unary call would give them. */
function openStream(method: DescMethod, token: string): Promise<string> {
  const body = Buffer.concat([Buffer.from([0, 0, 0, 0, 2]), Buffer.from('{}')]);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port: waf.control.managementPort,
        method: 'POST',
        path: `/waf.v1.${nameOf(method)}`,
        agent: false,
        headers: {
          'content-type': 'application/connect+json',
          ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        },
      },
      (response) => {
        response.once('data', (chunk: Buffer) => {
          resolve(/"code":"(\w+)"/.exec(chunk.toString())?.[1] ?? 'ok');
          request.destroy();
        });
      },
    );
    request.on('error', reject);
    // A stream without events that may be read says nothing: calls that came after it are answered.
    const listen = async (): Promise<void> => {
      for (let call = 0; call < callsAfter; call++) await waf.call('SystemService/Version', {});
      resolve('silent');
      request.destroy();
    };
    request.on('finish', () => void listen().catch(reject));
    request.end(body);
  });
}

async function codeOf(method: DescMethod, token: string): Promise<string> {
  if (method.methodKind === 'server_streaming') return openStream(method, token);
  const way = token === '' ? { network: true } : { token };
  const { body } = await waf.call(nameOf(method), {}, way);
  return typeof body['code'] === 'string' ? body['code'] : 'ok';
}

test('strangers: public RPCs only', async () => {
  let refused = 0;
  for (const method of [...unary, ...streams]) {
    if (ruleOf(method).public) continue;
    expect([nameOf(method), await codeOf(method, '')]).toEqual([nameOf(method), 'unauthenticated']);
    refused++;
  }
  const needSession = catalog().filter((line) => !line.endsWith(' public'));
  expect(refused).toBe(needSession.length);
});

test('a user without a permission: what any session may, and nothing else', async () => {
  await setPermissions([]);
  for (const method of [...unary, ...streams]) {
    if (ruleOf(method).public || nameOf(method) === 'AuthService/ChangePassword') continue;
    const code = await codeOf(method, tokens.probe);
    const needs = neededBy(method).length > 0;
    expect([nameOf(method), code === 'permission_denied']).toEqual([nameOf(method), needs]);
  }
});

test('exactly what is needed opens, all else without one of it does not', async () => {
  const groups = new Map<string, DescMethod[]>();
  for (const method of guarded) {
    const key = neededBy(method).toSorted().join(' ');
    groups.set(key, [...(groups.get(key) ?? []), method]);
  }
  const refusals: string[] = [];
  for (const [key, group] of groups) {
    const needed = key.split(' ');
    await setPermissions(needed);
    for (const method of group) {
      const code = await codeOf(method, tokens.probe);
      expect([nameOf(method), code]).not.toEqual([nameOf(method), 'permission_denied']);
      expect([nameOf(method), code]).not.toEqual([nameOf(method), 'unauthenticated']);
      if (!isBuilt(method))
        expect([nameOf(method), code]).toEqual([nameOf(method), 'unimplemented']);
    }
    for (const left of needed) {
      await setPermissions(ordinary.filter((code) => code !== left));
      for (const method of group) {
        const code = await codeOf(method, tokens.probe);
        expect([nameOf(method), left, code]).toEqual([nameOf(method), left, 'permission_denied']);
        refusals.push(nameOf(method));
      }
    }
  }
  expect(new Set(refusals).size).toBe(guarded.length);
});

/** A request that names what belongs to the first tenant wherever it can. */
function pointing(method: DescMethod): object {
  const own: Readonly<Record<string, string>> = {
    SiteService: 'siteId',
    PolicyService: 'policyId',
    UpstreamService: 'upstreamId',
    RoleService: 'roleId',
    UserService: 'userId',
    IpListService: 'ipListId',
    AgentGroupService: 'groupId',
    CustomRuleService: 'ruleId',
    RuleOverrideService: 'overrideId',
    CountryAccessService: 'countryId',
  };
  const idOf = (name: string): string | undefined =>
    ids.get(name === 'id' ? (own[method.parent.name] ?? '') : name);
  const body: Record<string, unknown> = {};
  for (const field of method.input.fields) {
    const name = field.jsonName;
    const id = idOf(name) ?? idOf(name.replace(/s$/, ''));
    if (field.fieldKind === 'scalar' && id !== undefined) body[name] = id;
    if (field.fieldKind === 'list' && id !== undefined && field.scalar !== undefined) {
      body[name] = [id];
    }
    if (field.fieldKind === 'message' && field.message.fields.some((one) => one.name === 'id')) {
      const inner: Record<string, unknown> = {};
      for (const { jsonName } of field.message.fields) {
        const found = jsonName.endsWith('d') ? idOf(jsonName) : undefined;
        if (found !== undefined) inner[jsonName] = found;
      }
      body[name] = inner;
    }
    if (name === 'updateMask') body[name] = 'name';
    if (name === 'revision') body[name] = '1';
    if (name === 'password') body[name] = password;
  }
  return body;
}

test('an administrator of another tenant sees and changes nothing of the first', async () => {
  const everything = async (): Promise<string> => {
    const texts: string[] = [];
    for (const [rpc, id] of [
      ['SiteService/GetSite', 'siteId'],
      ['PolicyService/GetPolicy', 'policyId'],
      ['UpstreamService/GetUpstream', 'upstreamId'],
      ['RoleService/GetRole', 'roleId'],
      ['UserService/GetUser', 'userId'],
      ['IpListService/GetIpList', 'ipListId'],
      ['AgentGroupService/GetAgentGroup', 'groupId'],
      ['CustomRuleService/GetCustomRule', 'ruleId'],
      ['RuleOverrideService/GetRuleOverride', 'overrideId'],
      ['CountryAccessService/GetCountryAccessRule', 'countryId'],
    ] as const) {
      const answer = await waf.call(rpc, { id: ids.get(id) });
      expect([rpc, answer.status]).toEqual([rpc, 200]);
      texts.push(answer.text);
    }
    return texts.join('\n');
  };
  const before = await everything();
  // The same questions show the first tenant its own, or they would prove nothing.
  const reads = unary.filter(({ name }) => /^(?:Get|List)/.test(name));
  let shown = 0;
  for (const method of reads) {
    if ((await waf.call(nameOf(method), pointing(method))).text.includes(marker)) shown++;
  }
  expect(shown).toBeGreaterThan(18);
  let pointed = 0;
  const leaks: string[] = [];
  for (const method of unary) {
    if (ruleOf(method).public) continue;
    const body = pointing(method);
    if (Object.keys(body).length > 0) pointed++;
    const answer = await waf.call(nameOf(method), body, { token: tokens.stranger });
    expect([nameOf(method), answer.body['code']]).not.toEqual([nameOf(method), 'unauthenticated']);
    if (answer.text.includes(marker)) leaks.push(nameOf(method));
  }
  expect(leaks).toEqual([]);
  expect(pointed).toBeGreaterThan(150);
  expect(await everything()).toBe(before);
});
