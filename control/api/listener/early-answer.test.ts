/**
 * The proof that what is too large, too often, too deep or not allowed is refused early, in the
 * words of the caller's protocol, and that the refusal costs no memory.
 */

import { connect as connectHttp2 } from 'node:http2';
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { create, toBinary } from '@bufbuild/protobuf';
import { encodeEnvelope } from '@connectrpc/connect/protocol';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { callLimits } from '../../limits/call-limits.ts';
import { CreateSiteRequestSchema } from '../../../proto/gen/waf/v1/site_pb.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { CallRate } from './call-rate.ts';

let waf: TestControl;
let token = '';
beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const login = { username: 'admin', password: waf.password };
  const answer = await waf.call('AuthService/Login', login, { network: true });
  token = String(answer.body['accessToken']);
});
afterAll(() => waf.control.close());

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  /** Bytes of the request that had been sent when the answer was there. */
  readonly sent: number;
}

interface Sending {
  readonly type?: string;
  readonly headers?: Record<string, string>;
  readonly path?: string;
  readonly signedIn?: boolean;
}

/** Sends chunk after chunk for as long as the other side takes them. */
function post(chunks: Iterable<Buffer>, sending: Sending = {}): Promise<Reply> {
  const { type = 'application/json', headers = {}, path = 'SiteService/CreateSite' } = sending;
  const authorization = sending.signedIn === false ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    let sent = 0;
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port: waf.control.managementPort,
        method: 'POST',
        path: `/waf.v1.${path}`,
        agent: false,
        headers: { 'content-type': type, ...authorization, ...headers },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => {
          const { statusCode: status = 0, headers: answered } = response;
          resolve({ status, headers: answered, body: Buffer.concat(parts), sent });
          request.destroy();
        });
      },
    );
    request.on('error', reject);
    const source = chunks[Symbol.iterator]();
    const pump = (): void => {
      const { value, done } = source.next();
      if (done === true) return void request.end();
      sent += value.length;
      if (request.write(value)) setImmediate(pump);
      else request.once('drain', pump);
    };
    if (headers['expect'] === undefined) pump();
    else request.once('continue', pump);
    if (headers['expect'] !== undefined) request.flushHeaders();
  });
}

const block = Buffer.alloc(64 * 1024, 0x20);
function* blocks(bytes: number): Generator<Buffer> {
  for (let sent = 0; sent < bytes; sent += block.length) yield block;
}
const tooMany = callLimits.requestBytesMax + 1;
const codeOf = (reply: Reply): unknown =>
  (JSON.parse(reply.body.toString()) as Record<string, unknown>)['code'];

test('a size above the limit is refused from its declaration, in all protocols', async () => {
  const headers = { 'content-length': String(tooMany + 5), expect: '100-continue' };
  for (const type of ['application/json', 'application/proto']) {
    const reply = await post(blocks(tooMany), { type, headers });
    expect([type, reply.status, codeOf(reply), reply.sent]).toEqual([
      type,
      429,
      'resource_exhausted',
      0,
    ]);
  }
  const web = await post(blocks(tooMany), { type: 'application/grpc-web+proto', headers });
  expect(web).toMatchObject({ status: 200, sent: 0, headers: { 'grpc-status': '8' } });
});

test('a size that is not declared ends where the limit is, and memory stays flat', async () => {
  const before = process.memoryUsage.rss();
  const reply = await post(blocks(400 * 1024 * 1024));
  expect([reply.status, codeOf(reply)]).toEqual([429, 'resource_exhausted']);
  expect(reply.sent).toBeLessThan(64 * 1024 * 1024);
  expect(process.memoryUsage.rss() - before).toBeLessThan(160 * 1024 * 1024);
});

test('an envelope that announces too much is refused from its first five bytes', async () => {
  const start = Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]);
  const type = 'application/connect+json';
  const reply = await post([start], { type, path: 'LogService/TailSecurityEvents' });
  expect(reply.status).toBe(200);
  expect(reply.body.toString('utf8', 5)).toMatch(/resource_exhausted|invalid_argument/);
});

test('packed requests: read, bounded when unpacked, refused when broken', async () => {
  const headers = { 'content-encoding': 'gzip' };
  const bomb = gzipSync(Buffer.alloc(tooMany, 0x20));
  expect(bomb.length).toBeLessThan(64 * 1024);
  const burst = await post([bomb], { headers });
  expect([burst.status, codeOf(burst)]).toEqual([429, 'resource_exhausted']);
  const wrong = await post([gzipSync('{"site":{"color":1}}')], { headers });
  expect(wrong.body.toString()).toContain('site.color: Unknown field');
  const broken = await post([Buffer.from('no gzip')], { headers });
  expect([broken.status, codeOf(broken)]).toEqual([400, 'invalid_argument']);
});

test('strangers are refused before they send anything', async () => {
  const headers = { 'content-length': '1500000', expect: '100-continue' };
  for (const type of ['application/json', 'application/proto']) {
    const reply = await post(blocks(1_500_000), { type, headers, signedIn: false });
    expect([reply.status, codeOf(reply), reply.sent]).toEqual([401, 'unauthenticated', 0]);
  }
  const type = 'application/connect+json';
  const path = 'LogService/TailSecurityEvents';
  const stream = await post([], { type, path, signedIn: false });
  expect(JSON.parse(stream.body.toString('utf8', 5))).toMatchObject({
    error: { code: 'unauthenticated' },
  });
});

test('a refusal in gRPC is header fields that end the stream, as strict clients ask', async () => {
  const session = connectHttp2(`http://127.0.0.1:${waf.control.managementPort}`);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/waf.v1.SiteService/ListSites',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const endStreamFlag = 1;
  const [headers, flags] = await new Promise<[Record<string, unknown>, number]>((resolve) => {
    stream.on('response', (found, bits) => resolve([{ ...found }, bits]));
    stream.end(Buffer.from(encodeEnvelope(0, new Uint8Array())));
  });
  session.close();
  expect(headers).toMatchObject({ ':status': 200, 'grpc-status': '16' });
  expect(flags & endStreamFlag).toBe(endStreamFlag);
});

test('a client that expects 100-continue gets it', async () => {
  const text = Buffer.from('{"page":{"pageSize":1}}');
  const headers = { 'content-length': String(text.length), expect: '100-continue' };
  const reply = await post([text], { headers, path: 'SiteService/ListSites' });
  expect(reply).toMatchObject({ status: 200, sent: text.length });
});

test('nesting: deep JSON, deep structures, deep binary messages', async () => {
  const nest = (count: number, open: string, close: string, middle = ''): Buffer =>
    Buffer.from(open.repeat(count) + middle + close.repeat(count));
  const deep = [
    nest(100_000, '[', ']'),
    nest(5_000, '{"site":', '}', '{}'),
    nest(500, '{"values":', '}', '{}'),
  ];
  for (const body of deep) {
    const reply = await post([body], { path: 'SystemService/UpdateSystemSettings' });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'invalid_argument']);
  }
  // google.protobuf.Value holding a list holding a value, many times; lengths from the inside out.
  let binary: Buffer = Buffer.alloc(0);
  const wrap = (field: number, inner: Buffer): Buffer => {
    const length: number[] = [];
    for (let rest = inner.length; ; rest >>>= 7) {
      length.push(rest > 127 ? (rest & 127) | 128 : rest);
      if (rest <= 127) break;
    }
    return Buffer.concat([Buffer.from([(field << 3) | 2, ...length]), inner]);
  };
  for (let at = 0; at < 300; at++) binary = wrap(1, wrap(6, binary));
  const entry = Buffer.concat([wrap(1, Buffer.from('a')), wrap(2, wrap(6, binary))]);
  const request = wrap(1, wrap(1, entry));
  const reply = await post([request], {
    type: 'application/proto',
    path: 'SystemService/UpdateSystemSettings',
  });
  expect([reply.status, codeOf(reply)]).toEqual([400, 'invalid_argument']);
});

test('rules hold in binary and gRPC too, and name the field', async () => {
  const site = { name: 'x'.repeat(300), primaryHost: 'a.test' };
  const bytes = Buffer.from(
    toBinary(CreateSiteRequestSchema, create(CreateSiteRequestSchema, { site })),
  );
  const message = 'site.name: must be at most 256 characters';
  const connect = await post([bytes], { type: 'application/proto' });
  expect(JSON.parse(connect.body.toString())).toEqual({ code: 'invalid_argument', message });
  const web = await post([Buffer.from(encodeEnvelope(0, bytes))], {
    type: 'application/grpc-web+proto',
  });
  expect(web.body.toString()).toContain('grpc-status: 3');
  const trailers = await grpc(bytes);
  expect(trailers['grpc-status']).toBe('3');
  expect(decodeURIComponent(String(trailers['grpc-message']))).toBe(message);
});

/** One gRPC call over HTTP/2; resolves to its trailers. */
function grpc(bytes: Buffer): Promise<Record<string, unknown>> {
  const session = connectHttp2(`http://127.0.0.1:${waf.control.managementPort}`);
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/waf.v1.SiteService/CreateSite',
      'content-type': 'application/grpc+proto',
      authorization: `Bearer ${token}`,
      te: 'trailers',
    });
    stream.on('error', reject);
    stream.on('trailers', (trailers) => {
      resolve(Object.fromEntries(Object.entries(trailers)));
      session.close();
    });
    stream.resume();
    stream.end(Buffer.from(encodeEnvelope(0, bytes)));
  });
}

test('a session that calls too often waits; quiet ones do not', () => {
  let nowMs = 0;
  const rate = new CallRate(() => nowMs);
  const { callBurstMax, callsPerSecond } = callLimits;
  for (let at = 0; at < callBurstMax; at++) expect(rate.take('one')).toBe(true);
  expect(rate.take('one')).toBe(false);
  expect(rate.take('other')).toBe(true);
  nowMs += 1000;
  for (let at = 0; at < callsPerSecond; at++) expect(rate.take('one')).toBe(true);
  expect(rate.take('one')).toBe(false);
});

test('too many calls are resource_exhausted', async () => {
  // Time stands still, so that nothing is gained while the calls are on their way.
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now);
  try {
    const calls = Array.from({ length: callLimits.callBurstMax + 1 }, () =>
      waf.call('SystemService/Version', {}, { token }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(500);
    expect(statuses).toContain(429);
  } finally {
    clock.mockRestore();
  }
});
