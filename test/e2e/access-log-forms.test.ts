/** The access log of requests over HTTP/1.1 and HTTP/2: in each form, to a file and printed. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  buildBundle,
  bundleHost,
  endEngine,
  startBundleEngine,
  type BundleEngine,
} from '../support/bundle-engine.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { missingBuild } from '../support/product.ts';

if (missingBuild !== null) console.log(missingBuild);

const rules = `SecRule ARGS "@contains evil" "id:7,phase:2,deny,status:403,log"\n`;
const ownForm = '$remote_addr|$request|$status|$body_bytes_sent|$waf_outcome|$waf_rules';
const content = 'from the origin';

/** The requests in order: what is asked, over which protocol, and the status. */
const requests = [
  { target: '/shop?a=1', protocol: 'HTTP/1.1', status: 200 },
  { target: '/?q=evil', protocol: 'HTTP/1.1', status: 403 },
  { target: '/shop?a=2', protocol: 'HTTP/2', status: 200 },
  { target: '/?q=evil2', protocol: 'HTTP/2', status: 403 },
] as const;
type Request = (typeof requests)[number];

/** What a line in each form must say of a request. */
const forms: Readonly<Record<string, (line: string, request: Request) => void>> = {
  common: (line, { target, protocol, status }) => {
    expect(line).toMatch(/^127\.0\.0\.1 - - \[\d\d\/\w{3}\/\d{4}:[\d:]{8} [+-]\d{4}\] "/);
    expect(line).toContain(`] "GET ${target} ${protocol}" ${status} `);
    expect(line).toMatch(/" \d{3} \d+$/);
  },
  combined: (line, { target, protocol, status }) => {
    expect(line).toContain(`] "GET ${target} ${protocol}" ${status} `);
    expect(line).toMatch(/ \d+ "http:\/\/before\.example\/" "forms"$/);
  },
  json: (line, { target, protocol, status }) => {
    expect(JSON.parse(line)).toMatchObject({
      ...{ method: 'GET', host: bundleHost, target, protocol, status, clientIp: '127.0.0.1' },
      ...{ outcome: status === 200 ? 'served' : 'blocked', blocked: status !== 200 },
      ...{ referer: 'http://before.example/', userAgent: 'forms' },
      ...{ rules: status === 200 ? [] : [7] },
    });
  },
  [ownForm]: (line, { target, protocol, status }) => {
    const [client, request, code, bytes, outcome, matched] = line.split('|');
    expect([client, request, code]).toEqual([
      ...['127.0.0.1', `GET\\x20${target}\\x20${protocol}`, String(status)],
    ]);
    expect([outcome, matched]).toEqual(status === 200 ? ['served', '-'] : ['blocked', '7']);
    if (status === 200) expect(bytes).toBe(String(content.length));
  },
};
const cases = [
  ['common', 'a file'],
  ['combined', 'standard output'],
  ['json', 'standard output'],
  [ownForm, 'a file'],
] as const;

describe.skipIf(missingBuild !== null)('--access-log-format', () => {
  let folder: string;
  let bundle: string;
  let origin: http.Server;
  let engine: BundleEngine | null = null;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'access-forms-'));
    origin = http.createServer((_request, response) => response.end(content));
    origin.listen(0, '127.0.0.1');
    await once(origin, 'listening');
    const built = buildBundle(folder, (origin.address() as AddressInfo).port, rules);
    if (built.code !== 0) throw new Error(built.stderr);
    bundle = built.file;
  });
  afterEach(async () => {
    if (engine !== null) await endEngine(engine, 'SIGKILL');
  });
  afterAll(() => {
    origin?.closeAllConnections();
    origin?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(cases)('%s to %s: a line for each request, and no other', async (form, where) => {
    const port = await freePort();
    const file = path.join(folder, `${port}.log`);
    const flags = ['--access-log', where === 'a file' ? file : '-', '--access-log-format', form];
    engine = startBundleEngine(folder, bundle, port, '--workers', '1', ...flags);
    const { stdout } = engine;
    await eventually(() => listens(port));
    for (const { target, protocol, status } of requests) {
      const ask = protocol === 'HTTP/2' ? askHttp2 : askHttp1;
      expect(await ask(port, target)).toBe(status);
    }
    // What waits is written when the engine ends.
    await endEngine(engine, 'SIGTERM');
    const lines = (where === 'a file' ? readFileSync(file, 'utf8') : stdout()).split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.length).toBe(requests.length);
    for (const [at, request] of requests.entries()) forms[form]!(lines[at]!, request);
  });
});

const fields = { host: bundleHost, referer: 'http://before.example/', 'user-agent': 'forms' };

/** Whether a connection is taken; no request is sent over it. */
function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const session = http2.connect(`http://127.0.0.1:${port}`);
    session.once('connect', () => session.close(() => resolve(true)));
    session.once('error', () => resolve(false));
  });
}

function askHttp1(port: number, target: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: target, headers: fields, agent: false };
    http
      .get(options, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      })
      .on('error', reject);
  });
}

function askHttp2(port: number, target: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { host, ...others } = fields;
    const session = http2.connect(`http://${host}`, {
      createConnection: () => connect(port, '127.0.0.1'),
    });
    let status = 0;
    const stream = session.request({ ':path': target, ':authority': host, ...others });
    stream.on('response', (answer) => (status = answer[':status'] ?? 0));
    stream.on('error', reject);
    stream.on('close', () => session.close(() => resolve(status)));
    stream.resume();
  });
}
