/** Requests that come before their policy: inspected once it serves, never passed, bounded. */

import { expect, test, vi } from 'vitest';
import type { PhaseResult } from '../contract/inspection-failure.ts';
import type { InspectionSession, Inspector } from '../contract/inspection.ts';
import type { RequestSnapshot } from '../contract/message.ts';
import { passVerdict } from '../contract/verdict.ts';
import { PolicyWaits } from './policy-waits.ts';

const snapshot = (siteId: string): RequestSnapshot =>
  ({
    requestId: 'r',
    receivedAtMs: 0,
    siteId,
    grpcFields: false,
    connection: {},
    head: {
      bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      spans: Int32Array.of(0, 14, 0, 3, 4, 5, 6, 14, 0),
    },
  }) as unknown as RequestSnapshot;

/** A policy whose first phase is counted. */
function policy(opened: RequestSnapshot[]): Inspector {
  const session = {
    bodyNeed: { inspect: true, limitBytes: 5, onExcess: 'prefix' },
    responseNeed: { inspect: false, limitBytes: 0, onExcess: 'prefix' },
    requestHead: () => passVerdict,
    requestBody: () => ({ ...passVerdict, action: 'deny' as const, status: 403 }),
    finish: () => ({ matchedRules: [] }),
  } as unknown as InspectionSession;
  return {
    open: (request) => {
      opened.push(request);
      return session;
    },
  };
}

const bounds = { waitMs: 10_000, requestsMax: 100, resumedAtOnce: 2 };

test('a request waits and is inspected by the policy once it serves', async () => {
  const waits = new PolicyWaits(bounds);
  const session = waits.inspector.open(snapshot('a'));
  const head = session.requestHead();
  expect(head).toBeInstanceOf(Promise);
  expect(waits.size).toBe(1);
  const opened: RequestSnapshot[] = [];
  waits.use((siteId) => (siteId === 'b' ? policy(opened) : null));
  expect(waits.size).toBe(1);
  waits.use(() => policy(opened));
  expect(await head).toEqual(passVerdict);
  expect(session.bodyNeed.limitBytes).toBe(5);
  expect(session.requestBody(null)).toMatchObject({ action: 'deny' });
  expect([waits.size, opened.length]).toEqual([0, 1]);
});

test('its head is its own copy: the buffer of the connection is used again', async () => {
  const waits = new PolicyWaits(bounds);
  const request = snapshot('a');
  const head = waits.inspector.open(request).requestHead();
  (request.head.bytes as Buffer).fill(0x58);
  const opened: RequestSnapshot[] = [];
  waits.use(() => policy(opened));
  await head;
  expect(Buffer.from(opened[0]!.head.bytes).toString()).toMatch(/^GET \//);
});

test('many are inspected in turns', async () => {
  const waits = new PolicyWaits(bounds);
  const heads = Array.from({ length: 9 }, () => waits.inspector.open(snapshot('a')).requestHead());
  const opened: RequestSnapshot[] = [];
  waits.use(() => policy(opened));
  expect(opened).toHaveLength(2);
  await Promise.all(heads as Promise<PhaseResult>[]);
  expect(opened).toHaveLength(9);
});

test('waiting ends by its bounds with a failed inspection, which the fail policy answers', async () => {
  vi.useFakeTimers();
  const waits = new PolicyWaits({ ...bounds, requestsMax: 1 });
  const head = waits.inspector.open(snapshot('a')).requestHead();
  const failed = { action: 'failed', reason: 'policy' };
  expect(waits.inspector.open(snapshot('a')).requestHead()).toEqual(failed);
  vi.advanceTimersByTime(bounds.waitMs);
  vi.useRealTimers();
  expect(await head).toEqual(failed);
  expect(waits.size).toBe(0);
});

test('a client that leaves is forgotten; a policy that is held back fails at once', async () => {
  const waits = new PolicyWaits(bounds);
  const gone = waits.inspector.open(snapshot('a'));
  const [left, stays] = [gone.requestHead(), waits.inspector.open(snapshot('b')).requestHead()];
  expect(gone.finish()).toMatchObject({ failure: 'policy' });
  await left;
  expect(waits.size).toBe(1);
  const throwing: Inspector = {
    open: () => {
      throw Object.assign(new Error('no policy'), { code: 'policy_absent' });
    },
  };
  waits.use(() => throwing);
  expect(await stays).toMatchObject({ action: 'failed' });
});
