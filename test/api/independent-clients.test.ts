/**
 * The proof that clients we did not write can use the API from proto/ alone: buf curl in three
 * protocols, curl with plain JSON, gRPC and gRPC-Web from the Connect library, all over TLS.
 */

import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LogService } from '../../proto/gen/waf/v1/log_pb.ts';
import { SiteService } from '../../proto/gen/waf/v1/site_pb.ts';
import { root } from '../support/product.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';

let waf: TestControl;
let base = '';
let caFile = '';
let token = '';
/** What buf makes of proto/, once for all calls. */
let schema = '';

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null, managementTls: 'own' });
  base = `https://127.0.0.1:${waf.control.managementPort}`;
  caFile = join(waf.folder, 'tls', 'ca.pem');
  const login = await waf.call('AuthService/Login', { username: 'admin', password: waf.password });
  token = String(login.body['accessToken']);
  schema = join(waf.folder, 'schema.binpb');
  const built = await run(buf, ['build', 'proto', '--output', schema]);
  if (built.code !== 0) throw new Error(`buf build: ${built.stderr}`);
});
afterAll(async () => {
  await waf.control.close();
  rmSync(waf.folder, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program beside this process, whose event loop serves it. */
function run(command: string, args: readonly string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 128, stdout, stderr }));
  });
}

const buf = join(root, 'node_modules', '.bin', 'buf');

function bufCurl(protocol: string, rpc: string, body: object, ...more: string[]): Promise<Ran> {
  const flags = ['--schema', schema, '--protocol', protocol, '--cacert', caFile];
  const header = ['--header', `Authorization: Bearer ${token}`];
  const data = ['--data', JSON.stringify(body)];
  return run(buf, ['curl', ...flags, ...header, ...data, ...more, `${base}/waf.v1.${rpc}`]);
}

interface Shown {
  readonly id: string;
  readonly revision: string;
  readonly name: string;
}
interface Page {
  readonly items?: readonly Shown[];
  readonly page: { readonly total: string };
}
/** An RPC error of buf curl: the code is the exit code divided by eight. */
const failure = ({ code, stderr }: Ran): unknown => {
  const { code: name, message } = JSON.parse(stderr) as { code: string; message: string };
  return [code / 8, name, message.replace(/:.*/s, '')];
};

test.each(['connect', 'grpc', 'grpcweb'])('buf curl over the published proto: %s', async (how) => {
  const site = { name: how, primaryHost: `${how}.test`, upstreams: [{ inline: { url: base } }] };
  const made = await bufCurl(how, 'SiteService/CreateSite', { site });
  expect(made.stderr).toBe('');
  const { id, revision } = (JSON.parse(made.stdout) as { site: Shown }).site;
  expect(revision).toBe('1');
  const change = { site: { id, name: `${how} changed` }, updateMask: 'name' };
  const stale = await bufCurl(how, 'SiteService/UpdateSite', { ...change, revision: '9' });
  expect(failure(stale)).toEqual([Code.Aborted, 'aborted', 'revision']);
  const right = await bufCurl(how, 'SiteService/UpdateSite', { ...change, revision });
  expect(JSON.parse(right.stdout)).toMatchObject({ site: { name: `${how} changed` } });
  const twice = await bufCurl(how, 'SiteService/CreateSite', {
    site: { ...site, name: 'other' },
  });
  expect(failure(twice)).toEqual([Code.AlreadyExists, 'already_exists', 'site.primaryHost']);
  const wrong = await bufCurl(how, 'SiteService/ListSites', { page: { pageSize: 1000 } });
  expect(failure(wrong)).toEqual([Code.InvalidArgument, 'invalid_argument', 'page.pageSize']);
});

test('buf curl pages a list of 500', async () => {
  for (let n = 0; n < 500; n++) {
    const role = { name: `buf ${n}`, permissions: ['site:read'] };
    expect((await waf.call('RoleService/CreateRole', { role })).status).toBe(200);
  }
  const names = new Set<string>();
  let pages = 0;
  for (let total = 1; names.size < total && pages < 10; pages++) {
    const page = { page: pages + 1, pageSize: 200 };
    const answer = await bufCurl('connect', 'RoleService/ListRoles', { query: 'buf ', page });
    const found = JSON.parse(answer.stdout) as Page;
    total = Number(found.page.total);
    for (const { name } of found.items ?? []) names.add(name);
  }
  expect([names.size, pages]).toEqual([500, 3]);
});

test('buf curl on the administration socket needs no token', async () => {
  const socket = ['--unix-socket', waf.socket, '--schema', schema, '--data', '{}'];
  const found = await run(buf, [
    'curl',
    ...socket,
    'http://localhost/waf.v1.SystemService/Version',
  ]);
  expect(found.stderr).toBe('');
  expect(JSON.parse(found.stdout)).toHaveProperty('build.version');
});

const curlIsHere = spawnSync('curl', ['--version']).status === 0;
if (!curlIsHere) console.log('skipped: no curl');

test.runIf(curlIsHere)('a shell script with curl and plain JSON', async () => {
  const script = join(root, 'test', 'api', 'plain-json.sh');
  const { code, stdout, stderr } = await run('sh', [
    script,
    base,
    caFile,
    waf.control.passwordFile,
  ]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^plain JSON: site \S+, stale revision refused, 500 roles on 3 pages/);
});

test('gRPC, gRPC-Web and Connect from a library: calls, errors, a stream', async () => {
  const nodeOptions = { ca: readFileSync(caFile) };
  const headers = { authorization: `Bearer ${token}` };
  const transports: [string, Transport][] = [
    ['gRPC', createGrpcTransport({ baseUrl: base, nodeOptions })],
    ['gRPC-Web/1.1', createGrpcWebTransport({ baseUrl: base, httpVersion: '1.1', nodeOptions })],
    ['gRPC-Web/2', createGrpcWebTransport({ baseUrl: base, httpVersion: '2', nodeOptions })],
    ['Connect/1.1', createConnectTransport({ baseUrl: base, httpVersion: '1.1', nodeOptions })],
    ['Connect/2', createConnectTransport({ baseUrl: base, httpVersion: '2', nodeOptions })],
  ];
  for (const [name, transport] of transports) {
    const sites = createClient(SiteService, transport);
    const list = await sites.listSites({ page: { pageSize: 1 } }, { headers });
    expect([name, typeof list.page?.total]).toEqual([name, 'bigint']);
    const [stranger, missing] = await Promise.all([
      sites.listSites({}).catch(ConnectError.from),
      sites.getSite({ id: 'none' }, { headers }).catch(ConnectError.from),
    ]);
    expect(stranger).toMatchObject({ code: Code.Unauthenticated });
    expect(missing).toMatchObject({
      code: Code.NotFound,
      rawMessage: expect.stringMatching(/^No site with the id "/) as string,
    });
    const stop = new AbortController();
    const tail = createClient(LogService, transport).tailSecurityEvents(
      {},
      { headers, signal: stop.signal },
    );
    const { value } = await tail[Symbol.asyncIterator]().next();
    expect([name, value?.heartbeatAt !== undefined]).toEqual([name, true]);
    stop.abort();
  }
});
