/** Proves `waf release` from an archive on disk to its removal. */

import { createHash } from 'node:crypto';
import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { makeSignature, publicKeyOf } from '../../../base/minisign.ts';
import { releaseKeysFile } from '../../../base/node-program.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

const commands = await loadCommands([]);
const folder = mkdtempSync(join(tmpdir(), 'waf-release-'));
const [keyId, seed] = [Buffer.alloc(8, 7), Buffer.alloc(32, 9)];
const id = 'release-99.0.0-linux-x64';
const archive = join(folder, 'waf.tar.gz');
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const content = gzipSync('a release');
  const comment = 'waf-release version=99.0.0 channel=stable platform=linux arch=x64';
  const digest = createHash('blake2b512').update(content).digest();
  writeFileSync(archive, content);
  writeFileSync(`${archive}.minisig`, makeSignature(keyId, seed, digest, comment));
  const values = { 'release.trusted_keys': [publicKeyOf(keyId, seed).text] };
  await waf.call('SystemService/UpdateSystemSettings', { values });
});
afterAll(() => waf.control.close());
afterEach(() => vi.restoreAllMocks());

async function run(...args: string[]): Promise<string> {
  const printed = keepPrinted();
  const code = await runCommandLine(commands, [...args, '--admin-socket', waf.socket]);
  return `${code} ${printed.err}${printed.out}`;
}

test('a release is imported, shown, found by a check, and deleted', async () => {
  const shown = new RegExp(`^0 [^]*${id} +stable +\\d+ +[0-9a-f]{64} +0707070707070707 .* stored`);
  expect(await run('release', 'import', archive)).toMatch(shown);
  expect(await run('release', 'list')).toMatch(shown);
  expect(await run('release', 'show', id)).toMatch(shown);
  expect(await run('release', 'check')).toMatch(shown);
  expect(await run('release', 'check', '--channel', 'prerelease')).not.toContain(id);
  expect(await run('release', 'delete', id)).toMatch(/^0 /);
  expect(await run('release', 'show', id)).toMatch(/^[1-9]\d* [^]*No release/);
});

test('what cannot be imported is refused with what to do', async () => {
  expect(await run('release', 'import')).toMatch(/^[1-9]\d* [^]*give an archive or --url/);
  const lone = join(folder, 'lone.tar.gz');
  writeFileSync(lone, gzipSync('alone'));
  expect(await run('release', 'import', lone)).toMatch(
    /^[1-9]\d* [^]*lone\.tar\.gz\.minisig: there is no such file; name .* by --signature/,
  );
  const other = ['--signature', `${archive}.minisig`];
  expect(await run('release', 'import', lone, ...other)).toMatch(
    /^[1-9]\d* [^]*is not of this file/,
  );
});

test('keys that root writes for a node can be read by the user that it runs as', async () => {
  const data = mkdtempSync(join(tmpdir(), 'waf-keys-'));
  const before = process.umask(0o077);
  try {
    const { text } = publicKeyOf(keyId, seed);
    expect(await run('agent', 'release-keys', text, '--data', data)).toContain(text);
  } finally {
    process.umask(before);
  }
  expect(statSync(releaseKeysFile(data)).mode & 0o777).toBe(0o644);
});
