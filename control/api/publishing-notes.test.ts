/** Answers to changes: they wait for the receipt of the built-in node, or say that they did not. */

import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connectTestLink } from '../../test/support/test-link.ts';
import { eventually } from '../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { silentLogger } from '../../base/log.ts';
import type { VerifiedBundle } from '../../engine/bundle/signed-bundle.ts';
import type { ControllerLink } from '../../engine/link/controller-link.ts';
import { callLimits } from '../limits/call-limits.ts';
import { saysPublishing } from './publishing-notes.ts';
import { services } from './services.ts';

let waf: TestControl;
let link: ControllerLink | null;
let applied: VerifiedBundle[];
/** How a configuration is taken: at once, never, or but for some sites. */
let taking: 'at_once' | 'never' | ((bundle: VerifiedBundle) => string[]);

beforeEach(async () => {
  waf = await startTestControl();
  applied = [];
  taking = 'at_once';
  link = null;
});
afterEach(async () => {
  vi.restoreAllMocks();
  await link?.close();
  await waf.control.close();
});

const waitAtMost = (ms: number) =>
  vi.spyOn(callLimits, 'servedWaitMs', 'get').mockReturnValue(ms as 3_000);

/** Whoever waits for a node now waits longer than a test may take. */
const waitWithoutEnd = (): void => void waitAtMost(3_600_000);

async function connect(): Promise<void> {
  link = connectTestLink(
    waf.socket,
    applied,
    async (obtain, keep) => {
      const verified = await obtain();
      if (typeof taking === 'function') {
        const { revision } = verified.bundle;
        const waitingSiteIds = taking(verified);
        link?.reportInterim({
          revision: String(revision),
          sha256: verified.sha256,
          waitingSiteIds,
        });
      }
      if (taking !== 'at_once') return new Promise(() => undefined);
      // As long as compiling a small change takes.
      await new Promise((resolve) => setTimeout(resolve, 100));
      applied.push(verified);
      await keep();
    },
    { logger: silentLogger },
  );
  await eventually(() => Promise.resolve(applied.length > 0));
}

const site = (name: string, waf: object = {}): object => ({
  site: {
    name,
    primaryHost: `${name}.example`,
    upstreams: [{ inline: { url: 'http://127.0.0.1:9000', weight: 1 } }],
    ...waf,
  },
});
const served = (): string[] => (applied.at(-1)?.bundle.sites ?? []).map(({ name }) => name);
const change = async (rpc: string, body: object): Promise<Record<string, unknown>> => {
  const answer = await waf.call(rpc, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const idOf = ({ site: made }: Record<string, unknown>): { id: string; revision: string } => {
  const { id, revision } = made as { id: string; revision: string };
  return { id, revision };
};

/** Whether control noticed that the node left. */
async function nodeIsGone(): Promise<boolean> {
  const { body } = await waf.call('AgentService/ListNodes', {});
  const nodes = body['items'] as { id: string; connectionStatus: string }[];
  return nodes.some((node) => node.id === 'local' && node.connectionStatus === 'OFFLINE');
}

test('each kind of change is served when its answer comes', async () => {
  waitWithoutEnd();
  await connect();
  const made = await change('SiteService/CreateSite', site('one'));
  expect([made['publishing'], served().includes('one')]).toEqual([undefined, true]);
  const { id, revision } = idOf(made);
  const disabled = await change('SiteService/DisableSite', { id, revision });
  expect([disabled['publishing'], served().includes('one')]).toEqual([undefined, false]);
  const off = idOf(disabled);
  const enabled = await change('SiteService/EnableSite', { id, revision: off.revision });
  expect([enabled['publishing'], served().includes('one')]).toEqual([undefined, true]);
  await change('SiteService/UpdateSite', {
    site: { id, primaryHost: 'two.example' },
    revision: idOf(enabled).revision,
    updateMask: 'primaryHost',
  });
  const hosts = applied.at(-1)!.bundle.sites.flatMap((one) => one.hosts);
  expect(hosts).toContain('two.example');
  const gone = await change('SiteService/DeleteSite', { id });
  expect([gone['result'], served().includes('one')]).toEqual([
    expect.not.objectContaining({ publishing: true }),
    false,
  ]);
});

test('an answer that waited in vain marks it, in its field and in a header', async () => {
  await connect();
  taking = 'never';
  const wait = waitAtMost(100);
  const made = await change('SiteService/CreateSite', site('slow'));
  expect(made['publishing']).toBe(true);
  expect(wait).toHaveBeenCalled();
  const gone = await change('SiteService/DeleteSite', { id: idOf(made).id });
  expect(gone['result']).toMatchObject({ publishing: true });
});

test('without a node nobody waits, and the answer says that nobody serves it', async () => {
  waitWithoutEnd();
  const made = await change('SiteService/CreateSite', site('alone'));
  expect(made['publishing']).toBe(true);
});

test('an answer waits for a node that was connected a moment ago', async () => {
  waitWithoutEnd();
  await connect();
  await link!.close();
  await eventually(nodeIsGone);
  const changing = change('SiteService/CreateSite', site('returned'));
  await connect();
  expect((await changing)['publishing']).toBeUndefined();
  expect(served()).toContain('returned');
});

test('an answer that waited for a node in vain says that none is connected', async () => {
  await connect();
  await link!.close();
  await eventually(nodeIsGone);
  waitAtMost(100);
  const answer = await waf.call('SiteService/CreateSite', site('left'));
  expect(answer.body['publishing']).toBe(true);
  expect(answer.headers['waf-publishing-reason']).toMatch(/^no node is connected;/);
});

test('a site waits for its own receipt, not for policies of others that still compile', async () => {
  await connect();
  taking = ({ bundle }) =>
    bundle.sites.filter(({ name }) => name === 'compiling').map(({ id }) => id);
  waitWithoutEnd();
  const quick = await change('SiteService/CreateSite', site('quick'));
  expect(quick['publishing']).toBeUndefined();
  waitAtMost(1_000);
  const compiling = await change('SiteService/CreateSite', site('compiling'));
  expect(compiling['publishing']).toBe(true);
});

test('what changes nothing that is served waits for nothing', async () => {
  await connect();
  taking = 'never';
  waitWithoutEnd();
  await change('SiteService/ListSites', {});
  const templateId = 'template-light';
  await change('PolicyService/CreatePolicyFromTemplate', { templateId, name: 'draft' });
  const refused = await waf.call('CustomRuleService/ListCustomRules', { policyId: '' });
  expect(refused.status).toBe(400);
});

/** Services that change nothing that nodes serve. */
const others =
  /^(Agent|AgentGroup|AgentStream|EvidenceUpload|AI|Alert|Audit|Auth|Menu|Role|User)Service\//;
/** Methods whose change is no part of a configuration, or comes later by itself. */
const apart = [
  'CertService/CreateDNSProvider',
  'CertService/UpdateDNSProvider',
  // Says it by `applied` and `applyError`.
  'IpListService/ApplyIpList',
  'IpListService/CreateIpListSubscription',
  'IpListService/UpdateIpListSubscription',
  'IpListService/SyncIpListNow',
  'IpListService/PauseIpListSync',
  'IpListService/ResumeIpListSync',
  'IpListService/DiscardHeldIpListUpdate',
  'SystemService/ImportBinaryRelease',
  'SystemService/ApplyBinaryRelease',
  'SystemService/RollbackBinaryRelease',
  'SystemService/CancelUpgradeRun',
  'SystemService/ImportCrsRuleset',
  'TrustService/StartClientIPAnalysis',
  'TrustService/StopClientIPAnalysis',
  'ApiSchemaService/StageSchemaSource',
  'ApiSchemaService/StageApiDeclaration',
  'ApiSchemaService/SnapshotSchemaLearning',
  'ApiSchemaService/StageLearnedDocument',
  'ApiSchemaService/StageApiRequestDocument',
];

test('every method that writes what nodes serve says whether its change serves', () => {
  const names = new Set(
    readFileSync('proto/permissions.txt', 'utf8')
      .split('\n')
      .filter((line) => /:(write|delete|issue|sync|apply)\b/.test(line))
      .map((line) => line.split(' ')[0] ?? ''),
  );
  const silent = services
    .flatMap(({ service }) => service.methods)
    .map((method) => ({ name: `${method.parent.name}/${method.name}`, method }))
    .filter(({ name }) => !others.test(name) && names.has(name))
    .filter(({ name }) => !/\/(Get|List|Preview|Test)/.test(name))
    .filter(({ method }) => !saysPublishing(method))
    .map(({ name }) => name);
  expect(silent.sort()).toEqual([...apart].sort());
});
