/**
 * Every field of a pool that can be set does something at the proxy: a stored pool goes the way of
 * a publication, is encoded and decoded, and requests are sent through a front that serves it.
 */

import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { fromBinary, toBinary, type DescMessage } from '@bufbuild/protobuf';
import { afterEach, expect, test } from 'vitest';
import { toBundleUpstream, poolUpstream } from '../../control/publish/build-bundle.ts';
import type { UpstreamRecord } from '../../control/domain/records.ts';
import { toUpstream } from '../../engine/bundle/runtime-config.ts';
import type { UpstreamConfig } from '../../engine/contract/site.ts';
import { Closing, RawClient, siteFor, startFront } from '../../engine/front/fixtures/fixture.ts';
import { makeCertificate } from '../../engine/upstream/test-certificate.ts';
import { RuntimeUpstreamSchema } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import {
  UpstreamHealthCheckSchema,
  UpstreamResiliencePolicySchema,
  UpstreamTlsSchema,
} from '../../proto/gen/waf/v1/upstream_pb.ts';
import { UpstreamEndpointSchema } from '../../proto/gen/waf/v1/common_pb.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

const closing = new Closing();
afterEach(() => closing.run());

type Pool = Partial<Pick<UpstreamRecord, 'endpoints' | 'tls' | 'resilience' | 'healthCheck'>> & {
  readonly requestHeaders?: Readonly<Record<string, string>>;
};

/** The pool as an engine reads it from a bundle. */
function published(pool: Pool): UpstreamConfig {
  const record = { id: 'u1', name: 'pool', tenantId: 'default', ...pool } as UpstreamRecord;
  const bytes = toBinary(RuntimeUpstreamSchema, poolUpstream(toBundleUpstream(record)));
  return toUpstream(fromBinary(RuntimeUpstreamSchema, bytes));
}

/** Sends requests one after another through a front; resolves to the status of each. */
async function statuses(pool: Pool, count = 1): Promise<number[]> {
  const { port } = await startFront(closing, [siteFor(0, { upstream: published(pool) })]);
  const found: number[] = [];
  for (let at = 0; at < count; at++) found.push(await ask(port));
  return found;
}

async function ask(port: number): Promise<number> {
  const wire = 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n';
  const text = await new RawClient(port).send(wire).all();
  return Number(text.split(' ')[1]);
}

async function serve(server: http.Server | https.Server, port = 0): Promise<number> {
  closing.add(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** An origin; what it counts is its requests, and it keeps the last one's fields. */
async function origin(): Promise<{ url: string; asked: () => number; seen: () => object }> {
  let count = 0;
  let seen: object = {};
  const server = http.createServer(({ headers }, response) => {
    count++;
    seen = headers;
    response.end('ok');
  });
  const url = `http://127.0.0.1:${await serve(server)}`;
  return { url, asked: () => count, seen: () => seen };
}

const own = makeCertificate('origin.test');
const other = makeCertificate('origin.test');

async function secureOrigin(): Promise<{ url: string; names: string[] }> {
  const names: string[] = [];
  const options = { key: own.privateKeyPem, cert: own.certificatePem };
  const server = https.createServer(options, (_request, response) => response.end('ok'));
  server.on('secureConnection', (socket: TLSSocket & { servername?: string | false }) => {
    names.push(String(socket.servername));
  });
  return { url: `https://127.0.0.1:${await serve(server)}`, names };
}

/** What proves each field; a new field fails here until it is proved. */
const proofs: readonly (readonly [DescMessage, readonly string[]])[] = [
  [UpstreamTlsSchema, ['caPem', 'serverName', 'skipVerify']],
  [UpstreamEndpointSchema, ['healthCheckPath', 'url', 'weight']],
  [
    UpstreamResiliencePolicySchema,
    [
      ...['passiveFailDurationSeconds', 'passiveHealthEnabled', 'passiveMaxFails'],
      ...['retryDurationSeconds', 'retryEnabled', 'retryIntervalMilliseconds'],
    ],
  ],
  [
    UpstreamHealthCheckSchema,
    [
      ...['expectedBody', 'expectedStatus', 'followRedirects', 'healthyThreshold', 'host'],
      ...['intervalSeconds', 'method', 'path', 'timeoutSeconds', 'unhealthyThreshold'],
    ],
  ],
];

test.each(proofs)('%s has no field that nothing here proves', (schema, fields) => {
  expect(schema.fields.map(({ jsonName }) => jsonName).sort()).toEqual([...fields].sort());
});

/** Settings, the status, and the names that the origin was asked for where it was reached. */
const tlsRows: readonly (readonly [string, NonNullable<Pool['tls']>, number, string[] | null])[] = [
  ['without settings an own authority is not trusted', {}, 502, null],
  ['caPem trusts it, for its own name', { caPem: own.certificatePem }, 502, null],
  [
    'serverName is asked for and verified',
    { caPem: own.certificatePem, serverName: 'origin.test' },
    200,
    ['origin.test'],
  ],
  ['another name is refused', { caPem: own.certificatePem, serverName: 'else.test' }, 502, null],
  [
    'caPem stands in place of all others',
    { caPem: other.certificatePem, serverName: 'origin.test' },
    502,
    null,
  ],
  ['skipVerify accepts any, and asks for no address', { skipVerify: true }, 200, ['false']],
];

test.each(tlsRows)('TLS to origins: %s', async (_name, tls, status, asked) => {
  const { url, names } = await secureOrigin();
  expect(await statuses({ endpoints: [{ url, weight: 1 }], tls })).toEqual([status]);
  expect(status === 200 ? names : null).toEqual(asked);
});

test('weights share requests', async () => {
  const [one, two] = [await origin(), await origin()];
  const endpoints = [
    { url: one.url, weight: 3 },
    { url: two.url, weight: 1 },
  ];
  expect(new Set(await statuses({ endpoints }, 12))).toEqual(new Set([200]));
  expect([one.asked(), two.asked()]).toEqual([9, 3]);
});

test('fields of the operator are sent', async () => {
  const { url, seen } = await origin();
  const requestHeaders = { 'X-From': 'proxy', Host: 'inner.test' };
  expect(await statuses({ endpoints: [{ url, weight: 1 }], requestHeaders })).toEqual([200]);
  expect(seen()).toMatchObject({ 'x-from': 'proxy', host: 'inner.test' });
});

/** An origin that takes requests and answers none, beside one that answers. */
async function halfDead(): Promise<NonNullable<Pool['endpoints']>> {
  const dead = http.createServer((request) => request.socket.destroy());
  const { url } = await origin();
  const deadUrl = `http://127.0.0.1:${await serve(dead)}`;
  return [
    { url: deadUrl, weight: 1 },
    { url, weight: 1 },
  ];
}

test.each([1, 3])('passiveMaxFails %i sets an endpoint aside', async (passiveMaxFails) => {
  const resilience = { passiveHealthEnabled: true, passiveMaxFails };
  const found = await statuses({ endpoints: await halfDead(), resilience }, 12);
  expect(found.filter((status) => status === 502)).toHaveLength(passiveMaxFails);
});

test('passiveFailDurationSeconds ends, and passiveHealthEnabled turns it off', async () => {
  const off = { passiveHealthEnabled: false, passiveMaxFails: 1 };
  const found = await statuses({ endpoints: await halfDead(), resilience: off }, 12);
  expect(found.filter((status) => status === 502)).toHaveLength(6);

  const resilience = {
    passiveHealthEnabled: true,
    passiveMaxFails: 1,
    passiveFailDurationSeconds: 1,
  };
  const upstream = published({ endpoints: await halfDead(), resilience });
  const { port } = await startFront(closing, [siteFor(0, { upstream })]);
  let failures = 0;
  while (failures < 2) if ((await ask(port)) === 502) failures++;
  expect(failures).toBe(2);
});

test('retryEnabled waits for an address that listens, and without it nobody waits', async () => {
  const port = await freePort();
  const endpoints = [{ url: `http://127.0.0.1:${port}`, weight: 1 }];
  expect(await statuses({ endpoints, resilience: { retryEnabled: false } })).toEqual([502]);

  const resilience = {
    retryEnabled: true,
    retryDurationSeconds: 60,
    retryIntervalMilliseconds: 20,
  };
  const upstream = published({ endpoints, resilience });
  const running = await startFront(closing, [siteFor(0, { upstream })]);
  const waiting = ask(running.port);
  await eventually(() => running.front.drainOriginNotes().length > 0);
  await serve(
    http.createServer((_request, response) => response.end('ok')),
    port,
  );
  expect(await waiting).toBe(200);
});

test('every setting of probes reaches the node as it was set', () => {
  const endpoints = [{ url: 'http://127.0.0.1:9', weight: 1 }];
  const healthCheck = {
    path: '/health',
    method: 'HEAD',
    expectedStatus: 204,
    intervalSeconds: 7,
    timeoutSeconds: 3,
    unhealthyThreshold: 5,
    healthyThreshold: 4,
    followRedirects: true,
    expectedBody: 'fine',
    host: 'probe.test',
  };
  expect(published({ endpoints, healthCheck }).healthCheck).toMatchObject(healthCheck);
  const named = [{ url: 'http://127.0.0.1:9', weight: 1, healthCheckPath: '/alive' }];
  expect(published({ endpoints: named }).healthCheck).toMatchObject({ path: '/alive' });
  expect(published({ endpoints }).healthCheck).toBeUndefined();
});
