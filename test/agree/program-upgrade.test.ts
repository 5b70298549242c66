/**
 * What a node does with an order, against a real controller over mutual TLS: what is placed, and
 * what is refused before a byte of it is unpacked.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { tarPieces, type TarFile } from '../../control/release/tar-writer.ts';
import {
  AgentCommandKind,
  AgentCommandSchema,
  type AgentCommand,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { enrollTestNode, issueTestToken, type TestNode } from '../support/test-node.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';
import { silentLogger } from '../../base/log.ts';
import { makeSignature, publicKeyOf } from '../../base/minisign.ts';
import {
  installedProgram,
  programFolder,
  proveProgram,
  readNodeProgram,
  releaseKeysFile,
  stageProgram,
  switchProgram,
  writeNodeProgram,
} from '../../base/node-program.ts';
import { ProgramUpgrade } from '../../engine/link/program-upgrade.ts';

const [keyId, seed] = [Buffer.alloc(8, 7), Buffer.alloc(32, 9)];
const { platform, arch } = process;
let waf: TestControl;
let node: TestNode;
let data = '';
let heard: string[] = [];
let said: { commandId?: string; success?: boolean; error?: string }[] = [];

beforeAll(async () => {
  waf = await startTestControl({ managementTls: 'own', demoOrigin: null });
  node = await enrollTestNode(waf, await issueTestToken(waf, 1), 'node');
  const values = { 'release.trusted_keys': [publicKeyOf(keyId, seed).text] };
  await waf.call('SystemService/UpdateSystemSettings', { values });
  for (const [version, files] of [
    ['2.0.0', programOf('2.0.0')],
    ['2.1.0', programOf('2.0.0')],
    ['2.2.0', programOf('2.2.0').slice(1)],
    ['2.3.0', programOf('2.3.0').filter(({ name }) => !name.endsWith('.json'))],
  ] as const) {
    const archive = gzipSync(Buffer.concat([...tarPieces(files)]));
    archives.set(version, archive);
    const body = { tarball: archive.toString('base64'), signature: signed(version, archive) };
    const { text, status } = await waf.call('SystemService/ImportBinaryRelease', body);
    if (status !== 200) throw new Error(text);
  }
});
afterAll(() => waf.control.close());

const folders: string[] = [];
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'waf-upgrade-'));
  folders.push(data);
  [heard, said] = [[], []];
  trust(publicKeyOf(keyId, seed).text);
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const archives = new Map<string, Buffer>();

function programOf(version: string): TarFile[] {
  const file = (name: string, text: string): TarFile => ({
    name: `waf/${name}`,
    executable: name === 'node',
    content: Buffer.from(text),
  });
  return [
    file('node', '#!/bin/sh\n'),
    file('app/package.json', JSON.stringify({ version })),
    file('app/.build/engine/main.js', ''),
  ];
}

function signed(version: string, archive: Uint8Array, facts = `${platform} arch=${arch}`): string {
  const comment = `waf-release version=${version} channel=stable platform=${facts}`;
  return makeSignature(keyId, seed, createHash('blake2b512').update(archive).digest(), comment);
}

function trust(...lines: string[]): void {
  mkdirSync(join(data, 'node'), { recursive: true });
  writeFileSync(releaseKeysFile(data), lines.map((line) => `${line}\n`).join(''));
}

function open(supervised = true): ProgramUpgrade {
  const identity = {
    controllerUrl: `https://127.0.0.1:${waf.control.managementPort}`,
    agentId: node.id,
    name: 'node',
    streamToken: node.streamToken,
    certificate: node.cert,
    key: node.key,
    authorities: node.ca,
    signingKey: '',
  };
  return new ProgramUpgrade({
    dataFolder: data,
    identity: () => identity,
    logger: silentLogger,
    notify: supervised ? (type) => void heard.push(type) : null,
  });
}

function orderOf(version: string, changed: Record<string, string | boolean> = {}): AgentCommand {
  const archive = archives.get(version) ?? Buffer.alloc(1);
  return create(AgentCommandSchema, {
    id: `run-${version}`,
    kind: AgentCommandKind.APPLY_BINARY,
    payload: {
      version,
      sha256: createHash('sha256').update(archive).digest('hex'),
      size_bytes: String(archive.length),
      signature: signed(version, archive),
      download_path: `/bootstrap/binary?release=release-${version}-${platform}-${arch}`,
      ...changed,
    },
  });
}

const order = (command: AgentCommand, upgrade = open()): Promise<void> =>
  upgrade.order(command, (result) => said.push(result));
const placed = (): string[] =>
  existsSync(join(data, 'programs')) ? readdirSync(join(data, 'programs')) : [];

test('a signed release is downloaded, placed beside the running program, and staged', async () => {
  await order(orderOf('2.0.0'));
  expect(said).toEqual([]);
  expect(heard).toEqual(['staged']);
  const { state, next, commandId } = readNodeProgram(data);
  expect({ state, commandId }).toEqual({ state: 'staged', commandId: 'run-2.0.0' });
  const folder = programFolder(data, next ?? '');
  expect(readFileSync(join(folder, 'app', 'package.json'), 'utf8')).toBe('{"version":"2.0.0"}');
  expect(new Set(placed())).toEqual(new Set([next, 'state.json']));
  // The same order again, as after a new connection.
  await order(orderOf('2.0.0'));
  expect(said).toEqual([]);
});

const sha = 'a'.repeat(64);
const refusals: readonly (readonly [string, () => AgentCommand, string])[] = [
  ['another SHA-256', () => orderOf('2.0.0', { sha256: sha }), 'the file has another SHA-256'],
  [
    'a signature of another file',
    () => orderOf('2.0.0', { signature: signed('2.0.0', Buffer.from('x')) }),
    'the signature is not of this file (wrong)',
  ],
  [
    'a signature of another version',
    () => orderOf('2.0.0', { signature: signed('3.0.0', archives.get('2.0.0')!) }),
    'the signature is of another version',
  ],
  [
    'a release for another machine',
    () =>
      orderOf('2.0.0', {
        signature: signed('2.0.0', archives.get('2.0.0')!, 'plan9 arch=mips'),
      }),
    'the release is for plan9-mips',
  ],
  ['no signature', () => orderOf('2.0.0', { signature: '' }), 'has no proper signature'],
  ['text for a signature', () => orderOf('2.0.0', { signature: 'x' }), 'is malformed'],
  [
    'a file that is larger than announced',
    () => orderOf('2.0.0', { size_bytes: '10' }),
    'larger than announced',
  ],
  [
    'a release that is larger than any',
    () => orderOf('2.0.0', { size_bytes: '999999999999' }),
    'the release is too large',
  ],
  [
    'another server',
    () => orderOf('2.0.0', { download_path: '/../..//@evil.test/x' }),
    'the controller answered 404',
  ],
  [
    'a path that is none',
    () => orderOf('2.0.0', { download_path: 'x' }),
    'no proper download_path',
  ],
  [
    'a version that leaves its folder',
    () => orderOf('2.0.0', { version: '../2.0.0' }),
    'no proper version',
  ],
  ['an archive of another version', () => orderOf('2.1.0'), 'holds another version than 2.1.0'],
  ['an archive without a runtime', () => orderOf('2.2.0'), 'the release lacks node'],
  ['an archive without a version', () => orderOf('2.3.0'), 'the release lacks app/package.json'],
  [
    'an unknown kind of order',
    () => create(AgentCommandSchema, { id: 'run', payload: {} }),
    'the order is unknown',
  ],
  [
    'a rollback without a previous program',
    () => orderOf('2.0.0', { rollback: true }),
    'no previous program',
  ],
];
test.each(refusals)('%s is refused and leaves nothing', async (_, make, says) => {
  await order(make());
  expect(said).toHaveLength(1);
  expect(said[0]).toMatchObject({ success: false });
  expect(said[0]?.error).toContain(says);
  expect(heard).toEqual([]);
  expect(readNodeProgram(data)).toEqual(installedProgram);
  expect(placed()).toEqual([]);
});

test.each([
  ['no key', (): void => rmSync(releaseKeysFile(data)), 'trusts no release key'],
  [
    'the key of somebody else',
    (): void => trust(publicKeyOf(Buffer.alloc(8, 1), seed).text),
    'none of the release keys',
  ],
  ['no key that can be read', (): void => trust('RWQ'), 'something that is no key'],
] as const)('a node that trusts %s fetches nothing', async (_, prepare, says) => {
  prepare();
  await order(orderOf('2.0.0', { download_path: '/never' }));
  expect(said[0]?.error).toContain(says);
});

test('a node without a supervisor takes no order', async () => {
  await order(orderOf('2.0.0'), open(false));
  expect(said[0]?.error).toContain('waf agent run');
});

test('a rollback stages the previous program without a download', async () => {
  const name = '2.0.0-a';
  mkdirSync(programFolder(data, name), { recursive: true });
  const proved = proveProgram(switchProgram(stageProgram(installedProgram, name, 'run-1')));
  writeNodeProgram(data, proved);
  await order(orderOf('2.0.0', { rollback: true, download_path: '/never' }));
  expect(readNodeProgram(data)).toMatchObject({ state: 'staged', current: name, next: '' });
  expect(heard).toEqual(['staged']);
});

test('an order to run what runs already is done, and what a rollback goes back to stays', async () => {
  await order(orderOf('2.0.0'));
  const settled = proveProgram(switchProgram(readNodeProgram(data)));
  writeNodeProgram(data, settled);
  [heard, said] = [[], []];
  await order(create(AgentCommandSchema, { ...orderOf('2.0.0'), id: 'run-again' }));
  expect(said).toEqual([{ commandId: 'run-again', success: true }]);
  expect(heard).toEqual([]);
  expect(readNodeProgram(data)).toEqual(settled);
});

test('after a connection a trial is proved, and the last outcome is sent again', () => {
  const tell = (): void => open().connected((result) => said.push(result));
  tell();
  expect(said).toEqual([]);
  const trial = switchProgram(stageProgram(installedProgram, '', 'run-1'));
  writeNodeProgram(data, trial);
  tell();
  expect(said).toEqual([{ commandId: 'run-1', success: true }]);
  writeNodeProgram(data, proveProgram(trial));
  tell();
  expect(said.at(-1)).toEqual({ commandId: 'run-1', success: true, error: '' });
  expect(heard).toEqual(['connected', 'connected', 'connected']);
});
