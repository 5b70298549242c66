/** A controller for tests of the link: says welcome, hears observations, acknowledges them. */

import { createServer } from 'node:http2';
import { create, fromBinary } from '@bufbuild/protobuf';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import {
  CounterBatchSchema,
  SecurityFactBatchSchema,
  type CounterBatch,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import {
  AgentStreamService,
  ConnectResponseSchema,
  ObservationBatchAckStatus,
  ObservationStreamKind,
  type AgentMetricsPush,
  type ConnectRequest,
  type GapNotice,
  type ObservationBatch,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';

import { metricPayloadVersion, ownCapabilities } from '../../base/protocol-versions.ts';

/** A controller while it listens. */
export interface FakeController {
  /** Batches in the order in which they came, repeats included. */
  readonly batches: ObservationBatch[];
  /** Gaps in the order in which they came, repeats included. */
  readonly gaps: GapNotice[];
  /** Loads and health in the order in which they came. */
  readonly pushes: AgentMetricsPush[];
  /** Request ids of all facts that came, repeats included. */
  requestIds(): string[];
  /** All counts that came, repeats included. */
  counts(): CounterBatch[];
  /** Cuts every connection and stops listening. */
  end(): Promise<void>;
}

/**
 * Listens on a Unix socket; `acknowledges` false keeps silent about what it hears, `versions`
 * replaces what its welcome announces.
 */
export async function startFakeController(
  socketPath: string,
  acknowledges: boolean,
  versions: object = {},
): Promise<FakeController> {
  const batches: ObservationBatch[] = [];
  const gaps: GapNotice[] = [];
  const pushes: AgentMetricsPush[] = [];
  const routes = (router: ConnectRouter): void => {
    router.service(AgentStreamService, {
      connect: (requests) => answer(requests, { batches, gaps, pushes }, acknowledges, versions),
    });
  };
  const server = createServer(connectNodeAdapter({ routes }));
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => sessions.add(session));
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const payloads = (kind: ObservationStreamKind): Uint8Array[] =>
    batches.filter(({ header }) => header?.streamKind === kind).map(({ payload }) => payload);
  return {
    batches,
    gaps,
    pushes,
    requestIds: () =>
      payloads(ObservationStreamKind.SECURITY_FACT).flatMap((payload) =>
        fromBinary(SecurityFactBatchSchema, payload).facts.map(({ requestId }) => requestId),
      ),
    counts: () =>
      payloads(ObservationStreamKind.METRIC).map((one) => fromBinary(CounterBatchSchema, one)),
    end: () => {
      for (const session of sessions) session.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function* answer(
  requests: AsyncIterable<ConnectRequest>,
  { batches, gaps, pushes }: Pick<FakeController, 'batches' | 'gaps' | 'pushes'>,
  acknowledges: boolean,
  versions: object,
) {
  const own = { serverId: 'fake', metricPayloadVersion, capabilities: ownCapabilities };
  const value = { ...own, ...versions };
  const welcome = { case: 'welcome', value } as const;
  yield create(ConnectResponseSchema, { message: welcome });
  for await (const { message } of requests) {
    if (message.case === 'metricsPush') pushes.push(message.value);
    if (message.case === 'gapNotice') {
      gaps.push(message.value);
      const { bootId, firstBatchSeq, streamKind } = message.value;
      const value = { bootId, firstBatchSeq, streamKind };
      if (acknowledges)
        yield create(ConnectResponseSchema, { message: { case: 'gapNoticeAck', value } });
    }
    if (message.case !== 'observationBatch') continue;
    batches.push(message.value);
    if (!acknowledges) continue;
    const { batchSeq, bootId, streamKind } = message.value.header!;
    const status = ObservationBatchAckStatus.ACCEPTED;
    const value = { bootId, streamKind, batchSeq, ackThroughBatchSeq: batchSeq, status };
    yield create(ConnectResponseSchema, { message: { case: 'batchAck', value } });
  }
}
