/** Tests what `waf doctor` says of second factors, API tokens and the management address. */

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { ApiTokenSchema } from '../../../../proto/gen/waf/access/v1/token_pb.ts';
import { RoleSchema } from '../../../../proto/gen/waf/v1/role_pb.ts';
import { UserSchema } from '../../../../proto/gen/waf/v1/user_pb.ts';
import { judgeFactors, judgeManagement, judgeTokens } from './security.ts';

const now = Date.UTC(2026, 5, 1);
const day = 24 * 3_600_000;

test.each([
  [{}, 'note'],
  [{ totpEnabled: true }, 'ok'],
  [{ locked: true }, 'ok'],
  [{ externalProviders: ['oidc:x'] }, 'ok'],
])('an administrator with %o', (change, severity) => {
  const roles = [create(RoleSchema, { permissions: ['waf:superadmin'] })];
  const user = create(UserSchema, { username: 'anna', roles, ...change });
  expect(judgeFactors([user]).map((one) => one.severity)).toEqual([severity]);
});

test('a user who is no administrator needs no second factor', () => {
  const roles = [create(RoleSchema, { permissions: ['site:read'] })];
  expect(judgeFactors([create(UserSchema, { roles })])[0]?.severity).toBe('ok');
});

test.each([
  [now + day, now - day, []],
  [null, now - day, ['never end: anna/ci']],
  [now + day, now - 91 * day, ['not used for 90 days: anna/ci']],
  [null, null, ['never end: anna/ci', 'not used for 90 days: anna/ci']],
])('a token that ends at %s and was used at %s', (ends, used, said) => {
  const token = create(ApiTokenSchema, {
    name: 'ci',
    ownerName: 'anna',
    createdAt: timestampFromMs(now - 200 * day),
    ...(ends === null ? {} : { expiresAt: timestampFromMs(ends) }),
    ...(used === null ? {} : { lastUsedAt: timestampFromMs(used) }),
  });
  const found = judgeTokens([token], now).filter(({ severity }) => severity !== 'ok');
  expect(found.map(({ finding }) => finding)).toEqual(said);
});

test.each([
  ['127.0.0.1', 'ok'],
  ['::1', 'ok'],
  ['localhost', 'ok'],
  ['0.0.0.0', 'warning'],
  ['10.1.2.3', 'warning'],
  ['::', 'warning'],
])('a management API at %s', (host, severity) => {
  expect(judgeManagement(host).severity).toBe(severity);
});
