/**
 * Every driver against a stub of its provider that checks signatures as the provider's manual says,
 * and keeps records: what is added is there, what is taken back is gone.
 */

import { createHash, createHmac } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { dnsProviderDrivers } from '../../domain/site/dns-providers.ts';
import type { DnsAccount } from './driver.ts';
import { dnsDrivers } from './list.ts';

const nowMs = Date.parse('2026-01-02T03:04:05.678Z');
const name = '_acme-challenge.www.a.test';
const value = 'Zm9vYmFy_-proof';
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((done) => server.close(done));
});

/** TXT records, as `name value`. */
type Records = Set<string>;

function accountWith(change: Partial<DnsAccount>): DnsAccount {
  const call = { allowedNetworks: ['127.0.0.0/8'], caPem: '', plain: true };
  return { zones: [], settings: {}, credentials: {}, call, nowMs: () => nowMs, ...change };
}

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An HTTP API; null is a refusal. */
async function api(answer: (asked: Asked) => [number, string]): Promise<string> {
  const server = http.createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const { method = '', headers } = request;
      const url = new URL(request.url ?? '', 'http://stub');
      const [status, text] = answer({ method, url, headers, body });
      response.writeHead(status).end(text);
    });
  });
  return `http://127.0.0.1:${await listening(server)}`;
}

function cloudflareApi(records: Records) {
  return ({ method, url, headers, body }: Asked): [number, string] => {
    if (headers.authorization !== 'Bearer token') return [403, '{"success":false}'];
    const result = (what: unknown): [number, string] => [200, JSON.stringify({ result: what })];
    if (method === 'GET') {
      return result(url.searchParams.get('name') === 'a.test' ? [{ id: 'zone1' }] : []);
    }
    if (method === 'POST' && url.pathname === '/zones/zone1/dns_records') {
      const { type, name: at, content } = JSON.parse(body) as Record<string, string>;
      records.add(`${at} ${content}`);
      return result({ id: type === 'TXT' ? 'record1' : '' });
    }
    if (url.pathname !== '/zones/zone1/dns_records/record1') return [404, '{}'];
    records.clear();
    return result({ id: 'record1' });
  };
}

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Source: AWS, "Create a signed AWS API request". */
function awsSignature({ method, url, headers, body }: Asked): string {
  const names = ['host', 'x-amz-date', 'x-amz-security-token'];
  const lines = names.map((one) => `${one}:${String(headers[one])}`);
  const path = [method, url.pathname, url.search.slice(1)];
  const canonical = [...path, ...lines, '', names.join(';'), sha256(body)].join('\n');
  const scope = '20260102/us-east-1/route53/aws4_request';
  const text = ['AWS4-HMAC-SHA256', '20260102T030405Z', scope, sha256(canonical)].join('\n');
  const key = hmac(
    hmac(hmac(hmac('AWS4secret', '20260102'), 'us-east-1'), 'route53'),
    'aws4_request',
  );
  const signature = hmac(key, text).toString('hex');
  const signed = `SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return `AWS4-HMAC-SHA256 Credential=AKID/${scope}, ${signed}`;
}

function route53Api(records: Records) {
  return (asked: Asked): [number, string] => {
    if (asked.headers.authorization !== awsSignature(asked)) return [403, 'SignatureDoesNotMatch'];
    if (asked.method === 'GET') {
      // The first zone from this name on, which may be another.
      const zone = asked.url.searchParams.get('dnsname') === 'a.test' ? 'a.test' : 'z.test';
      const found = `<HostedZone><Id>/hostedzone/Z1</Id><Name>${zone}.</Name></HostedZone>`;
      return [200, `<ListHostedZonesByNameResponse>${found}</ListHostedZonesByNameResponse>`];
    }
    if (asked.url.pathname !== '/2013-04-01/hostedzone/Z1/rrset') return [404, ''];
    const [, action, at, text] =
      /<Action>(\w+)<.*<Name>([^<]+)\.<\/Name><Type>TXT<.*<Value>"([^"]+)"</.exec(asked.body) ?? [];
    if (action === 'UPSERT') records.add(`${at} ${text}`);
    if (action === 'DELETE') records.delete(`${at} ${text}`);
    return [200, ''];
  };
}

/** Source: Alibaba Cloud, "Request signatures" of RPC APIs. */
function aliyunApi(records: Records) {
  const escaped = (text: string): string =>
    encodeURIComponent(text).replaceAll('*', '%2A').replaceAll("'", '%27');
  return ({ url }: Asked): [number, string] => {
    const fields = new Map(url.searchParams);
    const signature = fields.get('Signature');
    fields.delete('Signature');
    const sorted = [...fields].sort(([left], [right]) => (left < right ? -1 : 1));
    const query = sorted.map(([key, text]) => `${escaped(key)}=${escaped(text)}`).join('&');
    const signed = createHmac('sha1', 'secret&').update(`GET&%2F&${escaped(query)}`);
    if (signature !== signed.digest('base64')) return [400, '{"Code":"SignatureDoesNotMatch"}'];
    if (fields.get('Timestamp') !== '2026-01-02T03:04:05Z') return [400, '{"Code":"Expired"}'];
    if (fields.get('Action') === 'DeleteDomainRecord') {
      if (fields.get('RecordId') === '9') records.clear();
      return [200, '{}'];
    }
    if (fields.get('DomainName') !== 'a.test') return [400, '{"Code":"InvalidDomainName.NoExist"}'];
    records.add(`${fields.get('RR')}.a.test ${fields.get('Value')}`);
    return [200, '{"RecordId":"9"}'];
  };
}

const webDrivers = {
  cloudflare: { api: cloudflareApi, credentials: { apiToken: 'token' } },
  route53: {
    api: route53Api,
    credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'session' },
  },
  aliyun: { api: aliyunApi, credentials: { accessKeyId: 'AKID', accessKeySecret: 'secret' } },
} as const;

test('every driver that can be named is there and proved here', () => {
  expect(Object.keys(dnsDrivers).sort()).toEqual([...dnsProviderDrivers].sort());
  expect([...Object.keys(webDrivers), 'rfc2136'].sort()).toEqual([...dnsProviderDrivers].sort());
});

test.each(Object.entries(webDrivers))(
  '%s adds a record and takes it back',
  async (kind, driver) => {
    const records: Records = new Set();
    const endpoint = await api(driver.api(records));
    for (const zones of [['a.test'], []]) {
      const account = accountWith({
        zones,
        settings: { endpoint },
        credentials: driver.credentials,
      });
      const takeBack = await dnsDrivers[kind]!(account).add(name, value);
      expect([...records]).toEqual([`${name} ${value}`]);
      await takeBack();
      expect([...records]).toEqual([]);
    }
  },
);

test.each(Object.entries(webDrivers))(
  '%s says what is refused, and what is missing',
  async (kind, driver) => {
    const endpoint = await api(driver.api(new Set()));
    const wrong = Object.fromEntries(Object.keys(driver.credentials).map((key) => [key, 'wrong']));
    const refused = accountWith({ zones: ['a.test'], settings: { endpoint }, credentials: wrong });
    await expect(dnsDrivers[kind]!(refused).add(name, value)).rejects.toMatchObject({
      code: 'dns_provider',
      message: expect.stringMatching(/answered with status 40[03]/) as string,
    });
    const none = async () =>
      dnsDrivers[kind]!(accountWith({ settings: { endpoint } })).add(name, value);
    await expect(none()).rejects.toThrow(/the account lacks \w+: waf cert dns-update sets it/);
    const other = accountWith({ settings: { endpoint }, credentials: driver.credentials });
    await expect(dnsDrivers[kind]!(other).add('_acme-challenge.b.test', value)).rejects.toThrow(
      /has no (hosted )?zone for _acme-challenge.b.test/,
    );
  },
);

const secret = Buffer.from('a secret of thirty-two bytes ....');

/** The name at `at` of a message without compression, and where it ends. */
function readName(message: Buffer, at: number): [string, number] {
  const labels: string[] = [];
  let next = at;
  for (let size = message[next]!; size > 0; size = message[next]!) {
    labels.push(message.toString('latin1', next + 1, next + 1 + size));
    next += 1 + size;
  }
  return [labels.join('.'), next + 1];
}

/** A server of DNS that takes updates signed with the key (RFC 2136, RFC 8945); its result code. */
function takeUpdate(message: Buffer, records: Records): number {
  if (message.readUInt16BE(2) !== 0x2800) return 4;
  const [zone, zoneEnd] = readName(message, 12);
  const [owner, ownerEnd] = readName(message, zoneEnd + 4);
  const recordClass = message.readUInt16BE(ownerEnd + 2);
  const dataAt = ownerEnd + 10;
  const signatureAt = dataAt + message.readUInt16BE(ownerEnd + 8);
  const [key, keyEnd] = readName(message, signatureAt);
  const [algorithm, algorithmEnd] = readName(message, keyEnd + 10);
  const macAt = algorithmEnd + 10;
  const macEnd = macAt + message.readUInt16BE(algorithmEnd + 8);
  const unsigned = Buffer.from(message.subarray(0, signatureAt));
  unsigned.writeUInt16BE(message.readUInt16BE(10) - 1, 10);
  const variables = [
    message.subarray(signatureAt, keyEnd),
    message.subarray(keyEnd + 2, keyEnd + 8),
    message.subarray(keyEnd + 10, algorithmEnd + 8),
    message.subarray(macEnd + 2, macEnd + 6),
  ];
  const mac = createHmac(algorithm.replace('hmac-', ''), secret);
  for (const bytes of [unsigned, ...variables]) mac.update(bytes);
  const right = mac.digest().equals(message.subarray(macAt, macEnd));
  const seconds = message.readUIntBE(algorithmEnd, 6);
  if (key !== 'key.a.test' || !right || seconds !== Math.floor(nowMs / 1000)) return 9;
  if (zone !== 'a.test') return 10;
  const text = message.toString('latin1', dataAt + 1, dataAt + 1 + message[dataAt]!);
  if (recordClass === 1) records.add(`${owner} ${text}`);
  if (recordClass === 254) records.delete(`${owner} ${text}`);
  return 0;
}

async function dnsServer(records: Records): Promise<string> {
  const server = createServer((socket: Socket) => {
    let received = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const message = received.subarray(2);
      const answer = Buffer.from(message.subarray(0, 12));
      answer.writeUInt16BE(0xa800 | takeUpdate(message, records), 2);
      // In two pieces, as TCP may.
      socket.write(Buffer.from([0]));
      setImmediate(() => socket.end(Buffer.concat([Buffer.from([12]), answer])));
    });
  });
  return `127.0.0.1:${await listening(server)}`;
}

test.each(['hmac-sha256', 'hmac-sha384', 'hmac-sha512'])(
  'rfc2136 adds a record and takes it back, signed with %s',
  async (algorithm) => {
    const records: Records = new Set();
    const server = await dnsServer(records);
    const settings = { server, keyName: 'key.a.test', algorithm };
    const credentials = { secret: secret.toString('base64') };
    const account = accountWith({ zones: ['test', 'a.test'], settings, credentials });
    const takeBack = await dnsDrivers['rfc2136']!(account).add(name, value);
    expect([...records]).toEqual([`${name} ${value}`]);
    await takeBack();
    expect([...records]).toEqual([]);
  },
);

test('rfc2136 says what the server refuses, and what is missing', async () => {
  const server = await dnsServer(new Set());
  const credentials = { secret: secret.toString('base64') };
  const adding = (change: Partial<DnsAccount>, settings: Record<string, string> = {}) => {
    const all = { server, keyName: 'key.a.test', ...settings };
    const account = accountWith({ zones: ['a.test'], credentials, settings: all, ...change });
    return dnsDrivers['rfc2136']!(account).add(name, value);
  };
  await expect(adding({ credentials: { secret: 'AAAA' } })).rejects.toThrow(
    /does not know the key/,
  );
  await expect(adding({}, { keyName: 'other.test' })).rejects.toThrow(/does not know the key/);
  await expect(adding({ zones: ['www.a.test'] })).rejects.toThrow(/the name is not in the zone/);
  await expect(adding({ zones: [] })).rejects.toThrow(/names no zone for _acme-challenge/);
  await expect(adding({ credentials: {} })).rejects.toThrow(/the account lacks secret/);
  await expect(adding({}, { algorithm: 'md5' })).rejects.toThrow(/algorithm is one of hmac-sha256/);
  await expect(adding({}, { server: 'a b:x' })).rejects.toThrow(/server is HOST or HOST:PORT/);
  const gone = servers.pop()!;
  await new Promise((done) => gone.close(done));
  await expect(adding({})).rejects.toThrow(/the DNS server could not be asked: ECONNREFUSED/);
});
