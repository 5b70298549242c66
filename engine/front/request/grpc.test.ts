/** gRPC through a front: HTTP/2 with trailers on both sides, over cleartext and TLS origins. */

import http2 from 'node:http2';
import type net from 'node:net';
import { Code, ConnectError, createClient, type ConnectRouter } from '@connectrpc/connect';
import {
  connectNodeAdapter,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import type { SiteConfig } from '../../contract/site.ts';
import { makeCertificate } from '../../upstream/test-certificate.ts';
import { blockWith, Closing, listen, ScriptedInspector } from '../fixtures/fixture.ts';
import { secureSite, startSecureFront, type SecureRunning } from '../fixtures/secure-fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const host = 'grpc.test';
const { certificatePem, privateKeyPem } = makeCertificate('origin.test');

/** Answers of the origin's services. */
function routes(router: ConnectRouter): void {
  router.service(SystemService, {
    health: (_request, { requestHeader, responseTrailer }) => {
      responseTrailer.set('x-after', 'content');
      if (requestHeader.get('x-fail') !== null) {
        throw new ConnectError('no such thing', Code.NotFound, { 'x-why': 'asked for' });
      }
      return { status: 'ok', version: requestHeader.get('x-forwarded-for') ?? '' };
    },
  });
  router.service(LogService, {
    tailSecurityEvents: async function* ({ siteId }) {
      for (let at = 0; at < 200; at++) yield { event: { id: String(at), siteId } };
    },
  });
}

function originOf(secure: boolean): http2.Http2Server {
  const handler = connectNodeAdapter({ routes });
  const server = secure
    ? http2.createSecureServer({ cert: certificatePem, key: privateKeyPem }, handler)
    : http2.createServer(handler);
  server.on('session', (session) => closing.add(() => session.destroy()));
  closing.add(() => void server.close());
  return server as http2.Http2Server;
}

async function start(
  server: net.Server,
  change: Partial<SiteConfig['upstream']> = {},
  inspector: ScriptedInspector | null = null,
): Promise<SecureRunning> {
  const port = await listen(server);
  const site = secureSite(port, host);
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
  const upstream = { ...site.upstream, ...change };
  const sites = [{ ...site, upstream, ...(inspector === null ? {} : { waf }) }];
  return startSecureFront(closing, sites, {}, undefined, inspector);
}

function transportTo({ securePort }: SecureRunning) {
  const nodeOptions = { rejectUnauthorized: false, servername: host };
  return createGrpcTransport({
    baseUrl: `https://${host}:${securePort}`,
    nodeOptions: { ...nodeOptions, lookup: toLoopback } as never,
  });
}

const toLoopback: net.LookupFunction = (_name, options, done) => {
  if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
  else done(null, '127.0.0.1', 4);
};

describe.each([
  ['cleartext', false],
  ['TLS', true],
])('to an origin over %s', (_, secure) => {
  const change: Partial<SiteConfig['upstream']> = secure
    ? { scheme: 'https', serverName: 'origin.test', caPem: certificatePem }
    : {};

  test('a unary call has its answer and its trailers', async () => {
    const front = await start(originOf(secure), change);
    const client = createClient(SystemService, transportTo(front));
    let after = '';
    const onTrailer = (trailer: Headers): void => void (after = trailer.get('x-after') ?? '');
    const answer = await client.health({}, { onTrailer });
    expect(answer).toMatchObject({ status: 'ok', version: '127.0.0.1' });
    expect(after).toBe('content');
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ status: 200, outcome: 'served', httpVersion: 'HTTP/2' });
  });

  test('an error is in the trailers, with its text', async () => {
    const front = await start(originOf(secure), change);
    const client = createClient(SystemService, transportTo(front));
    const failed = await client
      .health({}, { headers: { 'x-fail': '1' } })
      .then(() => null, ConnectError.from);
    expect(failed).toMatchObject({ code: Code.NotFound, rawMessage: 'no such thing' });
    expect(failed?.metadata.get('x-why')).toBe('asked for');
  });

  test('a stream of answers arrives whole and in order', async () => {
    const front = await start(originOf(secure), change);
    const client = createClient(LogService, transportTo(front));
    const ids: string[] = [];
    for await (const { event } of client.tailSecurityEvents({ siteId: 's' })) {
      ids.push(event?.id ?? '');
    }
    expect(ids).toEqual(Array.from({ length: 200 }, (__, at) => String(at)));
  });

  test('many calls share a session', async () => {
    const server = originOf(secure);
    let sessions = 0;
    server.on('session', () => sessions++);
    const client = createClient(SystemService, transportTo(await start(server, change)));
    const answers = await Promise.all(Array.from({ length: 60 }, () => client.health({})));
    expect(answers.every(({ status }) => status === 'ok')).toBe(true);
    expect(sessions).toBe(1);
  });
});

test('rules see the call, and what they block never reaches the origin', async () => {
  const server = originOf(false);
  let calls = 0;
  server.on('stream', () => calls++);
  let seen = -1;
  const need = { inspect: true, limitBytes: 10_000, onExcess: 'prefix' } as const;
  const inspector = new ScriptedInspector({
    bodyNeed: need,
    body: (body) => {
      seen = body?.bytes.length ?? -1;
      return blockWith(403, 2);
    },
  });
  const front = await start(server, {}, inspector);
  const client = createClient(SystemService, transportTo(front));
  await expect(client.health({})).rejects.toThrow();
  const [event] = await front.eventsReach(1);
  expect(event).toMatchObject({ blocked: true, status: 403 });
  expect(calls).toBe(0);
  // A message is five bytes and its content.
  expect(seen).toBe(5);
});

test('a call whose messages and answers are inspected passes with its trailers', async () => {
  const need = { inspect: true, limitBytes: 10_000, onExcess: 'prefix' } as const;
  const inspector = new ScriptedInspector({ bodyNeed: need, responseNeed: need, later: true });
  const front = await start(originOf(false), {}, inspector);
  const client = createClient(SystemService, transportTo(front));
  let after = '';
  const onTrailer = (trailer: Headers): void => void (after = trailer.get('x-after') ?? '');
  expect(await client.health({}, { onTrailer })).toMatchObject({ status: 'ok' });
  expect(after).toBe('content');
});

interface Answer {
  readonly status: number;
  readonly trailers: http2.IncomingHttpHeaders;
  readonly body: string;
  /** Error code of the stream. */
  readonly code: number;
}

/** One gRPC request by hand; `begun` is called with the head of its answer. */
function callBy(front: SecureRunning, begun: () => void = () => undefined): Promise<Answer> {
  const client = http2.connect(`https://127.0.0.1:${front.securePort}`, {
    servername: host,
    rejectUnauthorized: false,
  });
  client.on('error', () => undefined);
  closing.add(() => client.destroy());
  const stream = client.request({
    ...{ ':method': 'POST', ':path': '/a.B/C', ':authority': host },
    ...{ 'content-type': 'application/grpc+proto', te: 'trailers' },
  });
  stream.end('hello');
  return new Promise((resolve) => {
    let [status, body] = [0, ''];
    let trailers: http2.IncomingHttpHeaders = {};
    stream.on('response', (fields) => {
      status = fields[':status'] ?? 0;
      begun();
    });
    stream.on('data', (bytes: Buffer) => (body += bytes.toString()));
    stream.on('trailers', (fields: http2.IncomingHttpHeaders) => (trailers = fields));
    stream.on('error', () => undefined);
    stream.on('close', () => resolve({ status, body, trailers, code: stream.rstCode ?? 0 }));
  });
}

/** An origin that answers each stream by hand. */
async function rawFront(answer: (stream: http2.ServerHttp2Stream) => void): Promise<SecureRunning> {
  const server = http2.createServer();
  server.on('session', (session) => closing.add(() => session.destroy()));
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    answer(stream);
  });
  closing.add(() => void server.close());
  return start(server);
}

test('what origins get is the request, once, and te: trailers', async () => {
  let seen: http2.IncomingHttpHeaders = {};
  const front = await rawFront((stream) => {
    stream.respond({ ':status': 200 });
    stream.end();
  });
  const server = http2.createServer();
  server.on('stream', (stream, headers) => {
    seen = headers;
    stream.respond({ ':status': 200 });
    stream.end();
  });
  closing.add(() => void server.close());
  const other = await start(server);
  await Promise.all([callBy(front), callBy(other)]);
  expect(seen).toMatchObject({
    ...{ ':method': 'POST', ':path': '/a.B/C', ':authority': host, ':scheme': 'http' },
    ...{ te: 'trailers', 'content-type': 'application/grpc+proto', 'x-forwarded-for': '127.0.0.1' },
  });
  expect(Object.keys(seen)).not.toContain('transfer-encoding');
  expect(Object.keys(seen)).not.toContain('host');
});

test('trailers without content, and an answer that is trailers alone', async () => {
  const front = await rawFront((stream) => {
    if (stream.id === 1) {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '5' }));
      stream.end();
    } else stream.respond({ ':status': 200, 'grpc-status': '7' }, { endStream: true });
  });
  expect(await callBy(front)).toMatchObject({
    body: '',
    trailers: { 'grpc-status': '5' },
    code: 0,
  });
  expect(await callBy(front)).toMatchObject({ status: 200, body: '', code: 0 });
});

test('trailers that would frame or route are left out, the others arrive', async () => {
  const front = await rawFront((stream) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.on('wantTrailers', () => {
      stream.sendTrailers({ host: 'b', trailer: 'x', 'grpc-status': '0', 'x-b': 'c' });
    });
    stream.end('content');
  });
  const { body, trailers } = await callBy(front);
  expect(body).toBe('content');
  expect(Object.entries(trailers)).toEqual([
    ['grpc-status', '0'],
    ['x-b', 'c'],
  ]);
});

type Begun = Promise<void>;

test.each<[string, (stream: http2.ServerHttp2Stream, begun: Begun) => void, object]>([
  [
    'is reset before its head',
    (stream) => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR),
    { status: 502, code: 0 },
  ],
  [
    'is reset in the middle',
    (stream, begun) => {
      stream.respond({ ':status': 200 });
      stream.write('part');
      void begun.then(() => stream.destroy(new Error('broken')));
    },
    { status: 200, code: http2.constants.NGHTTP2_CANCEL },
  ],
  [
    'breaks off with its connection',
    (stream, begun) => {
      stream.respond({ ':status': 200 });
      stream.write('part');
      void begun.then(() => stream.session?.destroy());
    },
    { status: 200, code: http2.constants.NGHTTP2_CANCEL },
  ],
  [
    'has trailers past the bound',
    (stream) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-message': 'x'.repeat(9_000) }));
      stream.end('content');
    },
    { code: http2.constants.NGHTTP2_CANCEL },
  ],
])('an answer that %s is not taken for a whole one', async (_, answer, wanted) => {
  let tell = (): void => undefined;
  const begun = new Promise<void>((resolve) => (tell = resolve));
  const front = await rawFront((stream) => answer(stream, begun));
  expect(await callBy(front, tell)).toMatchObject(wanted);
  const [event] = await front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'origin_error' });
});

test('a session that the origin ends is replaced', async () => {
  let streams = 0;
  let ended = 0;
  const front = await rawFront((stream) => {
    streams++;
    stream.respond({ ':status': 200 });
    stream.end('content');
    // A stream that is closed knows its session no more.
    const { session } = stream;
    session?.on('close', () => ended++);
    stream.on('close', () => session?.close());
  });
  expect((await callBy(front)).body).toBe('content');
  await eventually(() => ended > 0);
  expect((await callBy(front)).body).toBe('content');
  expect(streams).toBe(2);
});

test('gRPC-Web is plain HTTP, with trailers in its content', async () => {
  const handler = connectNodeAdapter({ routes });
  const { createServer } = await import('node:http');
  const server = createServer(handler);
  closing.add(() => void server.close());
  const front = await start(server);
  const client = createClient(
    SystemService,
    createGrpcWebTransport({
      baseUrl: `https://${host}:${front.securePort}`,
      httpVersion: '2',
      nodeOptions: { rejectUnauthorized: false, lookup: toLoopback } as never,
    }),
  );
  expect(await client.health({})).toMatchObject({ status: 'ok' });
});

test('an origin that speaks no HTTP/2 is a failure of the origin', async () => {
  const { createServer } = await import('node:http');
  const server = createServer((_request, response) => response.end('hello'));
  closing.add(() => void server.close());
  const front = await start(server);
  const client = createClient(SystemService, transportTo(front));
  await expect(client.health({})).rejects.toThrow();
  const [event] = await front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'origin_error', status: 502 });
});
