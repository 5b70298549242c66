/** Tests of HTTP/2 sessions: what heads become, what is bounded, and that no bytes crash them. */

import { expect, test } from 'vitest';
import { HTTP2_EVENT, HTTP2_HEAD, Http2Session } from './http2-session.ts';

const settings = {
  streamsMax: 10,
  headBytesMax: 4_000,
  streamWindowBytes: 65_535,
  connectionWindowBytes: 1_048_576,
  queueBytesMax: 10_000,
  outboundAcksMax: 100,
};
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A literal field that enters no table; lengths below 127. */
function field(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value, 'latin1'),
  ]);
}

function headers(stream: number, fields: readonly Buffer[], flags = 5): Buffer {
  return frame(1, flags, stream, Buffer.concat(fields));
}

const target = [field(':method', 'GET'), field(':scheme', 'https'), field(':path', '/a?b')];

function opened(): Http2Session {
  const session = new Http2Session(settings);
  session.receive(preface, preface.length);
  const empty = frame(4, 0, 0, Buffer.alloc(0));
  session.receive(empty, empty.length);
  return session;
}

/** What one request becomes: its head and the flags. */
function headOf(fields: readonly Buffer[]): { head: string; flags: number; kinds: number[] } {
  const session = opened();
  const wire = headers(1, fields);
  session.receive(wire, wire.length);
  session.pull(Buffer.alloc(65_536));
  const events = [...(session.events() ?? [])];
  const head = Buffer.from(session.heads()).toString('latin1');
  session.close();
  return { head, flags: events[3] ?? 0, kinds: events.filter((_, at) => at % 4 === 0) };
}

test('a request becomes one head, with one host and one line of cookies', () => {
  const authority = field(':authority', 'Shop.example');
  const { head, flags } = headOf([
    ...target,
    authority,
    field('cookie', 'a=1'),
    field('host', 'shop.example'),
    field('x-one', 'two'),
    field('cookie', 'b=2'),
  ]);
  expect(head).toBe(
    'GET /a?b HTTP/2.0\r\nhost: Shop.example\r\nx-one: two\r\ncookie: a=1; b=2\r\n\r\n',
  );
  expect(flags).toBe(HTTP2_HEAD.END);
  const two = headOf([...target, authority, field('host', 'other.example')]).head;
  expect(two.match(/host: /g)).toHaveLength(2);
});

test.each([
  ['upper case', field('X-Upper', 'a')],
  ['a line end in a value', field('x-a', 'b\r\nx-injected: c')],
  ['a line end in a name', field('x\r\ny', 'b')],
  ['a NUL', field('x-a', 'b\0c')],
  ['a field of connections', field('connection', 'close')],
  ['another framing', field('transfer-encoding', 'chunked')],
  ['a second path', field(':path', '/other')],
  ['an unknown pseudo field', field(':proto', 'x')],
])('%s makes no request', (_, wrong) => {
  const { head, kinds } = headOf([...target, field(':authority', 'a'), wrong]);
  expect(head).toBe('');
  expect(kinds).not.toContain(HTTP2_EVENT.HEAD);
});

test('more bytes of fields than are allowed are not kept', () => {
  const many = Array.from({ length: 30 }, (_, at) => field(`x-${at}`, 'v'.repeat(120)));
  const { head, flags } = headOf([...target, field(':authority', 'a'), ...many]);
  expect(flags & HTTP2_HEAD.TOO_LARGE).toBe(HTTP2_HEAD.TOO_LARGE);
  expect(head.length).toBeLessThan(settings.headBytesMax);
});

test('a field of the table that is named without end closes the session', () => {
  const session = opened();
  // Into the table once (index 62), then named by one byte each.
  const big = Buffer.concat([Buffer.from([0x40, 3]), Buffer.from('x-b'), Buffer.from([100])]);
  const bomb = headers(1, [
    ...target,
    field(':authority', 'a'),
    big,
    Buffer.alloc(100, 'v'),
    Buffer.alloc(2_000, 0xbe),
  ]);
  expect(session.receive(bomb, bomb.length)).toBeLessThan(0);
  expect(session.heads()).toHaveLength(0);
  session.close();
});

test('heads of streams that are reset at once do not pile up without end', () => {
  const session = opened();
  // Nearly a whole head by thirty bytes, once the field is in the table.
  const add = [Buffer.from([0x40, 3]), Buffer.from('x-b'), Buffer.from([100])];
  const first = Buffer.concat([...add, Buffer.alloc(100, 'v')]);
  const reset = (stream: number): Buffer => frame(3, 0, stream, Buffer.from([0, 0, 0, 8]));
  const rounds = 200;
  const wire = Array.from({ length: rounds }, (_, at) => {
    const more = at === 0 ? first : Buffer.alloc(0);
    const fields = [...target, field(':authority', 'a'), more, Buffer.alloc(20, 0xbe)];
    return Buffer.concat([headers(2 * at + 1, fields), reset(2 * at + 1)]);
  });
  const flood = Buffer.concat(wire);
  expect(session.receive(flood, flood.length)).toBe(0);
  const kinds = [...(session.events() ?? [])].filter((_, at) => at % 4 === 0);
  const told = kinds.filter((kind) => kind === HTTP2_EVENT.HEAD).length;
  const bytes = session.heads().length;
  expect(bytes).toBeGreaterThan(31 * settings.headBytesMax);
  expect(bytes).toBeLessThan(34 * settings.headBytesMax);
  expect(session.glitches()).toBe(rounds + (rounds - told) + 1);
  // What was taken makes room.
  const next = headers(2 * rounds + 1, [...target, field(':authority', 'a')]);
  expect(session.receive(next, next.length)).toBe(0);
  expect(session.heads().length).toBeGreaterThan(0);
  session.close();
});

test('continuations without end close the session', () => {
  const session = opened();
  const begin = headers(1, [...target, field(':authority', 'a')], 0);
  session.receive(begin, begin.length);
  const more = frame(9, 0, 1, field('x-a', 'b'));
  let result = 0;
  for (let round = 0; round < 500 && result === 0; round++) {
    result = session.receive(more, more.length);
  }
  expect(result).toBeLessThan(0);
  session.close();
});

test('an answer leaves out what belongs to a connection, and waits where its queue is full', () => {
  const session = opened();
  const wire = headers(1, [...target, field(':authority', 'a')]);
  session.receive(wire, wire.length);
  session.events();
  const out = Buffer.alloc(200_000);
  session.pull(out);
  const head = Buffer.from(
    'HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nConnection: close\r\nKeep-Alive: x\r\n' +
      'Transfer-Encoding: chunked\r\n\r\n',
  );
  expect(session.respond(1, head, 0, head.length, false)).toBe(true);
  const content = Buffer.alloc(11_000, 'c');
  expect(session.data(1, content, 0, content.length, false)).toBe(false);
  const sent = out.subarray(0, session.pull(out)).toString('latin1');
  expect(sent).toContain('c'.repeat(9_000));
  expect(sent).not.toMatch(/close|chunked/);
  expect([...(session.events() ?? [])].slice(0, 2)).toEqual([HTTP2_EVENT.DRAINED, 1]);
  expect(session.data(1, content, 0, 1, true)).toBe(true);
  expect(session.pull(out)).toBeGreaterThan(0);
  expect(session.respond(99, head, 0, head.length, true)).toBe(false);
  session.close();
  expect(() => session.receive(wire, wire.length)).toThrow(/closed/);
});

test('no bytes crash a session', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const out = Buffer.alloc(65_536);
  let heads = 0;
  let ended = 0;
  for (let run = 0; run < 2_000; run++) {
    const session = opened();
    let result = 0;
    for (let at = 0; at < 10 && result === 0; at++) {
      const wire =
        random(3) === 0
          ? headers(1 + 2 * at, [...target, field(':authority', 'a')], 4 + random(2))
          : frame(random(11), random(256), random(20), Buffer.alloc(random(40), random(256)));
      for (let flips = random(3); flips > 0; flips--) wire[random(wire.length)] = random(256);
      result = session.receive(wire, wire.length);
      const events = session.events() ?? [];
      for (let i = 0; i < events.length; i += 4) {
        if (events[i] !== HTTP2_EVENT.HEAD) continue;
        heads++;
        session.respond(events[i + 1]!, Buffer.from('HTTP/1.1 204 x\r\n\r\n'), 0, 18, true);
      }
      session.heads();
      if (session.pull(out) < 0) result = -1;
    }
    if (result !== 0 || session.finished) ended++;
    session.close();
  }
  expect(heads).toBeGreaterThan(200);
  expect(ended).toBeGreaterThan(100);
});
