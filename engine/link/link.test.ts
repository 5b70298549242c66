/** Owns the proof of the link: what is spooled, repeated, given up, and how it comes back. */

import { mkdtempSync } from 'node:fs';
import { createServer, type Http2Server } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, fromBinary } from '@bufbuild/protobuf';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { expect, test } from 'vitest';
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
  type ConnectRequest,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { silentLogger } from '../base/log.ts';
import { FrontCounters } from '../front/counters.ts';
import { BundleKeeper } from '../bundle/bundle-keeper.ts';
import { startControllerLink } from './controller-link.ts';

/** A controller that keeps what it hears; `reply` says what it answers. */
async function fakeController(
  socketPath: string,
  hear: (message: ConnectRequest['message']) => void,
  acknowledges: boolean,
): Promise<Http2Server> {
  const welcome = create(ConnectResponseSchema, {
    message: { case: 'welcome', value: { serverId: 'fake' } },
  });
  const routes = (router: ConnectRouter): void => {
    router.service(AgentStreamService, {
      async *connect(requests) {
        yield welcome;
        for await (const { message } of requests) {
          hear(message);
          if (message.case !== 'observationBatch' || !acknowledges) continue;
          const { batchSeq, bootId, streamKind } = message.value.header!;
          const value = {
            bootId,
            streamKind,
            batchSeq,
            ackThroughBatchSeq: batchSeq,
            status: ObservationBatchAckStatus.ACCEPTED,
          };
          yield create(ConnectResponseSchema, { message: { case: 'batchAck', value } });
        }
      },
    });
  };
  const server = createServer(connectNodeAdapter({ routes }));
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => sessions.add(session));
  server.on('close', () => sessions.forEach((session) => session.destroy()));
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return Object.assign(server, {
    end: () => {
      sessions.forEach((session) => session.destroy());
      server.close();
    },
  });
}

function linkTo(socketPath: string) {
  return startControllerLink({
    socketPath,
    agentId: 'local',
    version: 'test',
    bundles: new BundleKeeper(join(socketPath, '..', 'bundle')),
    configHash: () => '',
    apply: () => Promise.resolve(),
    logger: silentLogger,
  });
}

async function eventually(check: () => boolean): Promise<void> {
  for (let at = 0; at < 500; at++) {
    if (check()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('it never came true');
}

test('facts survive a controller that goes away, and arrive once it is back', async () => {
  const socketPath = join(mkdtempSync(join(tmpdir(), 'waf-link-')), 's');
  const requestIds: string[] = [];
  const hear = (message: ConnectRequest['message']): void => {
    if (message.case !== 'observationBatch') return;
    const { facts } = fromBinary(SecurityFactBatchSchema, message.value.payload);
    requestIds.push(...facts.map(({ requestId }) => requestId));
  };
  const first = await fakeController(socketPath, hear, false);
  const link = linkTo(socketPath);
  await eventually(() => link.stats().connected);
  link.observe(refused('one'));
  await eventually(() => requestIds.includes('one'));
  expect(link.stats().held).toBe(1);
  (first as unknown as { end(): void }).end();
  await eventually(() => !link.stats().connected);
  link.observe(refused('two'));
  requestIds.length = 0;
  const second = await fakeController(socketPath, hear, true);
  await eventually(() => link.stats().held === 0);
  expect(requestIds).toEqual(['one', 'two']);
  await link.close();
  (second as unknown as { end(): void }).end();
});

test('counts of several threads arrive as one batch, exactly once', async () => {
  const socketPath = join(mkdtempSync(join(tmpdir(), 'waf-link-')), 's');
  const batches: CounterBatch[] = [];
  const server = await fakeController(
    socketPath,
    (message) => {
      if (message.case !== 'observationBatch') return;
      if (message.value.header?.streamKind !== ObservationStreamKind.METRIC) return;
      batches.push(fromBinary(CounterBatchSchema, message.value.payload));
    },
    true,
  );
  const link = linkTo(socketPath);
  await eventually(() => link.stats().connected);
  for (const bytesIn of [3, 4]) {
    const counters = new FrontCounters();
    counters.add({ ...refused('x'), siteId: 's', bytesIn }, 'p');
    link.count(counters.take());
  }
  await link.close();
  expect(batches).toHaveLength(1);
  const [delta] = batches[0]!.deltas;
  expect(delta).toMatchObject({ siteId: 's', policyId: 'p', requests: 2n, bytesIn: 7n });
  const entries = delta!.entries.map(({ family, key, count }) => [family, key, Number(count)]);
  expect(entries).toEqual([
    ['outcome', 'refused', 2],
    ['status', '400', 2],
    ['refusal', 'bad_head', 2],
  ]);
  (server as unknown as { end(): void }).end();
});

function refused(requestId: string) {
  return {
    requestId,
    siteId: '',
    receivedAtMs: 1,
    durationUs: 1,
    originUs: -1,
    clientIp: '127.0.0.1',
    clientPort: 1,
    method: 'GET',
    host: 'h',
    target: '/',
    httpVersion: 'HTTP/1.1',
    userAgent: '',
    status: 400,
    outcome: 'refused' as const,
    blocked: false,
    refusal: 'bad_head',
    bytesIn: 0,
    bytesOut: 0,
    endpoint: null,
    transaction: null,
  };
}
