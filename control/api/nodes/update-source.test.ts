/** Holds CheckForUpdates to its index: off by default, signed, in date, newer only, bounded. */

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../../test/support/printed.ts';
import { makeTestCertificate } from '../../../test/support/test-certificates.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { makeSignature, publicKeyOf } from '../../../base/minisign.ts';
import { indexComment } from '../../../base/release-facts.ts';
import { loadCommands } from '../../cli/commands.ts';
import { runCommandLine } from '../../cli/program.ts';
import { releaseLimits } from '../../limits/release-limits.ts';

const [keyId, seed] = [Buffer.alloc(8, 7), Buffer.alloc(32, 9)];
const trusted = publicKeyOf(keyId, seed).text;
const { platform, arch } = process;
const archive = gzipSync('a release');
const dayMs = 24 * 60 * 60 * 1000;
let waf: TestControl;
let server: Server;
let url = '';
let files = new Map<string, Buffer>();
let asked: IncomingMessage[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request);
    const file = files.get(request.url ?? '');
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  waf = await startTestControl({ demoOrigin: null });
  await set({ 'release.trusted_keys': [trusted], 'outgoing.allowed_networks': ['127.0.0.0/8'] });
});
afterAll(async () => {
  await waf.control.close();
  server.close();
});
beforeEach(async () => {
  [files, asked] = [new Map(), []];
  await set({ 'release.index_url': '' });
  await set({ 'release.index_url': `${url}/index.json` });
});

async function set(values: object): Promise<void> {
  const { status, text } = await waf.call('SystemService/UpdateSystemSettings', { values });
  if (status !== 200) throw new Error(text);
}

const sign = (bytes: Uint8Array, comment: string, by: Uint8Array = keyId): string =>
  makeSignature(by, seed, createHash('blake2b512').update(bytes).digest(), comment);

function entry(version: string, channel = 'stable', changed: object = {}): object {
  const comment = `waf-release version=${version} channel=${channel} platform=${platform} arch=${arch}`;
  return {
    ...{ version, channel, platform, arch },
    url: `${url}/waf-${version}.tar.gz`,
    sha256: createHash('sha256').update(archive).digest('hex'),
    sizeBytes: archive.length,
    signature: sign(archive, comment),
    ...changed,
  };
}

interface Offer {
  readonly comment?: string;
  readonly by?: Buffer;
  readonly change?: (text: string) => string;
  readonly format?: string;
}

/** Issued a moment ahead of the one before: the order of tests is that of issue. */
let issuedMs = Date.now() - dayMs;
function offer(releases: readonly object[], more: Offer = {}): void {
  const { by, change = (text) => text, format = 'waf-release-index/1' } = more;
  const text = JSON.stringify({ format, releases });
  const comment = more.comment ?? indexComment((issuedMs += 2_000), Date.now() + dayMs);
  files.set('/index.json', Buffer.from(change(text)));
  files.set('/index.json.minisig', Buffer.from(sign(Buffer.from(text), comment, by)));
}

const check = (channel = '') => waf.call('SystemService/CheckForUpdates', { channel });

test('without an address nobody is asked', async () => {
  await set({ 'release.index_url': '' });
  const { body } = await check();
  expect(body).toMatchObject({ status: 'unconfigured', channel: 'stable' });
  expect(body['crsRulesets'] ?? []).toEqual([]);
  expect(asked).toEqual([]);
});

test.each([
  ['nothing', [], 'no_release'],
  ['another machine only', ['other'], 'no_release'],
  ['another channel only', ['99.0.0-rc.1'], 'no_release'],
  ['an older release', ['0.0.1'], 'current'],
  ['an older and a newer one', ['0.0.1', '99.0.0'], 'available'],
] as const)('a list of %s', async (_, versions, status) => {
  const signature = sign(
    archive,
    'waf-release version=99.0.0 channel=stable platform=plan9 arch=mips',
  );
  const other = { platform: 'plan9', arch: 'mips', signature };
  offer(
    versions.map((one) => {
      if (one === 'other') return entry('99.0.0', 'stable', other);
      return entry(one, one.includes('-') ? 'prerelease' : 'stable');
    }),
  );
  const { body } = await check();
  expect(body).toMatchObject({ status, channel: 'stable' });
  expect(body['crsRulesets']).toHaveLength(1);
});

test('a newer release is offered with its address, an older one never', async () => {
  offer([entry('0.0.1'), entry('98.0.0'), entry('99.0.0'), entry('99.1.0-rc.1', 'prerelease')]);
  const { body } = await check();
  const found = body['releases'] as Record<string, unknown>[];
  expect(found.map(({ version }) => version)).toEqual(['99.0.0', '98.0.0']);
  expect(found[0]).toMatchObject({
    id: `release-99.0.0-${platform}-${arch}`,
    channel: 'stable',
    fileStatus: 'available',
    sourceUrl: `${url}/waf-99.0.0.tar.gz`,
    keyId: '0707070707070707',
    sizeBytes: String(archive.length),
    platform: `${platform}-${arch}`,
  });
  expect(found[0]).not.toHaveProperty('importedAt');
  const { body: early } = await check('prerelease');
  expect(early).toMatchObject({ status: 'available', channel: 'prerelease' });
  expect(early['releases']).toMatchObject([{ version: '99.1.0-rc.1' }]);
});

test('what is sent is the GET of two files, and nothing of this installation', async () => {
  offer([entry('99.0.0')]);
  await check();
  expect(asked.map(({ method, url: path }) => `${method} ${path}`)).toEqual([
    'GET /index.json.minisig',
    'GET /index.json',
  ]);
  for (const { headers } of asked) {
    expect(Object.keys(headers).sort()).toEqual(
      ['accept', 'accept-encoding', 'connection', 'host', 'user-agent'].sort(),
    );
    expect(headers['user-agent']).toBe('waf-releases/1');
  }
});

test('an imported release is shown as such, once', async () => {
  const version = '97.0.0';
  const one = entry(version) as { signature: string };
  const body = { tarball: archive.toString('base64'), signature: one.signature };
  expect((await waf.call('SystemService/ImportBinaryRelease', body)).status).toBe(200);
  offer([one]);
  const { releases } = (await check()).body as { releases: Record<string, unknown>[] };
  expect(releases).toMatchObject([{ version, fileStatus: 'stored' }]);
  expect(releases[0]).not.toHaveProperty('sourceUrl');
  await waf.call('SystemService/DeleteBinaryRelease', {
    id: `release-${version}-${platform}-${arch}`,
  });
});

const bad: readonly (readonly [string, () => void, string])[] = [
  [
    'changed after signing',
    () => offer([entry('99.0.0')], { change: (text) => text.replace('99.0.0', '99.0.1') }),
    'the index or its signature was changed',
  ],
  [
    'signed by somebody else',
    () => offer([], { by: Buffer.alloc(8, 1) }),
    'a key that release.trusted_keys does not name',
  ],
  [
    'signed as a release',
    () =>
      offer([], {
        comment: `waf-release version=1.0.0 channel=stable platform=${platform} arch=${arch}`,
      }),
    'the signature is not one of an index',
  ],
  [
    'expired',
    () => offer([], { comment: indexComment(Date.now() - 2 * dayMs, Date.now() - dayMs) }),
    'the index has expired',
  ],
  ['of another form', () => offer([], { format: 'x' }), 'the index is not of waf-release-index/1'],
  ['no JSON', () => offerText('{'), 'the index is no JSON'],
  ['a list', () => offerText('[]'), 'the index is not of waf-release-index/1'],
  [
    'too long',
    () => offer(Array.from({ length: releaseLimits.indexReleasesMax + 1 }, () => ({}))),
    'at most 500 releases',
  ],
  ['with an entry that is none', () => offer([null as never]), 'releases[0] of the index has no'],
  [
    'with an address that is none',
    () => offer([entry('99.0.0'), entry('99.0.0', 'stable', { url: 'file:///etc/passwd' })]),
    'releases[1] of the index has no proper url',
  ],
  [
    'with a signature of another version',
    () => offer([entry('99.0.0', 'stable', { version: '99.0.1' })]),
    'releases[0] of the index differs from its signature',
  ],
  [
    'with a signature that is none',
    () => offer([entry('99.0.0', 'stable', { signature: 'x' })]),
    'releases[0] of the index has a signature that cannot be used',
  ],
  [
    'with a hash that is none',
    () => offer([entry('99.0.0', 'stable', { sha256: 'x' })]),
    'releases[0] of the index has no proper sha256',
  ],
];

function offerText(text: string): void {
  const comment = indexComment((issuedMs += 2_000), Date.now() + dayMs);
  files.set('/index.json', Buffer.from(text));
  files.set('/index.json.minisig', Buffer.from(sign(Buffer.from(text), comment)));
}

test.each(bad)('an index that is %s is refused', async (_, prepare, says) => {
  prepare();
  const { status, body } = await check();
  expect([status, body['code']]).toEqual([400, 'failed_precondition']);
  expect(body['message']).toContain('release.index_url: ');
  expect(body['message']).toContain(says);
});

test('an index that is older than one that was seen is refused', async () => {
  const at = Date.now() - 60_000;
  offer([entry('99.0.0')], { comment: indexComment(at, Date.now() + dayMs) });
  expect((await check()).status).toBe(200);
  issuedMs = at;
  offer([], { comment: indexComment(at - dayMs, Date.now() + dayMs) });
  expect((await check()).body['message']).toContain('older than one that was seen before');
});

test('an older index stays refused after a restart', async () => {
  const at = Date.now() + 60_000;
  offer([entry('99.0.0')], { comment: indexComment(at, Date.now() + dayMs) });
  expect((await check()).status).toBe(200);
  issuedMs = at;
  await waf.control.close();
  waf = await startTestControl({ demoOrigin: null, dataFolder: waf.folder });
  offer([entry('99.0.0')], { comment: indexComment(at - 1_000, Date.now() + dayMs) });
  expect((await check()).body['message']).toContain('older than one that was seen before');
  offer([entry('99.0.0')]);
  expect((await check()).status).toBe(200);
});

test('an index of a private authority is fetched with its certificate alone', async () => {
  const authority = await makeTestCertificate({ subject: 'CN=Own CA', authority: true });
  const own = await makeTestCertificate({ names: ['127.0.0.1'], issuer: authority });
  const secure = createSecureServer({ cert: own.cert, key: own.key }, (request, response) => {
    const file = files.get(request.url ?? '');
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  const { port } = secure.address() as AddressInfo;
  await set({ 'release.index_url': `https://127.0.0.1:${port}/index.json` });
  offer([entry('99.0.0')]);
  expect((await check()).body['message']).toContain('has no valid certificate');
  await set({ 'release.index_ca_pem': authority.cert });
  expect((await check()).body).toMatchObject({ status: 'available' });
  // Releases of that server are fetched likewise; the authority counts for no other.
  const one = entry('95.0.0') as { signature: string };
  files.set('/waf-95.0.0.tar.gz', archive);
  const imported = (sourceUrl: string) =>
    waf.call('SystemService/ImportBinaryRelease', { sourceUrl, signature: one.signature });
  const here = `https://127.0.0.1:${port}/waf-95.0.0.tar.gz`;
  await set({ 'release.index_url': `${url}/index.json` });
  expect((await imported(here)).body['message']).toContain('has no valid certificate');
  await set({ 'release.index_url': `https://127.0.0.1:${port}/index.json` });
  expect((await imported(here)).status).toBe(200);
  await waf.call('SystemService/DeleteBinaryRelease', {
    id: `release-95.0.0-${platform}-${arch}`,
  });
  await set({ 'release.index_ca_pem': '' });
  secure.close();
});

test.each([
  ['no text', 5],
  ['no certificate', 'x'],
  ['a key', '-----BEGIN PRIVATE KEY-----'],
])('%s is no authority of an index', async (_, value) => {
  const values = { 'release.index_ca_pem': value };
  const { status, body } = await waf.call('SystemService/UpdateSystemSettings', { values });
  expect(status).toBe(400);
  expect(body['message']).toContain('values.release.index_ca_pem: must');
});

test('a source that fails, one that is too large and one that is not allowed are distinguished', async () => {
  expect((await check()).body).toMatchObject({ code: 'unavailable' });
  offer([]);
  files.set('/index.json', Buffer.alloc(releaseLimits.indexBytesMax + 1, 32));
  expect((await check()).body['message']).toContain(`more than ${releaseLimits.indexBytesMax}`);
  await set({ 'outgoing.allowed_networks': [] });
  asked = [];
  expect((await check()).body).toMatchObject({ code: 'failed_precondition' });
  expect(asked).toEqual([]);
  await set({ 'outgoing.allowed_networks': ['127.0.0.0/8'] });
});

test('without a trusted key nobody is asked', async () => {
  await set({ 'release.trusted_keys': [] });
  expect((await check()).body['message']).toContain('no key is trusted');
  expect(asked).toEqual([]);
  await set({ 'release.trusted_keys': [trusted] });
});

test.each(['http://example.com/i', 'https://a:b@example.com/i', 'https://a.test/i?x', 'x', 5])(
  '%s is no address of an index',
  async (value) => {
    const values = { 'release.index_url': value };
    const { body } = await waf.call('SystemService/UpdateSystemSettings', { values });
    expect(body['message']).toContain('values.release.index_url: must be an https URL');
  },
);

test('an index that waf release index made is shown by waf update, and imported from', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-index-'));
  const at = (name: string): string => join(folder, name);
  const commands = await loadCommands([]);
  const run = async (...words: string[]): Promise<string> => {
    const printed = keepPrinted();
    const code = await runCommandLine(commands, [...words, '--admin-socket', waf.socket]);
    vi.restoreAllMocks();
    return `${code} ${printed.err}${printed.out}`;
  };
  expect(await run('release', 'key', '--out', at('key.pem'))).toMatch(/^0 /);
  writeFileSync(at('waf.tar.gz'), archive);
  const key = ['--key', at('key.pem')];
  const made = await run('release', 'sign', at('waf.tar.gz'), ...key, '--version', '96.0.0');
  await set({ 'release.trusted_keys': [/its key is (\S+)/.exec(made)?.[1]] });
  const index = ['release', 'index', at('waf.tar.gz'), ...key, '--url', url];
  expect(await run(...index, '--out', at('index.json'))).toMatch(/^0 /);
  for (const name of ['index.json', 'index.json.minisig', 'waf.tar.gz', 'waf.tar.gz.minisig']) {
    files.set(`/${name}`, readFileSync(at(name)));
  }
  const shown = await run('update');
  expect(shown).toContain(`release-96.0.0-${platform}-${arch}`);
  expect(shown).toContain(`waf release import --url ${url}/waf.tar.gz`);
  expect(await run('release', 'import', '--url', `${url}/waf.tar.gz`)).toMatch(
    /^0 .*\n?[^]*stored/,
  );
  expect(await run('release', 'check')).toMatch(/stored/);
  await set({ 'release.index_url': '' });
  expect(await run('update')).toContain('No index is asked');
});
