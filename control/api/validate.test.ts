/**
 * The proof of the rules in the .proto files: each can be evaluated, and what breaks one is named
 * by its JSON path, with what would be right and without what was sent.
 */

import { create } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import { codeToHttpStatus } from '@connectrpc/connect/protocol-connect';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AppError } from '../../base/errors.ts';
import { silentLogger, type Logger } from '../../base/log.ts';
import { catalog } from '../../test/support/rpc-catalog.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { refusal, type RpcCode } from '../domain/errors.ts';
import { toConnectError } from './errors.ts';
import { services } from './services.ts';

let waf: TestControl;
beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(() => waf.control.close());

test('the rules of every request can be evaluated', () => {
  const validator = createValidator();
  const kinds = { valid: 0, invalid: 0 };
  for (const { service } of services) {
    for (const { input } of service.methods) {
      const result = validator.validate(input, create(input));
      expect([input.typeName, result.error?.name]).not.toEqual([
        input.typeName,
        'CompilationError',
      ]);
      if (result.kind === 'error') throw result.error;
      kinds[result.kind]++;
    }
  }
  expect(kinds.valid + kinds.invalid).toBe(catalog().length);
  expect(kinds.invalid).toBeGreaterThan(120);
});

const long = 'x'.repeat(5000);
const rows: readonly (readonly [rpc: string, body: object, message: string])[] = [
  ['SiteService/GetSite', {}, 'id: is required'],
  ['SiteService/CreateSite', {}, 'site: is required'],
  ['SiteService/GetSite', { id: long }, 'id: must be at most 256 characters'],
  [
    'SiteService/GetSite',
    { id: 'a b\n' },
    'id: may hold visible ASCII characters only, without blanks',
  ],
  [
    'RoleService/CreateRole',
    { role: { name: 'a\u0000' } },
    'role.name: may not hold control characters',
  ],
  [
    'SiteService/CreateSite',
    { site: { aliases: ['a.test', 'x'.repeat(254)] } },
    'site.aliases[1]: must be at most 253 characters',
  ],
  [
    'SiteService/CreateSite',
    { site: { upstreams: [{ inline: { weight: 1001 } }] } },
    'site.upstreams[0].inline.weight: must be at least 0 and at most 1000',
  ],
  [
    'PolicyService/SetEngineState',
    { policyId: 'p', engineState: 77 },
    'engineState: must be one of ENGINE_STATE_ON, ENGINE_STATE_DETECTION_ONLY, ENGINE_STATE_OFF',
  ],
  [
    'PolicyService/CreatePolicy',
    { policy: { crsCore: { requestBodyLimit: '4194305' } } },
    'policy.crsCore.requestBodyLimit: must be at least 1 and at most 4194304',
  ],
  [
    'IpListService/ListIpLists',
    { managementMode: 'secret' },
    'managementMode: must be one of manual, subscription',
  ],
  [
    'LogService/QuerySecurityEvents',
    { timeRange: { start: '2026-02-01T00:00:00Z', end: '2026-01-01T00:00:00Z' } },
    'timeRange: start must not be later than end',
  ],
  [
    'LogService/QuerySecurityEvents',
    { page: { offset: 100_001 } },
    'page.offset: must be at least 0 and at most 100000',
  ],
  [
    'LogService/QuerySecurityEvents',
    { minimumSeverity: 'secret' },
    'minimumSeverity: must be one of critical, error, warning, notice, info, debug',
  ],
  [
    'RuleOverrideService/BulkUpsertRuleOverrides',
    { overrides: Array.from({ length: 501 }, () => ({})) },
    'overrides: has at most 500 items',
  ],
  ['AuthService/Login', { password: long }, 'password: must be at most 1024 characters'],
];

test.each(rows)('%s %j', async (rpc, body, message) => {
  const answer = await waf.call(rpc, body);
  expect(answer.body).toEqual({ code: 'invalid_argument', message });
  expect(answer.status).toBe(400);
});

test('errors: each code has the status of the documents; what is unexpected is logged', () => {
  const statuses: Readonly<Record<RpcCode, number>> = {
    invalid_argument: 400,
    failed_precondition: 400,
    unauthenticated: 401,
    permission_denied: 403,
    not_found: 404,
    already_exists: 409,
    aborted: 409,
    resource_exhausted: 429,
    unimplemented: 501,
    unavailable: 503,
  };
  for (const [code, status] of Object.entries(statuses)) {
    const error = toConnectError(refusal(code as RpcCode, 'why'), silentLogger, 'here');
    expect([code, codeToHttpStatus(error.code), error.rawMessage]).toEqual([code, status, 'why']);
  }
  const logged: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (_message, fields) => void logged.push(fields) };
  const outside = new Error('secret from outside');
  const hidden = toConnectError(outside, logger, 'waf.v1.X/Y');
  expect(hidden.rawMessage).not.toContain('secret');
  expect(codeToHttpStatus(hidden.code)).toBe(500);
  for (const code of ['ERR_HTTP2_INVALID_STREAM', 'ERR_STREAM_PREMATURE_CLOSE']) {
    const gone = Object.assign(new Error('gone'), { code });
    expect(toConnectError(gone, logger, 'waf.v1.X/Y').rawMessage).toBe('the client is gone');
  }
  expect(logged).toEqual([
    expect.objectContaining({ rpc: 'waf.v1.X/Y', reason: 'secret from outside' }),
  ]);
  const full = new AppError('store_full', 'the disk is full', { source: 'storage' });
  expect(codeToHttpStatus(toConnectError(full, silentLogger, 'here').code)).toBe(429);
});
