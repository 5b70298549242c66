/**
 * Replay finds what two direct runs find. Exclusions that events suggest avoid the false positives
 * that they are for, and let through nothing that was stopped for another reason.
 */

import { existsSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import path from 'node:path';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLogger } from '../../base/log.ts';
import { EvidenceUploads } from '../../engine/link/evidence-uploads.ts';
import { packFolder } from '../../control/publish/rulesets/ruleset-pack.ts';
import {
  ReplayService,
  type ReplayDifference,
  type ReplaySummary,
} from '../../proto/gen/waf/replay/v1/replay_pb.ts';
import {
  LogService,
  SecurityEventOutcome,
  type GetSecurityEventResponse,
} from '../../proto/gen/waf/v1/log_pb.ts';
import { corpusRoot, readCorpus } from '../seclang/corpus.ts';
import { eventually } from '../support/eventually.ts';
import { missingBuild } from '../support/product.ts';
import { describeCase, type CorpusRequest, type DescribedCase } from './described-case.ts';
import { falsePositives, twinsOf, type FalsePositive } from './false-positives.ts';
import { startLiveWaf, type LiveWaf } from './live-waf.ts';
import { evidenceOf } from './retained-case.ts';
import { draws } from '../support/soak.ts';

const crs4Folder = path.join(corpusRoot, 'crs', '4.28.0');
const timeoutMs = 20 * 60_000;
const missing = missingBuild ?? (existsSync(crs4Folder) ? null : 'skipped: no corpus');
if (missing !== null) console.log(missing);
/** Requests of the corpora that are tried directly, under both policies. */
const compared = draws(240, 1_200, 'WAF_REPLAY_CASES');
/** False positives whose exclusions are tried together, each group on what came in an hour. */
const together = 60;

describe.skipIf(missing !== null)('replay', () => {
  let waf: LiveWaf;
  let siteId = '';
  let policyId = '';
  let strictId = '';

  beforeAll(async () => {
    waf = await startLiveWaf();
    const archive = packFolder(crs4Folder).toString('base64');
    const imported = await waf.ask('SystemService/ImportCrsRuleset', { archive });
    const rulesetId = (imported['ruleset'] as { id: string }).id;
    policyId = await newPolicy(waf, 'second level', rulesetId, 2);
    strictId = await newPolicy(waf, 'third level', rulesetId, 3);
    const site = {
      name: 'replay',
      primaryHost: 'localhost',
      upstreams: [{ inline: { url: waf.originUrl, weight: 1 } }],
      waf: { enabled: true, mode: 'WAF_MODE_BLOCKING', policyId },
      status: 'RESOURCE_STATUS_ACTIVE',
    };
    await waf.serve(async () => {
      const created = await waf.ask('SiteService/CreateSite', { site });
      siteId = (created['site'] as { id: string }).id;
    });
  }, timeoutMs);
  afterAll(() => waf?.close(), timeoutMs);

  test('gives exactly the difference of two direct runs', { timeout: timeoutMs }, async () => {
    const cases = corpusCases(compared);
    const timeRange = await retain(waf, siteId, cases, 10);
    const expected = new Map<string, string>();
    for (const one of cases) {
      const before = await waf.test(one, policyId);
      const after = await waf.test(one, strictId);
      if (before.blocked === after.blocked) continue;
      expected.set(one.title, after.blocked ? 'newly blocked' : 'newly passed');
    }
    const { differences, summary } = await run(waf, {
      ...{ policyId, draftPolicyId: strictId, siteId, timeRange },
    });
    const found = differences.map(
      ({ requestId, after }) =>
        [requestId, after?.blocked === true ? 'newly blocked' : 'newly passed'] as const,
    );
    console.log(`${cases.length} requests, ${expected.size} differences, found ${found.length}`);
    expect(summary.skipped).toEqual([]);
    expect(Number(summary.replayed)).toBe(cases.length);
    expect(new Map(found)).toEqual(expected);
    expect(expected.size).toBeGreaterThan(10);
    expect(Number(summary.newlyBlocked + summary.newlyPassed)).toBe(expected.size);
  });

  test('exclusions avoid what they are for, and nothing else', { timeout: timeoutMs }, async () => {
    const benign = (readCorpus<CorpusRequest & { malicious: boolean }>('gotestwaf.jsonl') ?? [])
      .filter(({ malicious }) => !malicious)
      .flatMap(renderings);
    const candidates = falsePositives(benign);
    const blocked: FalsePositive[] = [];
    for (const one of candidates) if ((await waf.send(one.request)).blocked) blocked.push(one);
    const attacks = corpusCases(200, (title) => `attack ${title}`);
    const events = await eventsByPath(
      waf,
      siteId,
      blocked.map(({ path: where }) => where),
    );
    let avoided = 0;
    for (let at = 0; at < blocked.length; at += together) {
      const group = blocked.slice(at, at + together);
      const requests = group.map(({ request }) => request);
      const all = [...requests, ...group.flatMap(twinsOf), ...attacks];
      const timeRange = await retain(waf, siteId, all, 8 - at / together);
      const overrides = group.flatMap(({ path: where }) => {
        const first = events.get(where)?.explanation?.exclusions[0];
        expect(first?.reach, where).toBe('site_path_target');
        return first?.overrides ?? [];
      });
      const { differences, summary } = await run(waf, {
        ...{ policyId, siteId, timeRange, addedOverrides: overrides },
      });
      expect(Number(summary.replayed)).toBe(all.length);
      expect(summary.newlyBlocked).toBe(0n);
      expect(summary.differencesLeftOut).toBe(0n);
      const passed = new Set(differences.map(({ requestId }) => requestId));
      expect(group.filter(({ request }) => !passed.has(request.title))).toEqual([]);
      avoided += group.length;
      const titles = new Set(group.map(({ request }) => request.title));
      for (const other of differences.filter(({ requestId }) => !titles.has(requestId))) {
        // Under the path of an exclusion, and stopped by nothing but what it leaves out.
        const left = overrides.filter(({ scope }) => scope === other.path);
        const ids = left.map(({ crsRuleId }) => crsRuleId);
        expect(
          other.ruleIds.filter((id) => !ids.includes(id)),
          other.requestId,
        ).toEqual([]);
        expect(other.requestId).not.toMatch(/^(?:elsewhere|beside|attack) /);
      }
    }
    const { length } = attacks;
    console.log(`${avoided} of ${blocked.length} false positives avoided, ${length} attacks stay`);
    expect(avoided).toBe(blocked.length);
    expect(blocked.length).toBeGreaterThanOrEqual(300);
  });
});

async function newPolicy(waf: LiveWaf, name: string, rulesetId: string, level: number) {
  const from = { templateId: 'template-standard', name };
  const made = await waf.ask('PolicyService/CreatePolicyFromTemplate', from);
  const { id, revision } = made['policy'] as { id: string; revision: string };
  const move = { policyId: id, revision, crsRulesetId: rulesetId };
  const moved = await waf.ask('PolicyService/SetActiveCrsRuleset', move);
  const levels = { blockingParanoiaLevel: level, detectionParanoiaLevel: level };
  await waf.ask('PolicyService/UpdatePolicy', {
    policy: { id, crsCore: levels },
    revision: (moved['policy'] as { revision: string }).revision,
    updateMask: 'crsCore.blockingParanoiaLevel,crsCore.detectionParanoiaLevel',
  });
  return id;
}

/** Requests of CRS's own tests, evenly chosen; each under a title of its own. */
function corpusCases(count: number, name = (title: string) => title): DescribedCase[] {
  const all = (readCorpus<CorpusRequest>('crs4-regression.jsonl') ?? [])
    .map(describeCase)
    .filter((one) => typeof one !== 'string')
    .filter(({ host }) => host === 'localhost');
  const step = Math.max(1, Math.floor(all.length / count));
  const chosen = all.filter((_, at) => at % step === 0).slice(0, count);
  return chosen.map((one) => ({ ...one, title: name(one.title) }));
}

function renderings(record: CorpusRequest): DescribedCase[] {
  const { requests = [] } = record as unknown as { requests?: { wire_b64?: string }[] };
  return requests.flatMap(({ wire_b64 }) => {
    const made = wire_b64 === undefined ? '' : describeCase({ title: record.title, wire_b64 });
    return typeof made === 'string' ? [] : [made];
  });
}

const transportTo = (waf: LiveWaf) => () =>
  createConnectTransport({
    baseUrl: 'http://localhost',
    httpVersion: '2',
    nodeOptions: { createConnection: () => connectSocket(waf.control.socket) },
  });

/** Retains requests some hours ago, under their titles as request ids; resolves with that time. */
async function retain(
  waf: LiveWaf,
  siteId: string,
  cases: readonly DescribedCase[],
  hoursAgo: number,
) {
  const startMs = Date.now() - hoursAgo * 3_600_000;
  const transport = transportTo(waf);
  const uploads = new EvidenceUploads({ agentId: 'local', transport, logger: silentLogger });
  for (const [at, one] of cases.entries()) {
    uploads.add([evidenceOf(one, siteId, startMs + at)], 0);
    if (at % 50 === 49) await eventually(() => uploads.stats().waiting === 0);
  }
  await eventually(() => uploads.stats().waiting === 0);
  const seconds = BigInt(Math.floor(startMs / 1000) - 1);
  return { start: { seconds, nanos: 0 }, end: { seconds: seconds + 3_600n, nanos: 0 } };
}

type Asked = Parameters<ReturnType<typeof createClient<typeof ReplayService>>['runReplay']>[0];

async function run(waf: LiveWaf, request: Asked) {
  let summary: ReplaySummary | undefined;
  const differences: ReplayDifference[] = [];
  const client = createClient(ReplayService, transportTo(waf)());
  for await (const { message } of client.runReplay(request)) {
    if (message.case === 'difference') differences.push(message.value);
    if (message.case === 'summary') summary = message.value;
  }
  if (summary === undefined) throw new Error('the replay ended early');
  return { differences, summary };
}

/** The events of requests that were sent to these paths, with their explanations, by path. */
async function eventsByPath(waf: LiveWaf, siteId: string, paths: readonly string[]) {
  const logs = createClient(LogService, transportTo(waf)());
  const ids = new Map<string, string>();
  await eventually(async () => {
    ids.clear();
    for (let cursor = ''; ;) {
      const { items, page } = await logs.querySecurityEvents({
        siteId,
        outcome: SecurityEventOutcome.ANY,
        page: { pageSize: 200, cursor },
      });
      for (const { path: where, id } of items) ids.set(where, id);
      if (page?.hasMore !== true) break;
      cursor = page.nextCursor;
    }
    // Requests that passed have events, too: their number says nothing of those that are needed.
    return paths.every((where) => ids.has(where));
  });
  const found = new Map<string, GetSecurityEventResponse>();
  for (const where of paths) {
    found.set(where, await logs.getSecurityEvent({ id: ids.get(where)! }));
  }
  return found;
}
