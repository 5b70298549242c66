/** TestPolicy without an address tests as a client that no list of the site decides about. */

import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../../base/log.ts';
import type { EngineHandler } from '../../../engine/contract/evaluation.ts';
import type { GuardVerdict } from '../../../engine/contract/guard.ts';
import { serveEngineService } from '../../../engine/link/engine-service.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;
let engine: { close(): Promise<void> };
let policyId = '';
let siteId = '';
/** What the engine's guard decides about a client. */
let decide: (clientIp: string) => GuardVerdict | null;

const unused = (): never => {
  throw new Error('not asked here');
};
const verdict = (action: 'deny' | 'bypass', detail: string): GuardVerdict => ({
  ...{ guard: 'ip', action, reason: 'ip_list', ruleId: 'b', detail, status: 403, scenario: null },
});
const handler: EngineHandler = {
  compile: () => Promise.resolve({ ok: true, diagnostics: [], ruleCount: 1 }),
  evaluate: (_policy, { clientIp }) => {
    const found = decide(clientIp);
    const refused = found?.action === 'deny';
    return Promise.resolve({
      ...{ record: null, diagnostics: [], refusal: refused ? 'ip_list' : '' },
      refusalStatus: refused ? 403 : 0,
      siteAnswer: null,
      guards: [{ guard: 'ip', saw: clientIp, verdict: found, skipped: false }],
    });
  },
  evaluateBatch: unused,
  status: () => ({ revision: '0', sha256: '', version: '', uptimeMs: 0, libraries: {} }),
  explainTrust: unused,
  sampleClients: unused,
  probeUpstream: unused,
  readFirstPage: unused,
  spoofNotes: unused,
};

beforeAll(async () => {
  waf = await startTestControl();
  const socketPath = join(waf.folder, 'engine.sock');
  engine = await serveEngineService({ socketPath, logger: silentLogger, handler });
  const policy = await waf.call('PolicyService/CreatePolicy', { policy: { name: 'tried' } });
  policyId = (policy.body['policy'] as { id: string }).id;
  const site = {
    ...{ name: 'shop', primaryHost: 'shop.test', waf: { enabled: true, policyId } },
    upstreams: [{ inline: { url: 'http://127.0.0.1:1' } }],
  };
  const created = await waf.call('SiteService/CreateSite', { site });
  siteId = (created.body['site'] as { id: string }).id;
});
afterAll(async () => {
  await engine.close();
  await waf.control.close();
});

/** The client that was tested as, and whether it was blocked. */
async function tried(more: object = {}): Promise<[unknown, boolean]> {
  const asked = { policyId, siteId, url: '/', ...more };
  const { status, body } = await waf.call('PolicyService/TestPolicy', asked);
  expect(status, JSON.stringify(body)).toBe(200);
  return [(body['transaction'] as { clientIp: unknown }).clientIp, body['blocked'] === true];
}

test('an address in a list of the site is not tested with unless it is asked for', async () => {
  decide = () => null;
  expect(await tried()).toEqual(['203.0.113.10', false]);
  decide = (ip) => (ip === '203.0.113.10' ? verdict('deny', 'client_ip in list l') : null);
  expect(await tried()).toEqual(['198.51.100.10', false]);
  expect(await tried({ clientIp: '203.0.113.10' })).toEqual(['203.0.113.10', true]);
  decide = (ip) => (ip.includes(':') ? null : verdict('bypass', 'client_ip in list l'));
  expect(await tried()).toEqual(['2001:db8::10', false]);
});

test('a list that lets only some clients in decides about every other', async () => {
  decide = () => verdict('deny', 'client_ip not in list l');
  expect(await tried()).toEqual(['203.0.113.10', true]);
  decide = () => verdict('deny', 'client_ip in list l');
  expect(await tried()).toEqual(['2001:db8::10', true]);
});
