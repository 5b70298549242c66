/**
 * Runs the table of rules on releases, one line of release-rules.jsonl a rule, in order, against a
 * signature that minisign 0.11 made, and holds what is on disk against it.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { noting, ResponseFacts } from '../../../test/support/response-facts.ts';
import { expectRow, readRuleRows, RuleTable } from '../../../test/support/rule-table.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { makeSignature, publicKeyOf } from '../../../base/minisign.ts';
import { ReleaseFiles } from '../../release/release-files.ts';

const rows = readRuleRows(new URL('release-rules.jsonl', import.meta.url));
const table = new RuleTable();
const facts = new ResponseFacts();
const { method } = SystemService;
const methods = [
  ...[method.importBinaryRelease, method.listBinaryReleases, method.getBinaryRelease],
  ...[method.deleteBinaryRelease, method.checkForUpdates],
];
const ofIndex = 'no index is set up here; update-source.test.ts has one';
/** Fields with one value, and why. */
const constants: Readonly<Record<string, string>> = {
  'BinaryRelease.sourceUrl': ofIndex,
  'CheckForUpdatesResponse.crsRulesets': ofIndex,
  'CheckForUpdatesResponse.status': ofIndex,
  'MutationResult.changed': 'what is deleted is gone',
  'MutationResult.revision': 'releases have none',
};
const tar = Buffer.from('H4sIAAAAAAAAAytPTFMoSs1JTSxOVUjLrCgpLUoFAFK6vFoTAAAA', 'base64');
const key = 'RWRvjr3YG9FfXTw4VQFd/93tGSjcWqAvk3hHC+U7XKWCim/0Z1RD34WN';
const said = 'waf-release version=1.2.3 channel=stable platform=linux arch=x64';
// Of `minisign -S -t`, and of `minisign -S -l -t`.
const sig = `untrusted comment: signature from minisign secret key
RURvjr3YG9FfXR3lOcr8LiUKsBl7Ecqc6GYbdLr6qRU2iB57CE/GPt7kxv6RcYRFM/sbbUYvfIAlp8hiQYf8iZxszvEN+FQ/oA0=
trusted comment: ${said}
+px6m9WyX/9DxyUlLcmo3JM1pur74ODmduew7mQkg9Zjp9NJIc4ESKBh6Gei8lLnwiUr6ERcJeEI7hIOo540Aw==
`;
const legacyHead =
  'RWRvjr3YG9FfXeS9dBKGA8g3dqx2hjixF5DDn1CqMh6cG/t1ePpvbNhdD5AzxiOgfxM+douoM40rE1pQhiVa7l7PulnfAhGhLg4=';
const legacy = `untrusted comment: signature from minisign secret key
${legacyHead}
trusted comment: ${said}
BYKcq8DZ5++XVs6sDg3iKbFN2F8AToER/QUEayjZRCx0a48wuS5fK03LWjCSRA59vBE8Kl7l5ZuouIjBOcA8CA==
`;
const [otherId, otherSeed] = [Buffer.alloc(8, 1), Buffer.alloc(32, 2)];
const strangerId = Buffer.alloc(8, 3);
let waf: TestControl;
let server: Server;
let port = 0;
let answer: RequestListener;

const digestOf = (file: Uint8Array): Buffer => createHash('blake2b512').update(file).digest();
const signed = (comment: string, file: Uint8Array = tar, keyId: Uint8Array = otherId): string =>
  makeSignature(keyId, otherSeed, digestOf(file), comment);
const base64 = (file: Uint8Array): string => Buffer.from(file).toString('base64');
const filesOnDisk = (): string[] => readdirSync(join(waf.folder, 'releases')).sort();
const importFrom = (path: string, signature = ''): ReturnType<TestControl['call']> => {
  const sourceUrl = `http://127.0.0.2:${port}${path}`;
  return waf.call('SystemService/ImportBinaryRelease', { sourceUrl, signature });
};

function makeNames(): Record<string, unknown> {
  const tampered = Buffer.from(tar);
  tampered[20]! ^= 1;
  const comment = (text: string): string => said.replace('version=1.2.3 channel=stable', text);
  const keyId = Buffer.from('6f8ebdd81bd15f5d', 'hex');
  return {
    tar: base64(tar),
    sha: createHash('sha256').update(tar).digest('hex'),
    tampered: base64(tampered),
    longer: base64(Buffer.concat([tar, Buffer.from([0])])),
    plain: base64(Buffer.from('no archive')),
    key,
    other: publicKeyOf(otherId, otherSeed).text,
    otherId: '0101010101010101',
    sig,
    sigCut: sig.split('\n').slice(0, 2).join('\n'),
    sigCrlf: sig.replaceAll('\n', '\r\n'),
    sigPadded: sig.replace('oA0=', 'oA0= '),
    legacy,
    legacyHead,
    stranger: signed(said, tar, strangerId),
    forged: signed(said, tar, keyId),
    recommented: sig.replace('version=1.2.3', 'version=9.2.3'),
    plainComment: signed('timestamp:1700000000\tfile:waf.tar.gz\thashed'.replaceAll('\t', ' ')),
    badVersion: signed(comment('version=1.2 channel=stable')),
    badChannel: signed(comment('version=1.2.3 channel=nightly')),
    stablePre: signed(comment('version=1.2.3-rc.1 channel=stable')),
    badPlatform: signed(said.replace('linux', '../x')),
    twice: signed(comment('version=1.2.3 version=1.2.4 channel=stable')),
    plainSig: signed(said, Buffer.from('no archive')),
    sameVersion: signed(said, tampered),
    otherChannel: signed(comment('version=1.2.3 channel=prerelease')),
    arm: signed(said.replace('x64', 'arm64'), tampered),
    newer: signed(comment('version=99.9.0 channel=stable')),
    newest: signed(comment('version=99.10.0 channel=stable')),
    pre: signed(comment('version=99.3.0-rc.1 channel=prerelease')),
  };
}

beforeAll(async () => {
  const fetchLimits = { bytesMax: 4_096, timeoutMs: 60_000, idleTimeoutMs: 60_000 };
  waf = noting(await startTestControl({ demoOrigin: null, fetchLimits }), facts, methods);
  for (const [name, value] of Object.entries(makeNames())) table.known.set(name, value);
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  await waf.control.close();
  server.closeAllConnections();
  server.close();
});

describe('rules on releases', () => {
  test.each(rows.map((row) => [`${row.rpc}: ${row.rule}`, row] as const))('%s', (_, row) =>
    expectRow(table, waf, row),
  );

  test('every row of the table ran', () => {
    expect(rows.length).toBeGreaterThan(80);
    expect(table.ran).toBe(rows.length);
    console.log(`rules on releases: ${table.ran} of ${rows.length} rows ran`);
  });

  test('files are private, named by digest, and only those of releases', () => {
    const { tar: a, tampered: b } = makeNames();
    const names = [a, b].map((one) => {
      const bytes = Buffer.from(String(one), 'base64');
      return `${createHash('sha256').update(bytes).digest('hex')}.tar.gz`;
    });
    expect(filesOnDisk()).toEqual(names.sort());
    const folder = join(waf.folder, 'releases');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    const path = join(folder, `${String(table.known.get('sha'))}.tar.gz`);
    expect(readFileSync(path).equals(tar)).toBe(true);
  });

  test('imports and deletions are audited, with the digest and the key', async () => {
    const { text } = await waf.call('AuditService/QueryAudit', { resourceType: 'binary_release' });
    expect(text).toContain('"action":"import"');
    expect(text).toContain('"action":"delete"');
    expect(text).toContain(String(table.known.get('sha')));
    expect(text).toContain('5D5FD11BD8BD8E6F');
  });
});

describe('releases from a URL', () => {
  const allow = async (): Promise<void> => {
    const values = {
      'release.trusted_keys': [key],
      'outgoing.allowed_networks': ['127.0.0.2/32'],
    };
    expect((await waf.call('SystemService/UpdateSystemSettings', { values })).status).toBe(200);
    await waf.call('SystemService/DeleteBinaryRelease', { id: 'release-1.2.3-linux-x64' });
  };

  test('the signature is fetched from beside the archive, query included', async () => {
    await allow();
    const asked: string[] = [];
    answer = (request, response) => {
      asked.push(request.url ?? '');
      response.end(request.url?.includes('.minisig') === true ? sig : tar);
    };
    const { status, body } = await importFrom('/waf.tar.gz?tag=1');
    expect(status).toBe(200);
    expect(body['release']).toMatchObject({ version: '1.2.3', fileStatus: 'stored' });
    expect(asked).toEqual(['/waf.tar.gz.minisig?tag=1', '/waf.tar.gz?tag=1']);
  });

  test.each<[string, RequestListener, string]>([
    ['a missing file', (_, response) => void response.writeHead(404).end(), 'status 404'],
    ['a file above the bound', (_, response) => void response.end(Buffer.alloc(9_000)), '4096'],
    ['another file', (_, response) => void response.end(Buffer.from([0x1f, 0x8b, 1])), 'not of'],
    [
      'a redirect to this machine',
      (_, response) =>
        void response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end(),
      'outgoing.allowed_networks',
    ],
    [
      'a broken answer',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write(tar, () => response.destroy());
      },
      'source',
    ],
  ])('%s leaves nothing', async (_, listener, says) => {
    await allow();
    const before = filesOnDisk();
    answer = listener;
    const { status, body } = await importFrom('/waf.tar.gz', sig);
    expect(status).not.toBe(200);
    expect(body['message']).toContain(says);
    expect(filesOnDisk()).toEqual(before);
  });

  test('a second import waits its turn', async () => {
    await allow();
    let release = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      answer = (_, response) => {
        release = () => void response.end(tar);
        resolve();
      };
    });
    const first = importFrom('/waf.tar.gz', sig);
    await begun;
    const second = await importFrom('/waf.tar.gz', sig);
    expect(second.body).toMatchObject({ code: 'aborted' });
    release();
    expect((await first).status).toBe(200);
  });

  test('a lost file shows as missing, and importing again brings it back', async () => {
    const id = 'release-1.2.3-linux-x64';
    const shown = async (): Promise<unknown> =>
      (await waf.call('SystemService/GetBinaryRelease', { id })).body['release'];
    rmSync(join(waf.folder, 'releases', `${String(table.known.get('sha'))}.tar.gz`));
    expect(await shown()).toMatchObject({ fileStatus: 'missing' });
    answer = (_, response) => void response.end(tar);
    expect((await importFrom('/waf.tar.gz', sig)).status).toBe(200);
    expect(await shown()).toMatchObject({ fileStatus: 'stored' });
  });
});

test('a start removes half files and files that no release names', () => {
  const folder = join(waf.folder, 'releases');
  const kept = filesOnDisk();
  const leftovers = ['0b9e.new', `${'a'.repeat(64)}.tar.gz`];
  for (const name of leftovers) writeFileSync(join(folder, name), 'x');
  const needed = new Set(kept.map((name) => name.slice(0, 64)));
  expect(new ReleaseFiles(folder).sweep(needed).sort()).toEqual(leftovers);
  expect(filesOnDisk()).toEqual(kept);
});

test('every field of these answers follows a fact', async () => {
  const values = { 'release.trusted_keys': [publicKeyOf(otherId, otherSeed).text] };
  await waf.call('SystemService/UpdateSystemSettings', { values });
  const larger = gzipSync('a larger archive than the others');
  const signature = signed(said.replace('1.2.3', '5.0.0'), larger);
  const tarball = base64(larger);
  expect((await waf.call('SystemService/ImportBinaryRelease', { tarball, signature })).status).toBe(
    200,
  );
  // Rulesets have answers of their own.
  const found = facts.constant(methods).filter((name) => !name.startsWith('CrsRuleset.'));
  expect(found).toEqual(Object.keys(constants).sort());
});
