/** The proof of fetching releases: from a source on loopback that the settings allow. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packArchive } from '../../publish/rulesets/ruleset-pack.ts';
import { signDetached, testSigner } from '../../../test/support/openpgp-signer.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;
let source: Server;
let base = '';
const asked: string[] = [];

const rule = `SecRule ARGS "@rx x" "id:920100,phase:2,pass,ver:'OWASP_CRS/4.2.0'"\n`;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const releases = [
  { tag_name: 'v4.3.0-rc1', name: 'Candidate', prerelease: true, draft: false },
  { tag_name: 'v4.2.0', name: 'Two', published_at: '2026-01-02T03:04:05Z', body: 'text' },
  { tag_name: 'v9', draft: true },
  { name: 'no tag' },
];
const signer = testSigner();
const releaseOf = (version: string): Buffer =>
  packArchive([
    {
      path: 'x/rules/REQUEST-920-X.conf',
      content: bytes(rule.replace('4.2.0', version)),
    },
  ]);
const [older, newest] = [releaseOf('4.27.0'), releaseOf('4.28.0')];
const listed = ['v4.27.0', 'v4.28.0', 'v4.9.0'].map((tag) => ({ tag_name: tag }));
const answers: Readonly<Record<string, () => Uint8Array>> = {
  '/mirror/releases.json': () =>
    bytes(JSON.stringify([...listed, { tag_name: 'v5.0.0-rc1', prerelease: true }])),
  '/mirror/security.asc': () => signer.publicKey,
  '/mirror/coreruleset-4.28.0-minimal.tar.gz': () => newest,
  '/mirror/coreruleset-4.28.0-minimal.tar.gz.asc': () => signDetached(signer, newest),
  '/mirror/coreruleset-4.27.0-minimal.tar.gz': () => older,
  '/mirror/coreruleset-4.27.0-minimal.tar.gz.asc': () => signDetached(signer, newest),
  '/repos/coreruleset/coreruleset/releases': () => bytes(JSON.stringify(releases)),
  '/repos/coreruleset/coreruleset/tarball/v4.2.0': () =>
    packArchive([{ path: 'x/rules/REQUEST-920-X.conf', content: bytes(rule) }]),
  '/repos/coreruleset/phpbb-rule-exclusions-plugin/releases': () => bytes('{}'),
  '/repos/coreruleset/phpbb-rule-exclusions-plugin/tarball/v1.0.0': () =>
    packArchive([
      {
        path: 'x/plugins/phpbb-rule-exclusions-before.conf',
        content: bytes('SecAction "id:9599300,phase:1,pass,nolog"\n'),
      },
    ]),
};

beforeAll(async () => {
  waf = await startTestControl();
  source = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    asked.push(path);
    const answer = answers[path];
    if (path === '/moved') response.writeHead(302, { location: '/elsewhere' }).end();
    else if (answer === undefined) response.writeHead(404).end();
    else response.end(answer());
  });
  await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(source.address() as AddressInfo).port}`;
});
afterAll(async () => {
  source.close();
  await waf.control.close();
});

async function ask(rpc: string, body: object): Promise<Record<string, unknown>> {
  return (await waf.call(rpc, body)).body;
}

test('a source in the own network is refused until the settings allow it', async () => {
  const values = { 'crs.release_source': `${base}/` };
  await ask('SystemService/UpdateSystemSettings', { values });
  const refused = await ask('SystemService/ListUpstreamCrsReleases', {});
  expect(refused['code']).toBe('failed_precondition');
  expect(asked).toEqual([]);
  const allowed = { 'outgoing.allowed_networks': ['127.0.0.1/32'] };
  await ask('SystemService/UpdateSystemSettings', { values: allowed });
  const { releases: found } = await ask('SystemService/ListUpstreamCrsReleases', {});
  expect(found).toEqual([
    { tag: 'v4.2.0', name: 'Two', publishedAt: '2026-01-02T03:04:05Z', body: 'text' },
  ]);
  const all = await ask('SystemService/ListUpstreamCrsReleases', { includePrerelease: true });
  expect(all['releases']).toHaveLength(2);
});

test('a release is imported by its tag, which wins; the same content is kept once', async () => {
  const wanted = { githubTag: 'v4.2.0', sourceUrl: `${base}/moved` };
  const first = await ask('SystemService/ImportCrsRuleset', wanted);
  expect(first['ruleset']).toMatchObject({ version: '4.2.0', ruleCount: 1 });
  const sourceUrl = `${base}/repos/coreruleset/coreruleset/tarball/v4.2.0`;
  const second = await ask('SystemService/ImportCrsRuleset', { sourceUrl });
  expect(second['ruleset']).toEqual(first['ruleset']);
});

test('what cannot be fetched says why and changes nothing', async () => {
  const before = await ask('CrsService/ListCrsRulesets', {});
  const say = async (body: object): Promise<string> => {
    const answer = await ask('SystemService/ImportCrsRuleset', body);
    return `${String(answer['code'])} ${String(answer['message'])}`;
  };
  expect(await say({ githubTag: 'v0.0.0' })).toMatch(/^unavailable githubTag: .*status 404/);
  expect(await say({ githubTag: '../x' })).toMatch(/^invalid_argument githubTag: must be/);
  expect(await say({ sourceUrl: `${base}/moved` })).toMatch(/^unavailable sourceUrl: /);
  expect(await say({ sourceUrl: 'file:///etc/passwd' })).toMatch(/^invalid_argument sourceUrl: /);
  expect(await say({ sourceUrl: 'http://169.254.1.1/x' })).toMatch(/^failed_precondition source/);
  expect(await say({})).toMatch(/^invalid_argument archive: is required/);
  expect(await ask('CrsService/ListCrsRulesets', {})).toEqual(before);
});

test('an exclusion plugin comes from the repository of its project', async () => {
  const wanted = { idOrSlug: 'phpbb', githubTag: 'v1.0.0' };
  const { plugin } = await ask('CrsService/ImportCrsExclusionPlugin', wanted);
  expect(plugin).toMatchObject({ slug: 'phpbb-rule-exclusions', source: 'github:v1.0.0' });
  const list = 'CrsService/ListUpstreamCrsExclusionPluginReleases';
  const broken = await ask(list, { slug: 'phpbb-rule-exclusions' });
  expect(broken['code']).toBe('unavailable');
  const unknown = await ask(list, { slug: 'own' });
  expect(String(unknown['message'])).toMatch(/^slug: names no plugin of the CRS project/);
});

test('a mirror gives the newest release, verified by a key that the settings trust', async () => {
  const take = (mirrorRelease: string) => ask('SystemService/ImportCrsRuleset', { mirrorRelease });
  const none = await take('latest');
  expect([none['code'], none['message']]).toEqual([
    'failed_precondition',
    'mirrorRelease: Set a mirror first, in the setting crs.mirror.',
  ]);
  const set = (values: object) => ask('SystemService/UpdateSystemSettings', { values });
  await set({ 'crs.mirror': `${base}/mirror/` });
  const untrusted = await take('latest');
  expect(String(untrusted['message'])).toMatch(/^publicKey: has the fingerprint [0-9A-F]{40}, /);
  await set({ 'crs.signing_keys': [signer.fingerprint] });
  const { ruleset } = await take('latest');
  expect(ruleset).toMatchObject({ version: '4.28.0', signedBy: signer.fingerprint });
  expect(await take('v4.28.0')).toEqual({ ruleset });
  const forged = await take('4.27.0');
  expect(forged['code']).toBe('invalid_argument');
  expect(String(forged['message'])).toMatch(/^signature: is not of this archive by the key/);
  expect(String((await take('4.1.0'))['message'])).toMatch(/^mirrorRelease: .*status 404/);
});

test('a signature that comes with an archive is verified, or nothing is imported', async () => {
  const sent = (content: Buffer, signature: Buffer, publicKey: Buffer) =>
    ask('SystemService/ImportCrsRuleset', {
      archive: content.toString('base64'),
      signature: signature.toString('base64'),
      publicKey: publicKey.toString('base64'),
    });
  const none = Buffer.alloc(0);
  const unsigned = (await sent(older, none, none))['ruleset'] as Record<string, unknown>;
  expect(unsigned['signedBy']).toBeUndefined();
  const before = await ask('CrsService/ListCrsRulesets', {});
  const wrong = signDetached(signer, newest);
  const other = testSigner();
  expect(await sent(older, wrong, signer.publicKey)).toMatchObject({ code: 'invalid_argument' });
  expect(await sent(older, signDetached(other, older), other.publicKey)).toMatchObject({
    message: `publicKey: has the fingerprint ${other.fingerprint}, which no setting trusts`,
  });
  expect(await sent(older, none, signer.publicKey)).toMatchObject({
    message: 'signature: is required here',
  });
  expect(await sent(older, wrong, none)).toMatchObject({ message: 'publicKey: is required here' });
  expect(await ask('CrsService/ListCrsRulesets', {})).toEqual(before);
  const signed = await sent(older, signDetached(signer, older), signer.publicKey);
  expect(signed['ruleset']).toEqual({ ...unsigned, signedBy: signer.fingerprint });
});

test('no key but a fingerprint is taken as setting', async () => {
  const set = (value: unknown) =>
    ask('SystemService/UpdateSystemSettings', { values: { 'crs.signing_keys': value } });
  expect(await set(['abc'])).toMatchObject({
    message: 'values.crs.signing_keys[0]: must be a fingerprint: 40 hex digits in upper case',
  });
  expect(await set('abc')).toMatchObject({ code: 'invalid_argument' });
});
