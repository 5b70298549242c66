/**
 * Tests of WebSockets whose messages are inspected: through the front, over HTTP/1.1, with an
 * inspector that answers at once and one that takes its time.
 */

import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { passVerdict } from '../../contract/verdict.ts';
import { createFront } from '../threads/front.ts';
import {
  blockWith,
  Closing,
  RawClient,
  ScriptedInspector,
  siteFor,
  type Script,
} from '../fixtures/fixture.ts';
import { frame, readFrames } from '../fixtures/websocket-frames-fixture.ts';
import {
  acceptOf,
  switching,
  websocketOrigin,
  type WebsocketOrigin,
} from '../fixtures/websocket-fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const key = 'dGhlIHNhbXBsZSBub25jZQ==';
const opening =
  'GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Content-Type: image/png\r\nSec-WebSocket-Extensions: permessage-deflate\r\n' +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`;

interface Opened {
  readonly client: RawClient;
  readonly origin: WebsocketOrigin;
  readonly events: RequestEvent[];
  readonly messages: RequestEvent[];
  /** What the origin got after its head. */
  readonly got: () => Buffer;
  readonly inspector: ScriptedInspector;
}

interface Options extends Script {
  readonly choice?: 'observe' | 'block';
  readonly failPolicy?: 'open' | 'closed';
  readonly lines?: string;
}

/** Opens a WebSocket through a front that refuses bodies with `attack`. */
async function open({ choice = 'block', failPolicy = 'closed', lines = '', ...script }: Options) {
  const pieces: Buffer[] = [];
  const origin = await websocketOrigin(closing, (given) =>
    switching(given, acceptOf(given), lines),
  );
  const inspector = new ScriptedInspector({
    bodyNeed: { inspect: true, limitBytes: 100_000, onExcess: 'reject' },
    body: (body) => {
      const text = Buffer.from(body?.bytes ?? []).toString();
      if (text.includes('fail')) throw new Error('no inspection');
      return text.includes('attack') ? blockWith(403, 2) : passVerdict;
    },
    ...script,
  });
  const waf = { enabled: true, mode: 'blocking', failPolicy } as const;
  const events: RequestEvent[] = [];
  const messages: RequestEvent[] = [];
  const front = createFront({
    routes: {
      revision: 'r1',
      sites: [{ ...siteFor(origin.port, { waf }), websocketMessages: choice }],
    },
    inspectorOf: () => inspector,
    settings: { sweepIntervalMs: 10 },
    onRequestDone: (event) => events.push(event),
    onMessageDone: (event) => messages.push(event),
  });
  const port = await front.listen({ host: '127.0.0.1', port: 0 });
  closing.add(() => front.close());
  const client = new RawClient(port).send(opening);
  await client.has('\r\n\r\n');
  const [socket] = origin.sockets;
  // Frames that are sent back masked would be no frames of an origin.
  socket?.removeAllListeners('data');
  socket?.on('data', (bytes) => pieces.push(bytes));
  const got = (): Buffer => Buffer.concat(pieces);
  return { client, origin, events, messages, got, inspector } satisfies Opened;
}

const textsOf = ({ got }: Opened): string[] => readFrames(got()).map((one) => String(one.payload));
const closed = (code: number): string =>
  frame({
    ...{ opcode: 8, masked: false, payload: Buffer.from([code >> 8, code & 255]) },
  }).toString('latin1');

describe.each([false, true])('inspected messages, later: %s', (later) => {
  test('pass in order, with control frames and binary messages', async () => {
    const opened = await open({ later });
    const sent = [
      frame({ payload: 'one' }),
      frame({ opcode: 9, payload: 'ping' }),
      frame({ opcode: 2, payload: 'bin' }),
      frame({ payload: 'two' }),
    ];
    opened.client.send(Buffer.concat(sent));
    expect(await eventually(() => textsOf(opened).length === 4)).toBe(true);
    expect(opened.got()).toEqual(Buffer.concat(sent));
    opened.origin.sockets[0]!.write(frame({ masked: false, payload: 'back' }));
    expect(await opened.client.has('back')).toContain('back');
    expect(opened.messages.map(({ requestId }) => requestId.slice(-3))).toEqual([
      ...['.m1', '.m2', '.m3'],
    ]);
    expect(opened.messages).toMatchObject([{ outcome: 'served', status: 101, bytesIn: 3 }, {}, {}]);
  });

  test('that rules refuse close with 1008, and do not reach the origin', async () => {
    const opened = await open({ later });
    opened.client.send(Buffer.concat([frame({ payload: 'one' }), frame({ payload: 'attack' })]));
    opened.client.send(frame({ payload: 'three' }));
    const text = await opened.client.all();
    expect(text.endsWith(closed(1008))).toBe(true);
    expect(textsOf(opened).filter((one) => one !== 'one')).toEqual([]);
    expect(await eventually(() => opened.events.length === 1)).toBe(true);
    expect(opened.events).toMatchObject([{ outcome: 'refused', refusal: 'websocket_message' }]);
    expect(opened.messages.at(-1)).toMatchObject({
      ...{ outcome: 'blocked', blocked: true, transaction: { verdict: { status: 403 } } },
      ...{ status: 403, bytesIn: 6, bytesOut: 4 },
    });
    expect(await eventually(() => opened.inspector.opened === opened.inspector.finished)).toBe(
      true,
    );
  });

  test('that are only observed pass', async () => {
    const opened = await open({ later, choice: 'observe' });
    opened.client.send(frame({ payload: 'attack' }));
    expect(await eventually(() => textsOf(opened).includes('attack'))).toBe(true);
    expect(opened.messages).toMatchObject([
      { outcome: 'served', blocked: false, transaction: { verdict: { action: 'block' } } },
    ]);
  });

  test.each([
    ['closed', 'block', 1011],
    ['open', 'block', 0],
    ['closed', 'observe', 0],
  ] as const)('whose inspection fails, %s, %s: %i', async (failPolicy, choice, code) => {
    const opened = await open({ later, failPolicy, choice });
    opened.client.send(frame({ payload: 'fail' }));
    if (code > 0) {
      expect((await opened.client.all()).endsWith(closed(code))).toBe(true);
      expect(opened.messages).toMatchObject([{ outcome: 'inspection_failed' }]);
    } else expect(await eventually(() => textsOf(opened).includes('fail'))).toBe(true);
  });

  test('are more than a client may send while one is inspected', async () => {
    const opened = await open({ later });
    const many = Array.from({ length: 2_000 }, (_, at) => frame({ payload: `message ${at}` }));
    opened.client.send(Buffer.concat(many));
    expect(await eventually(() => textsOf(opened).length === 2_000)).toBe(true);
    expect(opened.inspector.finished).toBeGreaterThanOrEqual(2_000);
  });

  const rest = { acts: true, limitBytes: 300_000 } as const;
  const inWindows = {
    bodyNeed: { inspect: true, limitBytes: 100_000, onExcess: 'prefix', rest },
  } as const;

  test.each([
    ['text', [{ opcode: 1, payload: `${'x'.repeat(200_000)}attack` }]],
    ['binary', [{ opcode: 2, payload: `${'x'.repeat(200_000)}attack` }]],
    [
      'fragments',
      [
        { opcode: 1, final: false, payload: 'x'.repeat(165_000) },
        { opcode: 0, final: false, payload: `${'x'.repeat(35_000)}att` },
        { opcode: 0, payload: 'ack' },
      ],
    ],
  ])('inspects on what is longer, in windows: %s', async (_, frames) => {
    const opened = await open({ later, ...inWindows });
    opened.client.send(Buffer.concat(frames.map((one) => frame(one))));
    expect((await opened.client.all()).endsWith(closed(1008))).toBe(true);
    expect(opened.got()).toHaveLength(0);
    expect(opened.messages).toMatchObject([{ outcome: 'blocked', bytesIn: 200_006 }]);
    expect(opened.messages[0]!.transaction!.limitsReached).toBeUndefined();
  });

  test('counts what comes after the last window', async () => {
    const opened = await open({ later, ...inWindows });
    const sent = [frame({ payload: 'x'.repeat(200_000) }), frame({ payload: 'y'.repeat(310_000) })];
    opened.client.send(Buffer.concat(sent));
    expect(await eventually(() => opened.got().length === Buffer.concat(sent).length)).toBe(true);
    expect(opened.got()).toEqual(Buffer.concat(sent));
    const [whole, long] = opened.messages.map(({ transaction }) => transaction!);
    expect(whole!.limitsReached).toBeUndefined();
    expect(long).toMatchObject({
      limitsReached: ['body-bytes', 'websocket-message'],
      uninspectedBytes: 10_000,
    });
  });
});

describe('a WebSocket whose messages are inspected', () => {
  test('has no extensions, and messages have no type', async () => {
    const types: string[] = [];
    const opened = await open({ head: (head) => (types.push(head), passVerdict) });
    expect(opened.origin.heads[0]).not.toMatch(/extensions/i);
    opened.client.send(frame({ payload: 'one' }));
    expect(await eventually(() => types.length === 2)).toBe(true);
  });

  test('is not opened by an origin that takes an extension', async () => {
    const lines = 'Sec-WebSocket-Extensions: permessage-deflate\r\n';
    const { client } = await open({ lines });
    expect(client.text).toMatch(/^HTTP\/1\.1 502 /);
  });

  test('ends at a frame that is none, with the code for it', async () => {
    const opened = await open({});
    opened.client.send(frame({ payload: 'x', masked: false }));
    expect((await opened.client.all()).endsWith(closed(1002))).toBe(true);
    expect(opened.got()).toHaveLength(0);
    expect(await eventually(() => opened.events.length === 1)).toBe(true);
    expect(opened.events).toMatchObject([{ outcome: 'refused', refusal: 'websocket_mask' }]);
  });

  test('closes between two frames of the origin, never within one', async () => {
    const opened = await open({});
    const long = frame({ masked: false, payload: 'y'.repeat(500) });
    opened.origin.sockets[0]!.write(long.subarray(0, 100));
    await opened.client.has('yyyy');
    opened.client.send(frame({ payload: 'attack' }));
    expect(await eventually(() => opened.messages.length === 1)).toBe(true);
    expect(opened.client.text.endsWith(closed(1008))).toBe(false);
    opened.origin.sockets[0]!.write(Buffer.concat([long.subarray(100), frame({ masked: false })]));
    const text = await opened.client.all();
    expect(text.endsWith(`${'y'.repeat(500)}${closed(1008)}`)).toBe(true);
  });

  test.each([1, 2])('finds what follows 16 KiB of padding, opcode %i', async (opcode) => {
    const opened = await open({});
    opened.client.send(frame({ opcode, payload: `${'x'.repeat(20_000)}attack` }));
    expect((await opened.client.all()).endsWith(closed(1008))).toBe(true);
    expect(opened.got()).toHaveLength(0);
  });

  test('tells of a message that is longer than what the policy inspects', async () => {
    const bodyNeed = { inspect: true, limitBytes: 100_000, onExcess: 'prefix' } as const;
    const opened = await open({ bodyNeed });
    opened.client.send(frame({ payload: `${'x'.repeat(120_000)}attack` }));
    expect(await eventually(() => opened.got().length > 120_000)).toBe(true);
    expect(opened.messages).toMatchObject([
      { transaction: { limitsReached: ['websocket-message'] }, bytesIn: 120_006 },
    ]);
  });

  test.each([
    ['block', 1009],
    ['observe', 0],
  ] as const)('longer than what the policy takes, %s: %i', async (choice, code) => {
    const opened = await open({ choice });
    opened.client.send(frame({ payload: 'x'.repeat(120_000) }));
    if (code > 0) {
      expect((await opened.client.all()).endsWith(closed(code))).toBe(true);
      expect(opened.got()).toHaveLength(0);
    } else expect(await eventually(() => opened.got().length > 120_000)).toBe(true);
    expect(opened.messages).toMatchObject([
      { transaction: { limitsReached: ['websocket-message'] }, bytesIn: 120_000 },
    ]);
  });

  test('lets others have their turns while many small messages are inspected', async () => {
    let [inspected, inTurn, most] = [0, 0, 0];
    const opened = await open({
      body: () => {
        inspected++;
        most = Math.max(most, ++inTurn);
        return passVerdict;
      },
    });
    const tick = (): void => {
      inTurn = 0;
      clock = setImmediate(tick);
    };
    let clock = setImmediate(tick);
    opened.client.send(Buffer.concat(Array<Buffer>(9_000).fill(frame({ payload: 'x' }))));
    expect(await eventually(() => inspected >= 9_000)).toBe(true);
    clearImmediate(clock);
    expect(most).toBeLessThanOrEqual(8);
  });
});
