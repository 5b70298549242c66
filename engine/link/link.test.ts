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
  SecurityFactBatchSchema,
  SecurityFactSchema,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import {
  AgentStreamService,
  ConnectResponseSchema,
  ObservationBatchAckStatus,
  type ConnectRequest,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { linkLimits } from '../base/limits.ts';
import { silentLogger } from '../base/log.ts';
import { BundleKeeper } from '../bundle/bundle-keeper.ts';
import { startControllerLink } from './controller-link.ts';
import { FactSpool } from './fact-spool.ts';

const fact = (requestId: string) =>
  create(SecurityFactSchema, { requestId, receivedAtMs: 1_700_000_000_000n });

test('the spool numbers batches and items, and repeats what was not acknowledged', () => {
  const spool = new FactSpool();
  spool.add(fact('a'));
  spool.add(fact('b'));
  const [first] = spool.takeUnsent();
  spool.add(fact('c'));
  const [second] = spool.takeUnsent();
  expect([first?.header?.batchSeq, second?.header?.batchSeq]).toEqual([1n, 2n]);
  expect([second?.header?.firstItemSeq, second?.header?.lastItemSeq]).toEqual([3n, 3n]);
  expect(spool.takeUnsent()).toEqual([]);
  spool.acknowledge(1n);
  expect(spool.held).toBe(1);
  spool.resend();
  const again = spool.takeUnsent();
  expect(again.map((batch) => batch.header?.batchSeq)).toEqual([2n]);
  expect(again[0]?.payload).toEqual(second?.payload);
});

test('a full spool gives up its oldest facts, counts them and notes one gap', () => {
  const spool = new FactSpool();
  const surplus = linkLimits.batchFactsMax * 3;
  for (let at = 0; at < linkLimits.factsHeldMax + surplus; at++) spool.add(fact(String(at)));
  expect(spool.held).toBeLessThanOrEqual(linkLimits.factsHeldMax);
  expect(spool.evicted).toBe(surplus);
  const gaps = spool.takeGaps();
  expect(gaps).toHaveLength(1);
  expect(gaps[0]).toMatchObject({ firstBatchSeq: 1n, lastBatchSeq: 3n, firstItemSeq: 1n });
  expect(gaps[0]?.lastItemSeq).toBe(BigInt(surplus));
  expect(spool.takeUnsent()).toHaveLength(linkLimits.batchesInFlightMax);
});

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
          const { batchSeq = 0n } = message.value.header ?? {};
          const value = {
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
  const link = startControllerLink({
    socketPath,
    agentId: 'local',
    version: 'test',
    bundles: new BundleKeeper(join(socketPath, '..', 'bundle')),
    configHash: () => '',
    apply: () => Promise.resolve(),
    logger: silentLogger,
  });
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
