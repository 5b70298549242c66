/** Runs of retained requests through drafts: what is chosen, compared, refused, and ended early. */

import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  ReplayService,
  type ReplayDifference,
  type ReplayPlan,
  type ReplaySummary,
} from '../../../proto/gen/waf/replay/v1/replay_pb.ts';
import { RuleOverrideAction } from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { silentLogger } from '../../../base/log.ts';
import type { EngineHandler, EvaluationOutcome } from '../../../engine/contract/evaluation.ts';
import type { EvidenceRecord } from '../../../engine/contract/evidence.ts';
import type { PolicySource } from '../../../engine/contract/policy.ts';
import { serveEngineService } from '../../../engine/link/engine-service.ts';
import { EvidenceUploads } from '../../../engine/link/evidence-uploads.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { sampleMatch } from '../../../test/support/sample-event.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;
let engine: { close(): Promise<void> };
let siteId = '';
let policyId = '';
let held: Promise<void> = Promise.resolve();
let batches = 0;
/** Heads that the engine was given. */
let heads: string[] = [];

const unused = (): never => {
  throw new Error('not asked here');
};
const handler: EngineHandler = {
  compile: () => Promise.resolve({ ok: true, diagnostics: [], ruleCount: 1 }),
  evaluate: unused,
  evaluateBatch: async (policy, inputs) => {
    batches++;
    await held;
    const texts = inputs.map(({ head, body }) => Buffer.concat([head, body]).toString('latin1'));
    heads.push(...texts);
    return { outcomes: texts.map((text) => judge(policy, text)), diagnostics: [] };
  },
  status: () => ({ revision: '0', sha256: '', version: '', uptimeMs: 0, libraries: {} }),
  explainTrust: unused,
  sampleClients: unused,
  probeUpstream: unused,
  readFirstPage: unused,
  spoofNotes: unused,
};

/** Blocks what holds "evil", unless the policy leaves the argument out. */
function judge(policy: PolicySource, text: string): EvaluationOutcome {
  const rest = {
    ...{ diagnostics: [], refusal: '', refusalStatus: 0, guards: [], siteAnswer: null },
  };
  const verdict = { action: 'block', status: 403, ruleId: 942100, phase: 2 } as const;
  const scores = { inboundScore: 5, outboundScore: 0, detectionOnly: false, inspectionUs: 1 };
  const sample = { verdict, matchedRules: [sampleMatch()], ...scores };
  const failed = text.includes('/fails') ? { failure: 'deadline' as const } : {};
  if (text.includes('evil') && !policy.seclangEntry.includes('!ARGS:q')) {
    return { record: sample, ...rest, ...failed };
  }
  const passed = { action: 'pass', status: 0, ruleId: 0, phase: 0 } as const;
  return { record: { ...sample, verdict: passed, matchedRules: [] }, ...rest, ...failed };
}

beforeAll(async () => {
  waf = await startTestControl();
  engine = await serveEngineService({
    socketPath: join(waf.folder, 'engine.sock'),
    logger: silentLogger,
    handler,
  });
  const policy = await waf.call('PolicyService/CreatePolicy', { policy: { name: 'tried' } });
  policyId = (policy.body['policy'] as { id: string }).id;
  const upstreams = [{ inline: { url: 'http://127.0.0.1:1' } }];
  const site = {
    name: 'shop',
    primaryHost: 'shop.test',
    upstreams,
    waf: { enabled: true, policyId },
  };
  const created = await waf.call('SiteService/CreateSite', { site });
  siteId = (created.body['site'] as { id: string }).id;
});
afterAll(async () => {
  await engine.close();
  await waf.control.close();
});
beforeEach(() => {
  held = Promise.resolve();
  batches = 0;
  heads = [];
});

const transport = () =>
  createConnectTransport({
    baseUrl: 'http://localhost',
    httpVersion: '2',
    nodeOptions: { createConnection: () => connectSocket(waf.socket) },
  });
const client = () => createClient(ReplayService, transport());

/** Each test has a minute of its own. */
let minute = 0;

interface Retained {
  readonly target: string;
  readonly change?: Partial<EvidenceRecord>;
}

/** Retains requests in a time of their own; resolves with that time. */
async function retain(requests: readonly Retained[]) {
  const startMs = Date.now() - 3_600_000 + minute++ * 60_000;
  const uploads = new EvidenceUploads({
    agentId: 'local',
    transport,
    logger: silentLogger,
  });
  const records = requests.map(({ target, change }, at): EvidenceRecord => {
    const headers = new Uint8Array(Buffer.from('Host: shop.test\r\nX-A: 1\r\nx-a: 2\r\n'));
    return {
      id: `ev-${String(startMs + at).padStart(14, '0')}-${minute}a${at.toString(16)}`,
      ...{ requestId: `r${minute}-${at}`, siteId, clientIp: '192.0.2.9', httpVersion: 'HTTP/1.1' },
      ...{ receivedAtMs: startMs + at, completedAtMs: startMs + at, reason: 'security' },
      ...{ method: 'GET', host: 'shop.test', target, headers, headerBytes: headers.length },
      ...{ body: new Uint8Array(), bodyBytes: 0, lack: '' },
      answer: { status: 200, headers: new Uint8Array(), truncated: false },
      ...change,
    };
  });
  uploads.add(records, 0);
  await eventually(() => uploads.stats().waiting === 0);
  return { start: seconds(startMs), end: seconds(startMs + 60_000) };
}

function seconds(ms: number) {
  return { seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1_000_000 };
}

type Asked = Parameters<ReturnType<typeof client>['runReplay']>[0];

async function run(request: Asked) {
  let plan: ReplayPlan | undefined;
  let summary: ReplaySummary | undefined;
  const differences: ReplayDifference[] = [];
  let progress = 0n;
  for await (const { message } of client().runReplay({ policyId, ...request })) {
    if (message.case === 'plan') plan = message.value;
    if (message.case === 'progress') progress = message.value.done;
    if (message.case === 'difference') differences.push(message.value);
    if (message.case === 'summary') summary = message.value;
  }
  return { plan: plan!, summary: summary!, differences, progress };
}

const actionEnum = RuleOverrideAction.DEFAULT;
const without = { crsRuleId: '942999', actionEnum, removedTargets: ['ARGS:q'] };

test('an added exclusion lets through what it names, and nothing is kept of it', async () => {
  const targets = ['/?q=evil', '/?q=good', '/a?q=evil'];
  const timeRange = await retain(targets.map((target) => ({ target })));
  const { plan, summary, differences, progress } = await run({
    timeRange,
    addedOverrides: [without],
  });
  expect(plan).toMatchObject({ found: 3n, chosen: 3n, sample: 'all', moreRetained: false });
  expect(progress).toBe(3n);
  expect(summary).toMatchObject({ replayed: 3n, newlyPassed: 2n, newlyBlocked: 0n });
  expect(summary).toMatchObject({ blockedBefore: 2n, blockedAfter: 0n, differencesLeftOut: 0n });
  expect(summary.rules).toMatchObject([{ newlyPassed: 2n, newlyBlocked: 0n }]);
  expect(differences.map(({ path }) => path).sort()).toEqual(['/', '/a']);
  expect(differences[0]?.after).toMatchObject({ blocked: false, status: 0 });
  // The request is the one that came.
  expect(heads).toContain('GET /a?q=evil HTTP/1.1\r\nHost: shop.test\r\nX-A: 1\r\nX-A: 2\r\n\r\n');
  const kept = await waf.call('RuleOverrideService/ListRuleOverrides', { policyId });
  expect(kept.body['items'] ?? []).toEqual([]);
  const audit = await waf.call('AuditService/QueryAudit', { action: 'replay' });
  expect(JSON.stringify(audit.body)).toContain(policyId);
});

test('bodies are tried with their heads; what is not whole is counted with its reason', async () => {
  const body = new Uint8Array(Buffer.from('q=evil'));
  const timeRange = await retain([
    { target: '/body', change: { method: 'POST', body, bodyBytes: 6 } },
    { target: '/cut', change: { method: 'POST', body, bodyBytes: 7 } },
    { target: '/heads', change: { headerBytes: 1000 } },
    { target: '/none', change: { headers: new Uint8Array(), headerBytes: 30, lack: 'queue_full' } },
    { target: '/a b', change: {} },
    { target: '/fails?q=evil', change: {} },
    { target: '/other?q=evil', change: { siteId: 'another' } },
  ]);
  const { plan, summary } = await run({ timeRange, addedOverrides: [without] });
  expect(plan.found).toBe(6n);
  expect(summary.newlyPassed).toBe(1n);
  const skipped = Object.fromEntries(summary.skipped.map(({ reason, count }) => [reason, count]));
  expect(skipped).toEqual({
    body_cut: 1n,
    headers_cut: 1n,
    unavailable: 1n,
    not_http: 1n,
    inspection_failed: 1n,
  });
});

test('a sample is stated, has its size, and is the same again', async () => {
  const timeRange = await retain(
    Array.from({ length: 40 }, (_, at) => ({ target: `/${at}?q=evil` })),
  );
  const asked = { timeRange, sampleMax: 10, siteId, addedOverrides: [without] };
  const [one, two] = [await run(asked), await run(asked)];
  expect(one.plan).toMatchObject({ found: 40n, chosen: 10n, sample: 'sample' });
  expect(one.summary.newlyPassed).toBe(10n);
  expect(two.differences).toEqual(one.differences);
});

test('a draft that cannot be is refused by field before anything runs', async () => {
  const refused = async (request: Asked): Promise<string> => {
    const found = await run(request).catch((error: unknown) => error);
    expect(found).toBeInstanceOf(ConnectError);
    return (found as ConnectError).rawMessage;
  };
  expect(await refused({ policyId: 'none' })).toContain('none');
  expect(await refused({ draftPolicyId: 'none' })).toContain('none');
  expect(await refused({ siteId: 'none' })).toContain('none');
  const bad = { ...without, removedTargets: ['ARGS"\nSecRuleEngine Off'] };
  expect(await refused({ addedOverrides: [bad] })).toMatch(/^addedOverrides\[0\]\.removedTargets/);
  expect(
    await refused({ addedRules: [{ name: 'r', enabled: true, seclang: 'SecRuleEngine Off' }] }),
  ).toMatch(/SecRuleEngine|rule/);
  expect(await refused({ sampleMax: 10_001 })).toContain('sampleMax');
  expect(batches).toBe(0);
});

test('ending the call ends the run, and the next one has its turn', async () => {
  const timeRange = await retain(
    Array.from({ length: 80 }, (_, at) => ({ target: `/${at}?q=evil` })),
  );
  let release = (): void => undefined;
  held = new Promise((resolve) => (release = resolve));
  const ended = new AbortController();
  const running = (async () => {
    const stream = client().runReplay({ policyId, timeRange }, { signal: ended.signal });
    for await (const one of stream) void one;
  })().catch((error: unknown) => ConnectError.from(error).code);
  await eventually(() => batches === 1);
  ended.abort();
  expect(await running).toBe(Code.Canceled);
  release();
  const { summary } = await run({ timeRange });
  expect(summary.replayed).toBe(80n);
  // One batch of the run that was ended, and twice three of the other.
  expect(batches).toBe(7);
});

test('only some runs wait; one more is refused', async () => {
  const timeRange = await retain([{ target: '/?q=evil' }]);
  let release = (): void => undefined;
  held = new Promise((resolve) => (release = resolve));
  const first = run({ timeRange });
  await eventually(() => batches === 1);
  const waiting = Array.from({ length: 5 }, () =>
    run({ timeRange }).then(
      () => 'ran',
      (error: unknown) => Code[ConnectError.from(error).code],
    ),
  );
  const refused = await Promise.race(waiting);
  expect(refused).toBe('ResourceExhausted');
  release();
  await first;
  const all = await Promise.all(waiting);
  expect(all.filter((one) => one === 'ran')).toHaveLength(4);
});

test('over the network a stranger is refused', async () => {
  const stranger = createClient(
    ReplayService,
    createConnectTransport({
      baseUrl: `http://127.0.0.1:${waf.control.managementPort}`,
      httpVersion: '1.1',
    }),
  );
  const first = stranger.runReplay({ policyId })[Symbol.asyncIterator]().next();
  const code = await first.catch((error: unknown) => ConnectError.from(error).code);
  expect(code).toBe(Code.Unauthenticated);
});
