/** The proof that what is exported makes the same state again, and what diff answers. */

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { createApiClient } from '../api-client.ts';
import { applyCommand } from './apply.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { diffCommand } from './diff.ts';
import { exportCommand } from './export.ts';
import { createOutput } from '../output.ts';

let first: TestControl;
let second: TestControl;
const folder = mkdtempSync(join(tmpdir(), 'waf-export-'));

beforeAll(async () => {
  first = await startTestControl({ demoOrigin: null });
  second = await startTestControl({ demoOrigin: null });
});

afterAll(async () => {
  await first.control.close();
  await second.control.close();
});

const manifest = `
apiVersion: waf.io/v1
kind: Upstream
metadata: { name: pool }
spec:
  description: two machines
  endpoints: [{ url: 'http://127.0.0.1:9000', weight: 2 }, { url: 'http://127.0.0.1:9001' }]
  healthCheck: { path: /health }
  resilience: { passiveMaxFails: 3 }
  requestHeaders: { x-from: waf }
---
apiVersion: waf.io/v1
kind: IpList
metadata: { name: office }
spec:
  description: where we sit
  entries:
    - { cidr: 192.0.2.0/24, description: 'first floor, left' }
    - { cidr: '2001:db8::/32', expireAt: 2099-01-01T00:00:00Z }
---
apiVersion: waf.io/v1
kind: Policy
metadata: { name: tight }
spec:
  description: for shops
  crsRulesetRef: default
  engineState: detection-only
  template: strict
  crsCore: { blockingParanoiaLevel: 2, detectionParanoiaLevel: 3, reportingLevel: 0 }
  ruleOverrides:
    - { crsRuleId: '942999', actionEnum: RULE_OVERRIDE_ACTION_DISABLE, siteRef: shop, scope: /a }
  customRules:
    - name: no evil
      ruleId: '10500'
      seclang: SecRule ARGS "@contains evil" "id:10500,phase:2,deny"
    - { name: off, ruleId: '10501', enabled: false, seclang: 'SecAction "id:10501,phase:1,pass"' }
---
apiVersion: waf.io/v1
kind: Site
metadata: { name: shop }
spec:
  primaryHost: shop.example
  aliases: ['*.shop.example']
  upstreamRef: pool
  policyRef: tight
  waf: { mode: detection }
  routing:
    unmatched: 404
    routes: [{ name: api, pathPrefix: /api, upstreamRef: pool, stripPrefix: true }]
  policyOverride: { inboundAnomalyScoreThreshold: 9, rationale: noisy }
---
apiVersion: waf.io/v1
kind: Site
metadata: { name: plain, id: site-plain }
spec:
  primaryHost: plain.example
  upstreams: [{ url: 'http://127.0.0.1:9002', requestHeaders: { x-a: b } }]
  waf: { enabled: false }
  status: disabled
`;

async function run(
  waf: TestControl,
  command: CommandDefinition,
  flags: FlagValues,
): Promise<{ code: number; text: string }> {
  let text = '';
  const options = {
    adminSocket: waf.socket,
    data: waf.folder,
    insecure: false,
    logLevel: 'error',
    logFormat: 'json',
    output: 'table',
  } as CommandContext['options'];
  const context = {
    options,
    output: createOutput(
      'table',
      (more) => (text += more),
      () => undefined,
    ),
    packageFolder: '',
    api: () => Promise.resolve(createApiClient(options)),
  } as Partial<CommandContext> as CommandContext;
  return { code: await command.run(context, [], flags), text };
}

test('export, a fresh store, apply: the same desired state', async () => {
  const source = join(folder, 'source.yaml');
  writeFileSync(source, manifest);
  expect((await run(first, diffCommand, { file: [source] })).code).toBe(2);
  const dry = await run(first, applyCommand, { file: [source], dryRun: true });
  expect(dry.text.match(/create/g)).toHaveLength(5);
  await run(first, applyCommand, { file: [source] });
  expect((await run(first, diffCommand, { file: [source] })).code).toBe(0);

  const exported = join(folder, 'exported.yaml');
  await run(first, exportCommand, { out: exported });
  expect((await run(first, diffCommand, { file: [exported] })).code).toBe(0);

  expect((await run(second, diffCommand, { file: [exported] })).code).toBe(2);
  await run(second, applyCommand, { file: [exported] });
  const again = join(folder, 'again.yaml');
  await run(second, exportCommand, { out: again });
  expect(readFileSync(again, 'utf8')).toBe(readFileSync(exported, 'utf8'));
  expect(readFileSync(exported, 'utf8')).toContain('siteRef: shop');
  expect(readFileSync(exported, 'utf8')).toContain('pathPrefix: /api');
});

test('a manifest that cannot be is an error, not a difference', async () => {
  const bad = join(folder, 'bad.yaml');
  writeFileSync(bad, manifest.replace('spec:', 'spec: [] #'));
  await expect(run(first, diffCommand, { file: [bad] })).rejects.toThrow(/document 1/);
  await expect(run(first, diffCommand, {})).rejects.toThrow(/-f is missing/);
});
