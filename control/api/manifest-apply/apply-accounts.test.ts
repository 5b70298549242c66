/**
 * The proof that manifests give nobody more than the single calls would, and that they bring no
 * secret and lose none.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { signInWith } from '../../../test/support/sign-in-with.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;
let applier: string;
const password = 'a long enough password';

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  applier = await signInWith(waf, ['system:apply', 'site:read', 'role:write'], 'Applier');
});
afterAll(() => waf.control.close());

const head = (kind: string, name: string): string =>
  `apiVersion: waf.io/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec:\n`;

async function apply(yaml: string, token = '', rpc = 'Apply'): Promise<string> {
  const body = { manifestYaml: Buffer.from(yaml).toString('base64') };
  const way = token === '' ? {} : { token };
  const { status, text } = await waf.call(`SystemService/${rpc}`, body, way);
  return `${status} ${text}`;
}

test.each([
  ['User', 'eve', '  { roles: [Applier] }', 'needs user:write'],
  ['User', 'admin', '  { email: a@b.example }', 'needs user:write'],
  ['Settings', 'default', '  { auth.access_token_seconds: 900 }', 'needs system:write'],
  ['AgentGroup', 'edge', '  { selector: { matchTags: [eu] } }', 'needs agent_group:write'],
  ['DnsProvider', 'cf', '  { provider: cloudflare }', 'needs cert:write'],
  ['Role', 'Mine', '  { permissions: [site:write] }', 'you do not hold this permission'],
  ['Role', 'Auditor', '  { permissions: [site:read] }', 'built-in roles are fixed'],
])('%s %s: who may apply may not for that decide over people', async (kind, name, spec, why) => {
  const yaml = `${head(kind, name)}${spec}\n`;
  for (const rpc of ['Apply', 'PreviewApply']) {
    const answer = await apply(yaml, applier, rpc);
    expect(answer).toMatch(/^40[03] /);
    expect(answer).toMatch(new RegExp(why));
  }
});

test('who may write users may not change one who may do more', async () => {
  const writer = await signInWith(waf, ['system:apply', 'user:write'], 'User writer', 'walter');
  for (const spec of ['{ email: a@b.example }', '{ roles: [] }']) {
    for (const rpc of ['Apply', 'PreviewApply']) {
      const answer = await apply(`${head('User', 'admin')}  ${spec}\n`, writer, rpc);
      expect(answer).toMatch(/^403 .*this user holds permissions that you do not hold/);
    }
  }
});

test('what the caller may give, the manifest may give', async () => {
  const yaml = `${head('Role', 'Reader')}  { permissions: [site:read] }\n`;
  expect(await apply(yaml, applier)).toMatch(/^200 .*"create"/);
});

test('the last administrator stays, a user keeps the password, a new one has none', async () => {
  const stripped = await apply(`${head('User', 'admin')}  { roles: [Reader] }\n`);
  expect(stripped).toContain('the last administrator must stay able to sign in');
  expect(await apply(`${head('User', 'anna')}  { roles: [Applier, Auditor] }\n`)).toMatch(/^200 /);
  const again = { username: 'anna', password };
  const way = { network: true };
  expect((await waf.call('AuthService/Login', again, way)).status).toBe(200);
  // The session of before ended with the change of roles.
  expect(await apply(`${head('Role', 'Reader')}  {}\n`, applier)).toMatch(/^401 /);
  const made = await apply(`${head('User', 'olga')}  { roles: [Reader] }\n`);
  expect(made).toContain('a password is a secret that no manifest holds: waf user password olga');
  for (const guess of ['', 'olga', password]) {
    const { status } = await waf.call(
      'AuthService/Login',
      { username: 'olga', password: guess },
      way,
    );
    expect(status).toBeGreaterThanOrEqual(400);
  }
});

test('a secret that reads configured is the stored one, and refused where there is none', async () => {
  const settings = (secret: string): string =>
    `${head('Settings', 'default')}  auth.radius.config:\n` +
    `    { enabled: true, servers: [{ host: 127.0.0.1, port: 1812 }], secret: ${secret} }\n`;
  expect(await apply(settings('configured'))).toContain(
    'spec.auth.radius.config.secret: no secret is stored that configured could stand for',
  );
  const set = await apply(settings('s3cret-word'));
  expect(set).toMatch(/^200 /);
  expect(set).not.toContain('s3cret-word');
  expect(await apply(settings('configured'))).toMatch(/^200 .*"unchanged"/);
  const other = await apply(settings('an0ther-word'));
  expect(other).toMatch(/^200 .*"update"/);
  expect(other).not.toMatch(/s3cret-word|an0ther-word/);
  const rows = await waf.call('AuditService/QueryAudit', { resourceType: 'system_settings' });
  expect(rows.text).not.toMatch(/s3cret-word|an0ther-word/);
});

test('credentials of a DNS account are written only, and missing ones are named', async () => {
  const account = (more: string): string =>
    `${head('DnsProvider', 'cf')}  { provider: cloudflare${more} }\n`;
  expect(await apply(account(''))).toContain('spec.credentials: are a secret that no manifest');
  const set = await apply(account(', credentials: { apiToken: s3cret-token }'));
  expect(set).toMatch(/^200 /);
  expect(set).not.toContain('s3cret-token');
  const kept = await apply(account(', credentials: configured'));
  expect(kept).toMatch(/^200 .*"unchanged"/);
  expect(kept).not.toContain('spec.credentials');
  expect(await apply(account(', credentials: { apiToken: 7 }'))).toContain('spec.credentials');
  expect(await apply(account(', zones: ["*.x"]'))).toContain('spec.zones[0]');
});

test('settings name roles by name, whatever their ids are here', async () => {
  const yaml =
    `${head('Role', 'Reader')}  { permissions: [site:read] }\n---\n` +
    `${head('Settings', 'default')}  auth.oidc.providers:\n` +
    '    - { id: corp, label: Corp, issuer: https://id.example, clientId: waf,\n' +
    '        defaultRoleIds: [Reader], roleMappings: { team: Reader } }\n';
  expect(await apply(yaml)).toMatch(/^200 /);
  const { body } = await waf.call('RoleService/ListRoles', { query: 'Reader' });
  const [{ id } = { id: '' }] = body['items'] as { id: string }[];
  const { text } = await waf.call('SystemService/GetSystemSettings', {});
  expect(JSON.parse(text)).toMatchObject({
    settings: {
      values: {
        'auth.oidc.providers': [{ defaultRoleIds: [id], roleMappings: { team: id } }],
      },
    },
  });
  expect(await apply(yaml)).not.toMatch(/"create"|"update"/);
  expect(
    await apply(yaml.replace('defaultRoleIds: [Reader]', 'defaultRoleIds: [Nobody]')),
  ).toContain('names no role');
});
