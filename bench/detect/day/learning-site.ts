/**
 * A site that learns, in process and on a clock that is set: requests are counted as front threads
 * count them, counts travel and are kept as in control, and control decides what it learned.
 */

import { toBinary } from '@bufbuild/protobuf';
import { crc32c } from '../../../base/crc32c.ts';
import { createLogger } from '../../../base/log.ts';
import { metricPayloadVersion } from '../../../base/protocol-versions.ts';
import {
  inForce,
  proposalsOf,
  withDecisions,
  type LearnedDecision,
  type LearnedProposal,
} from '../../../control/domain/policy/detection-learning.ts';
import { openCounterStore } from '../../../control/observe/counter-store.ts';
import { learnOnce } from '../../../control/start-learning.ts';
import {
  detectionLearning,
  settingsId,
  sites,
  systemSettings,
} from '../../../control/store/collections.ts';
import { openMemoryKv } from '../../../control/store/memory-kv.ts';
import { openStore } from '../../../control/store/store.ts';
import {
  ClientCounts,
  type CountedRequest,
} from '../../../engine/detect/learning/client-counts.ts';
import { CounterSums } from '../../../engine/link/counter-batch.ts';
import { CounterBatchSchema } from '../../../proto/gen/waf/runtime/v1/observation_pb.ts';

const hourMs = 3_600_000;
const siteId = 's';
const tenantId = 't';

/** What a site does with what it learns. */
export type LearningMode = 'suggest' | 'auto';

/** A request that ended, without what the site knows itself. */
type EndedRequest = Omit<CountedRequest, 'siteId' | 'requestId' | 'receivedAtMs'>;

/** One site; see the header. */
export type LearningSite = Awaited<ReturnType<typeof openLearningSite>>;

/** Opens a site of which nothing is known. */
export async function openLearningSite(mode: LearningMode) {
  let nowMs = 500_000 * hourMs;
  let batchSeq = 0n;
  let requests = 0;
  const clock = { nowMs: () => nowMs, now: () => new Date(nowMs), monotonicUs: () => 0 };
  const store = await openStore(openMemoryKv(), clock);
  await store.write((tx) => {
    tx.put(sites, { id: siteId, tenantId, name: 'blog', primaryHost: 'a.test' } as never);
    const values = { 'detection.learning': { [siteId]: mode } };
    tx.put(systemSettings, { id: settingsId, values } as never);
  });
  const record = () => store.get(detectionLearning, siteId);
  const generation = () => record()?.generation ?? 0;
  const place = () => ({ tenantId, generation: generation() });
  const counters = openCounterStore(
    openMemoryKv(),
    () => null,
    clock,
    (id) => (id === siteId ? place() : null),
  );
  const counts = new ClientCounts();
  const logger = createLogger('learning-site', 'error');
  const rows = () => counters.clients(siteId, generation());
  const keep = (made: readonly LearnedDecision[]) =>
    store.write((tx) => {
      const before = record() ?? { id: siteId, tenantId, generation: 0, decisions: [] };
      tx.put(detectionLearning, withDecisions(before, made, nowMs));
    });
  return {
    store,
    counts,
    record,
    rows,
    nowMs: () => nowMs,
    pass: (ms: number) => (nowMs += ms),
    count: (ended: EndedRequest) => {
      requests++;
      const own = { siteId, requestId: `r${requests}`, receivedAtMs: nowMs };
      counts.count({ ...ended, ...own }, { detectionLearning: mode });
    },
    /** Reports until nothing waits, then lets control look; the number of contents it learned. */
    report: async (): Promise<number> => {
      for (;;) {
        const deltas = counts.drain(nowMs);
        if (deltas.length === 0) break;
        const sums = new CounterSums(nowMs);
        sums.learnClients(deltas);
        const payload = toBinary(CounterBatchSchema, sums.drain(nowMs)!);
        const head = { agentId: 'local', tenantId, bootId: 'ab', crc32c: crc32c(payload) };
        batchSeq++;
        const stored = await counters.ingest({ ...head, batchSeq, payload }, metricPayloadVersion);
        if (stored !== 'stored') throw new Error(`a batch of counts was not stored: ${stored}`);
      }
      return learnOnce({ store, counters, clock, logger });
    },
    proposals: (): LearnedProposal[] => proposalsOf(rows(), record(), nowMs),
    /** What changes requests now. */
    inForce: (): LearnedDecision[] =>
      (record()?.decisions ?? []).filter((one) => inForce(one, nowMs)),
    /** Accepts a proposal as a person does. */
    accept: async ({ id, method, path, name, family, ...seen }: LearnedProposal) => {
      const { clients, hours, requests: count } = seen;
      const value = { id, method, path, name, family, clients, hours, requests: count };
      const decided = { state: 'accepted', by: 'person', atMs: nowMs, voices: '' } as const;
      await keep([{ ...value, ...decided, endsAtMs: nowMs + 24 * hourMs }]);
    },
  };
}
