/**
 * Walks every combination of a log policy with traffic through front threads: all are served, and
 * what is kept is what the policy says. A fault in logging ends no thread and no connection.
 */

import { rmSync } from 'node:fs';
import path from 'node:path';
import { create } from '@bufbuild/protobuf';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { RuntimeLogPolicySchema } from '../../proto/gen/waf/runtime/v1/logging_pb.ts';
import { readLogPolicy, type FullLogPolicy } from '../../control/domain/settings/log-policy.ts';
import { toRuntimeLogPolicy } from '../../control/publish/parts/log-parts.ts';
import { loggingOf } from '../../engine/bundle/runtime-logging.ts';
import type { RequestEvent } from '../../engine/contract/events.ts';
import type { EvidenceRecord } from '../../engine/contract/evidence.ts';
import type { FactFault } from '../../engine/contract/fact-fault.ts';
import type { LoggingConfig } from '../../engine/contract/logging.ts';
import { noRoutes } from '../../engine/contract/site.ts';
import { Closing, httpOrigin, RawClient, siteFor } from '../../engine/front/fixtures/fixture.ts';
import { startFrontThreads, type FrontThreads } from '../../engine/front/threads/threads.ts';
import { eventually } from '../support/eventually.ts';
import { transpileTree } from './transpile.ts';

const root = path.resolve(import.meta.dirname, '../..');
const closing = new Closing();
let entry: URL;
let folder: string;

beforeAll(async () => {
  ({ url: entry, folder } = await transpileTree(root, 'test/http/log-thread-entry.ts'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => closing.run());

interface Seen {
  readonly threads: FrontThreads;
  readonly events: RequestEvent[];
  readonly evidence: EvidenceRecord[];
  readonly faults: FactFault[];
  deaths: number;
  /** Serves this log policy from now on. */
  use(logging: LoggingConfig): Promise<void>;
}

async function start(count: number): Promise<Seen> {
  const origin = await httpOrigin(closing, (request, response) => {
    request.resume().on('end', () => response.end('ok'));
  });
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
  const routes = { ...noRoutes, sites: [siteFor(origin, { waf })] };
  let revision = 0;
  const seen: Omit<Seen, 'threads' | 'use'> = { events: [], evidence: [], faults: [], deaths: 0 };
  const threads = await startFrontThreads({
    ...{ entry, count, listen: { host: '127.0.0.1', port: 0 } },
    routes: { ...routes, revision: 'r0' },
    onEvents: (events) => seen.events.push(...events),
    onEvidence: (records) => seen.evidence.push(...records),
    onFactFaults: (faults) => seen.faults.push(...faults),
    onThreadDied: () => seen.deaths++,
  });
  closing.add(() => threads.drain());
  const use = (logging: LoggingConfig): Promise<void> =>
    threads.apply({ ...routes, revision: `r${++revision}`, logging });
  return Object.assign(seen, { threads, use });
}

const plain = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`;
const form = (target: string): string =>
  `POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nabcdefgh`;

/** Sends requests over one connection and gives the statuses. */
async function statusesOf(port: number, requests: readonly string[]): Promise<string[]> {
  const client = new RawClient(port);
  const statuses: string[] = [];
  for (const [at, request] of requests.entries()) {
    client.send(request);
    await client.until(() => client.text.split('HTTP/1.1 ').length === at + 2 || client.ended);
    statuses.push(client.text.split('HTTP/1.1 ')[at + 1]?.slice(0, 3) ?? 'none');
  }
  client.socket.destroy();
  return statuses;
}

const modes = ['NONE', 'EXEMPLARS', 'ALL'] as const;
const flags = [false, true] as const;
const targets = ['none', 'access', 'answers'] as const;

interface Combination {
  readonly name: string;
  readonly policy: FullLogPolicy;
  readonly target: (typeof targets)[number];
}

function combinations(): Combination[] {
  const found: Combination[] = [];
  for (const access of modes)
    for (const security of modes)
      for (const evidence of ['OFF', 'SECURITY_ONLY', 'RETAINED_LOGS'] as const)
        for (const body of ['OFF', 'PREFIX', 'FULL'] as const)
          for (const pairing of flags)
            for (const details of flags)
              for (const target of targets) {
                const name = [access, security, evidence, body, pairing, details, target].join(' ');
                const policy = readLogPolicy({
                  accessMode: `LOG_DETAIL_MODE_${access}`,
                  securityMode: `LOG_DETAIL_MODE_${security}`,
                  requestEvidenceMode: `REQUEST_EVIDENCE_MODE_${evidence}`,
                  requestEvidenceBodyMode: `REQUEST_EVIDENCE_BODY_MODE_${body}`,
                  requestEvidenceBodyMaxBytes: 4,
                  evidencePairing: pairing,
                  schemaViolationDetails: details,
                  ...{ statusExemplarK: 2, apiExemplarK: 2, securityExemplarK: 2 },
                  sampleWindowSeconds: 3_600,
                });
                found.push({ name, policy, target });
              }
  return found;
}

function loggingFor({ policy, target }: Combination): LoggingConfig {
  const runtime = create(RuntimeLogPolicySchema, {
    ...toRuntimeLogPolicy('', 7n, policy),
    exportAccess: target !== 'none',
    exportAnswerBodies: target === 'answers',
  });
  return loggingOf({ logPolicies: [runtime] })!;
}

/** What was kept of the requests of one round. */
function keptOf({ events, evidence }: Seen, at: number) {
  const [form, attack] = ['/b', '/attack'].map((place) => ({
    event: events.find(({ target }) => target === `${place}?${at}`),
    evidence: evidence.find(({ target }) => target === `${place}?${at}`),
  }));
  const accessOf = (event?: RequestEvent): number => (event?.selection?.access ?? 0) & 15;
  return {
    form: {
      handedOn: form!.event !== undefined,
      isAccess: accessOf(form!.event) !== 0,
      body: form!.evidence && Buffer.from(form!.evidence.body).toString(),
    },
    attack: {
      isAccess: accessOf(attack!.event) !== 0,
      detail: attack!.event?.selection?.securityDetail,
      hasEvidence: attack!.evidence !== undefined,
    },
  };
}

/**
 * The same, from the policy alone. Of examples only the first two in the whole walk are kept, which
 * other tests hold: what depends on their turn is left out.
 */
function expectedOf({ policy, target }: Combination) {
  const has = (value: string, word: string): boolean => value.endsWith(`_MODE_${word}`);
  const { accessMode, securityMode, evidencePairing } = policy;
  const { requestEvidenceMode: evidence, requestEvidenceBodyMode: bodies } = policy;
  const [none, all] = [has(accessMode, 'NONE'), has(accessMode, 'ALL')];
  const examples = !none && !all;
  const kept = has(evidence, 'RETAINED_LOGS') && all;
  const body = has(bodies, 'OFF') ? '' : has(bodies, 'PREFIX') ? 'abcd' : 'abcdefgh';
  return {
    form: {
      ...(examples ? {} : { handedOn: all || target !== 'none', isAccess: all }),
      ...(examples ? {} : { body: kept ? body : undefined }),
    },
    attack: {
      ...(examples && !evidencePairing ? {} : { isAccess: all || (evidencePairing && !none) }),
      ...(has(securityMode, 'EXEMPLARS') ? {} : { detail: has(securityMode, 'ALL') }),
      hasEvidence: !has(evidence, 'OFF'),
    },
  };
}

test('every combination of a log policy is served, and keeps what it says', async () => {
  const seen = await start(2);
  const all = combinations();
  expect(all).toHaveLength(3 * 3 * 3 * 3 * 2 * 2 * 3);
  for (const [at, one] of all.entries()) {
    await seen.use(loggingFor(one));
    const requests = [plain(`/a?${at}`), form(`/b?${at}`), plain(`/attack?${at}`)];
    const statuses = await statusesOf(seen.threads.port, requests);
    expect([one.name, ...statuses]).toEqual([one.name, '200', '200', '403']);
  }
  await seen.threads.drain();
  for (const [at, one] of all.entries()) expect(keptOf(seen, at)).toMatchObject(expectedOf(one));
  expect(seen.faults).toEqual([]);
  expect(seen.deaths).toBe(0);
}, 600_000);

test('a log policy that fails costs what it chooses: requests are served, the fault is reported', async () => {
  const seen = await start(2);
  const requests = Array.from({ length: 10 }, () => plain('/faulty-policy'));
  expect(new Set(await statusesOf(seen.threads.port, requests))).toEqual(new Set(['200']));
  const attack = plain('/attack').replace('/attack', '/faulty-policy/attack');
  expect(await statusesOf(seen.threads.port, [attack, plain('/a')])).toEqual(['200', '200']);
  await eventually(() => seen.faults.reduce((sum, { count }) => sum + count, 0) === 11);
  expect(new Set(seen.faults.map(({ part }) => part))).toEqual(new Set(['log_policy']));
  expect(seen.faults[0]).toMatchObject({ message: 'planted' });
  expect(seen.deaths).toBe(0);
});

test('an event that cannot be made is counted, and the next one is reported', async () => {
  const seen = await start(1);
  const policy = readLogPolicy({ accessMode: 'LOG_DETAIL_MODE_NONE' });
  await seen.use(loggingFor({ name: '', policy, target: 'none' }));
  const requests = [plain('/faulty-event'), plain('/faulty-event'), plain('/attack')];
  expect(await statusesOf(seen.threads.port, requests)).toEqual(['200', '200', '403']);
  await eventually(() => seen.events.some(({ target }) => target === '/attack'));
  await eventually(() => seen.faults.length > 0);
  expect(seen.faults[0]).toMatchObject({ part: 'event' });
  expect(seen.deaths).toBe(0);
});
