/** Log policies: revisions, overrides, risks, what nodes get and how long events are kept. */

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { create } from '@bufbuild/protobuf';
import { loggingOf } from '../../../engine/bundle/runtime-logging.ts';
import type { VerifiedBundle } from '../../../engine/bundle/signed-bundle.ts';
import { standardLogSettings } from '../../../engine/contract/logging.ts';
import { RuntimeLogPolicySchema } from '../../../proto/gen/waf/runtime/v1/logging_pb.ts';

import { systemClock } from '../../../base/clock.ts';
import { keepPrinted } from '../../../test/support/printed.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { connectTakingLink } from '../../../test/support/test-link.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../../cli/commands.ts';
import { runCommandLine } from '../../cli/program.ts';
import {
  logEmergencyId,
  readLogPolicy,
  resolveLogPolicy,
  standardLogPolicy,
} from '../../domain/settings/log-policy.ts';
import { retentionDays, toRuntimeLogPolicy } from '../../publish/parts/log-parts.ts';
import { logEmergencies, logPolicies } from '../../store/collections.ts';
import { openLmdbKv } from '../../store/lmdb-kv.ts';
import { openStore, type ReadStore } from '../../store/store.ts';

let waf: TestControl;
let siteId = '';

beforeAll(async () => {
  // The run before ended under storage pressure, and the disk has room by now.
  waf = await startTestControl({ demoOrigin: null }, async (folder) => {
    const store = await openStore(openLmdbKv({ folder, durable: false }), systemClock);
    const pressed = { id: logEmergencyId, active: true, epoch: '4' };
    await store.write((tx) => tx.put(logEmergencies, pressed));
    await store.close();
  });
  const site = {
    name: 'shop',
    primaryHost: 'shop.test',
    upstreams: [{ inline: { url: 'http://127.0.0.1:1' } }],
  };
  const made = await waf.call('SiteService/CreateSite', { site });
  siteId = (made.body['site'] as { id: string }).id;
});
afterAll(() => waf.control.close());

const runtime = (policy = standardLogPolicy, site = '') =>
  create(RuntimeLogPolicySchema, toRuntimeLogPolicy(site, 7n, policy));

test('nodes without a policy do what the standard policy says', () => {
  const config = loggingOf({ logPolicies: [runtime()] });
  const standard = standardLogSettings;
  expect(config).toEqual({
    revision: 7,
    standard,
    sites: new Map(),
    exportAccess: false,
    exportAnswerBodies: false,
    tracing: null,
  });
  expect(loggingOf({ logPolicies: [] })).toBeUndefined();
});

test('every mode reaches the node, and evidence that is off is absent', () => {
  const off = runtime({
    ...standardLogPolicy,
    accessMode: 'LOG_DETAIL_MODE_ALL',
    securityMode: 'LOG_DETAIL_MODE_NONE',
    requestEvidenceMode: 'REQUEST_EVIDENCE_MODE_OFF',
    sampleWindowSeconds: 10,
  });
  const full = runtime(
    {
      ...standardLogPolicy,
      requestEvidenceMode: 'REQUEST_EVIDENCE_MODE_RETAINED_LOGS',
      requestEvidenceBodyMode: 'REQUEST_EVIDENCE_BODY_MODE_FULL',
    },
    'site-1',
  );
  const config = loggingOf({ logPolicies: [off, full] });
  expect(config?.standard).toMatchObject({
    ...{ accessMode: 'all', securityMode: 'none', windowMs: 10_000, evidence: null },
  });
  expect(config?.sites.get('site-1')?.evidence).toMatchObject({ mode: 'retained', body: 'whole' });
});

test('zeros that are no values of a field mean the standard one', () => {
  const read = readLogPolicy({ accessMode: 'LOG_DETAIL_MODE_UNSPECIFIED', statusExemplarK: 3 });
  expect(read).toEqual({
    ...standardLogPolicy,
    evidencePairing: false,
    statusExemplarK: 3,
    ...{ apiExemplarK: 0, securityExemplarK: 0, requestEvidenceBodyMaxBytes: 0 },
  });
  const field = 'requestEvidenceInflightMaxBytes';
  for (const bytes of ['1', String(2 ** 40)]) {
    expect(() => readLogPolicy({ [field]: bytes })).toThrow(`policy.${field}: must be`);
  }
});

test('storage pressure takes details and evidence, unless it may only be reported', () => {
  const override = { accessMode: 'LOG_DETAIL_MODE_ALL' } as const;
  const found = resolveLogPolicy(standardLogPolicy, override, true);
  expect(found.configured.accessMode).toBe('LOG_DETAIL_MODE_ALL');
  expect(found.configuredSources.accessMode).toBe('LOG_POLICY_SOURCE_SITE');
  expect(found.effective).toMatchObject({
    accessMode: 'LOG_DETAIL_MODE_NONE',
    requestEvidenceMode: 'REQUEST_EVIDENCE_MODE_OFF',
  });
  expect(found.effectiveSources).toMatchObject({
    accessMode: 'LOG_POLICY_SOURCE_EMERGENCY',
    statusExemplarK: 'LOG_POLICY_SOURCE_GLOBAL',
  });
  const reported = { ...standardLogPolicy, pressurePolicy: 'LOG_PRESSURE_POLICY_REPORT_ONLY' };
  const untouched = resolveLogPolicy(reported as typeof standardLogPolicy, override, true);
  expect(untouched.effective).toEqual(untouched.configured);
});

test('an end of storage pressure is counted in the epoch that answers show', async () => {
  const read = async () => {
    const { body } = await waf.call('LogService/GetSiteLogPolicy', { siteId });
    return (body['policy'] as { safetyEpoch: string }).safetyEpoch;
  };
  await eventually(async () => (await read()) === '5');
  expect(await read()).toBe('5');
});

test('the policy of the deployment moves by its revision, and risks are acknowledged', async () => {
  const read = await waf.call('LogService/GetGlobalLogPolicy', {});
  expect(read.body['policy']).toMatchObject({
    revision: '1',
    policy: { accessMode: 'LOG_DETAIL_MODE_EXEMPLARS', requestEvidenceRetentionDays: 3 },
  });
  const policy = {
    ...standardLogPolicy,
    requestEvidenceBodyMode: 'REQUEST_EVIDENCE_BODY_MODE_FULL',
  };
  const update = (fields: object) => waf.call('LogService/UpdateGlobalLogPolicy', fields);
  expect(read.body['storageHealth']).toMatchObject({ evidenceQuotaBytes: String(2 ** 31) });
  const refused = await update({ policy, expectedRevision: '1' });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_argument' } });
  expect(refused.body['message']).toContain('acknowledgeStorageRisk: must be true');
  for (const expectedRevision of ['0', '2']) {
    const stale = await update({ policy, expectedRevision, acknowledgeStorageRisk: true });
    expect(stale.body).toMatchObject({ code: 'aborted' });
  }
  const kept = await update({ policy, expectedRevision: '1', acknowledgeStorageRisk: true });
  expect(kept.body['policy']).toMatchObject({
    revision: '2',
    policy: { requestEvidenceBodyMode: 'REQUEST_EVIDENCE_BODY_MODE_FULL', statusExemplarK: 10 },
  });
  const back = await update({ policy: standardLogPolicy, expectedRevision: '2' });
  expect(back.body['policy']).toMatchObject({ revision: '3' });
});

test('a site changes fields of its own, and its revision never comes again', async () => {
  const upsert = (override: object, expectedRevision: string, more = {}) =>
    waf.call('LogService/UpsertSiteLogPolicyOverride', { override, expectedRevision, ...more });
  const override = { siteId, accessMode: 'LOG_DETAIL_MODE_ALL', accessFullRetentionDays: 30 };
  expect((await upsert(override, '1')).body).toMatchObject({ code: 'aborted' });
  const set = await upsert(override, '0');
  expect(set.body).toMatchObject({
    override: { ...override, revision: '1' },
    policy: {
      inherited: { accessMode: 'LOG_DETAIL_MODE_EXEMPLARS' },
      configured: { accessMode: 'LOG_DETAIL_MODE_ALL', accessFullRetentionDays: 30 },
      effective: { accessMode: 'LOG_DETAIL_MODE_ALL' },
      effectiveSources: {
        accessMode: 'LOG_POLICY_SOURCE_SITE',
        securityMode: 'LOG_POLICY_SOURCE_GLOBAL',
      },
      siteRevision: '1',
    },
  });
  const evidence = { ...override, requestEvidenceMode: 'REQUEST_EVIDENCE_MODE_RETAINED_LOGS' };
  expect((await upsert(evidence, '1')).body['message']).toContain('evidence is kept for every');
  const risky = await upsert(evidence, '1', { acknowledgeStorageRisk: true });
  expect(risky.status).toBe(200);
  const remove = (expectedRevision: string) =>
    waf.call('LogService/DeleteSiteLogPolicyOverride', { siteId, expectedRevision });
  expect((await remove('1')).body).toMatchObject({ code: 'aborted' });
  expect((await remove('2')).body['policy']).toMatchObject({ siteRevision: '3' });
  expect((await remove('3')).body).toMatchObject({ code: 'not_found' });
  expect((await upsert(override, '2')).body).toMatchObject({ code: 'aborted' });
  const read = await waf.call('LogService/GetSiteLogPolicy', { siteId });
  expect(read.body['override']).toBeUndefined();
  const unknown = await waf.call('LogService/GetSiteLogPolicy', { siteId: 'site-none' });
  expect(unknown.body).toMatchObject({ code: 'not_found' });
});

test('a change of the deployment that makes a site risky is acknowledged, too', async () => {
  const override = { siteId, accessMode: 'LOG_DETAIL_MODE_ALL' };
  await waf.call('LogService/UpsertSiteLogPolicyOverride', { override, expectedRevision: '3' });
  const policy = {
    ...standardLogPolicy,
    requestEvidenceMode: 'REQUEST_EVIDENCE_MODE_RETAINED_LOGS',
  };
  const refused = await waf.call('LogService/UpdateGlobalLogPolicy', {
    ...{ policy, expectedRevision: '3' },
  });
  expect(refused.body['message']).toContain('of a site that overrides the policy');
});

test('answers on access events name what is kept of each site, and by whom', async () => {
  const { body } = await waf.call('LogService/QueryAccessEvents', { siteId });
  expect(body['detailPolicyAnnotations']).toMatchObject([
    {
      siteId,
      configured: 'LOG_DETAIL_MODE_ALL',
      configuredSource: 'LOG_POLICY_SOURCE_SITE',
      reason: 'no_node',
    },
  ]);
  expect(body['observationCoverage']).toEqual({});
});

test('the events of each site stay for the days that its policy names', () => {
  const own = { id: 'site-1', revision: '1', updatedAt: '' };
  const records = [
    {
      ...own,
      override: {
        accessFullRetentionDays: 20,
        securityFullRetentionDays: 5,
        exemplarRetentionDays: 2,
      },
    },
    { ...own, id: 'site-2', override: null },
  ];
  const store = {
    get: (collection: { name: string }, id: string) =>
      collection === logPolicies ? records.find((one) => one.id === id) : undefined,
    list: () => records,
  } as unknown as ReadStore;
  const days = (standard: number, own: number) => ({ standard, sites: new Map([['site-1', own]]) });
  expect(retentionDays(store)).toEqual({
    security: days(90, 90),
    securityDetails: days(7, 5),
    access: days(7, 20),
    access_sample: days(30, 2),
    error: days(30, 2),
  });
});

test('the command line shows, changes and resets policies', async () => {
  const commands = await loadCommands([]);
  const run = async (line: string): Promise<string> => {
    const printed = keepPrinted();
    const code = await runCommandLine(commands, [...line.split(' '), '--admin-socket', waf.socket]);
    vi.restoreAllMocks();
    return `${code} ${printed.out} ${printed.err}`;
  };
  expect(await run('log policy-set --access none --access-days 3')).toMatch(/^0 /);
  expect(await run('log policy')).toMatch(/access +none[\s\S]*access-days +3/);
  expect(await run(`log policy-set --site ${siteId} --pairing off`)).toMatch(/^0 /);
  expect(await run(`log policy --site ${siteId}`)).toMatch(/pairing +off +site/);
  expect(await run(`log policy-reset --site ${siteId}`)).toMatch(/^0 /);
  expect(await run('log policy-set --evidence-body full')).toContain('acknowledgeStorageRisk');
  expect(await run('log policy-set')).toContain('name a setting');
});

test('nodes are asked for bodies of answers while a target takes them', async () => {
  const applied: VerifiedBundle[] = [];
  const link = await connectTakingLink(waf.socket, applied);
  const set = async (targets: readonly object[]): Promise<void> => {
    const values = { 'siem.targets': targets };
    const { status, text } = await waf.call('SystemService/UpdateSystemSettings', { values });
    expect(status, text).toBe(200);
  };
  const asked = (): boolean | undefined =>
    applied.at(-1) && loggingOf(applied.at(-1)!.bundle)?.exportAnswerBodies;
  const where = { transport: 'tcp', host: 'siem.example', port: 514 };
  await set([{ id: 'audit', format: 'audit', evidence: true, ...where }]);
  await eventually(() => asked() === true);
  await set([{ id: 'audit', format: 'audit', ...where }]);
  await eventually(() => asked() !== true);
  await link.close();
});
