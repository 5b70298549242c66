/**
 * An upgrade of three nodes through real downloads of the real artifact, under load, with
 * the command line alone; then a tampered release, a broken one, and the way back.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { identityFile, readNodeIdentity } from '../../base/node-identity.ts';
import { packagedFiles, readPackaged } from '../../control/release/package-files.ts';
import { tarPieces, type TarFile } from '../../control/release/tar-writer.ts';
import { shareDatabases } from '../support/databases.ts';
import { freePort } from '../support/free-port.ts';
import { missingBuild, root, runWaf, startProduct, type Product } from '../support/product.ts';

const commandLine = join(root, '.build', 'control', 'cli', 'main.js');
const nextVersion = '99.0.0';

interface TestNode {
  readonly id: string;
  readonly port: number;
  readonly data: string;
  readonly child: ChildProcess;
  output(): string;
}

let waf: Product;
let servers: Server[] = [];
let releases = '';
let releasePort = 0;
const nodes: TestNode[] = [];

beforeAll(async () => {
  if (missingBuild !== null) return;
  releases = mkdtempSync(join(tmpdir(), 'waf-releases-'));
  waf = await startProduct('--no-demo');
  const origin = createServer((_request, response) => response.end('from the origin'));
  const files = createServer((request, response) => {
    const path = join(releases, (request.url ?? '').replace(/[^\w.-]/g, ''));
    if (existsSync(path)) response.end(readFileSync(path));
    else response.writeHead(404).end();
  });
  servers = [origin, files];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }
  releasePort = (files.address() as AddressInfo).port;
  const { port } = origin.address() as AddressInfo;
  const upstream = ['--upstream', `http://127.0.0.1:${port}`];
  run('site', 'create', '--name', 'shop', '--host', 'shop.test', ...upstream);
  run('system', 'settings-set', '--set', 'outgoing.allowed_networks=["127.0.0.0/8"]');
});

afterAll(async () => {
  for (const { child } of nodes) await endChild(child);
  await waf?.stop();
  for (const server of servers) server.close();
  for (const { data } of nodes) rmSync(data, { recursive: true, force: true });
  if (releases !== '') rmSync(releases, { recursive: true, force: true });
});

test.skipIf(missingBuild !== null)(
  'three nodes are upgraded and taken back; tampered and broken releases change nothing',
  async () => {
    const key = join(releases, 'key.pem');
    const publicKey = runWaf(['release', 'key', '--out', key]).stdout.trim();
    expect(publicKey).toMatch(/^RW/);
    run('system', 'settings-set', '--set', `release.trusted_keys=${JSON.stringify([publicKey])}`);
    await startNodes();

    // The real artifact, but for the version that it says it has.
    pack('good.tar.gz', realFiles(), 1);
    sign('good.tar.gz', key, nextVersion);
    const id = await importFrom('good.tar.gz', nextVersion);
    const load = startLoad();
    const upgraded = await follow('release', 'apply', id);
    expect(upgraded.code, upgraded.text + nodes.map((one) => one.output()).join('\n')).toBe(0);
    expect(upgraded.text).toContain('run succeeded');
    await versionsAre(nextVersion);
    expect(await load.stop()).toEqual({ failed: [] });
    for (const node of nodes) {
      expect(await askShop(node.port, "/?id=1%27%20OR%20%271%27='1")).toBe(403);
    }

    // One whose engine ends at once: the node goes back by itself and says why.
    pack('broken.tar.gz', stubFiles('99.1.0', 'process.exit(3);'), 6);
    sign('broken.tar.gz', key, '99.1.0');
    const broken = await follow('release', 'apply', await importFrom('broken.tar.gz', '99.1.0'));
    expect(broken.code).toBe(1);
    expect(broken.text).toContain('rolled back: it ended: ended with exit code 3');
    expect(broken.text).toMatch(/run failed .*skipped=2/);
    await versionsAre(nextVersion);

    // One that was changed on the controller's disk after its import: no byte of it is unpacked.
    pack('tampered.tar.gz', stubFiles('99.2.0', 'process.exit(4);'), 6);
    sign('tampered.tar.gz', key, '99.2.0');
    const changed = await importFrom('tampered.tar.gz', '99.2.0');
    tamper(changed);
    const tampered = await follow('release', 'apply', changed);
    expect(tampered.text).toContain('the file has another SHA-256');
    for (const { data } of nodes) {
      expect(readdirSync(join(data, 'programs')).filter((one) => one.includes('99.2'))).toEqual([]);
    }
    await versionsAre(nextVersion);

    const back = await follow('release', 'rollback');
    expect(back.text).toContain('run succeeded');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    await versionsAre(version);
  },
  1_200_000,
);

async function startNodes(): Promise<void> {
  const controller = `https://127.0.0.1:${waf.managementPort}`;
  const install = ['agent', 'install', '--controller', controller, '--nodes', '3'];
  const printed = waf.waf(...install, '--print', 'foreground-script').stdout;
  const flags = /agent enroll (.*) --data/.exec(printed)?.[1]?.replaceAll("'", '').split(' ') ?? [];
  expect(flags).toContain('--release-key');
  const token = /WAF_TOKEN=(\S+)/.exec(printed)?.[1] ?? '';
  for (let count = 0; count < 3; count++) {
    const data = mkdtempSync(join(tmpdir(), 'waf-node-'));
    const file = join(data, 'token');
    writeFileSync(file, token);
    const words = ['agent', 'enroll', '--token-file', file, ...flags];
    const { code, stderr } = runWaf([...words, '--data', data]);
    expect(code, stderr).toBe(0);
    nodes.push(await startNode(data));
  }
  for (const { port } of nodes) await holds(async () => expect(await askShop(port, '/')).toBe(200));
}

async function startNode(data: string): Promise<TestNode> {
  shareDatabases(data);
  const { agentId: id } = readNodeIdentity(identityFile(data));
  const port = await freePort();
  const args = ['agent', 'run', '--data', data, '--https', 'off', '--workers', '1'];
  const line = [commandLine, ...args, '--proxy', `127.0.0.1:${port}`];
  const child = spawn(process.execPath, line, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  return { id, port, data, child, output: () => output };
}

function run(...args: string[]): string {
  const { code, stdout, stderr } = waf.waf(...args);
  expect(code, `waf ${args.join(' ')}: ${stderr}`).toBe(0);
  return stdout;
}

function* realFiles(): Generator<TarFile> {
  for (const file of readPackaged(packagedFiles(root))) {
    if (file.name !== 'waf/app/package.json') yield file;
    else yield { ...file, content: withVersion(file.content) };
  }
}

function withVersion(content: Uint8Array): Buffer {
  const found = JSON.parse(Buffer.from(content).toString()) as object;
  return Buffer.from(JSON.stringify({ ...found, version: nextVersion }));
}

/** A program of a few lines; its Node is the one that runs this test. */
function* stubFiles(version: string, engine: string): Generator<TarFile> {
  const node = `#!/bin/sh\nexec ${process.execPath} "$@"\n`;
  yield { name: 'waf/node', executable: true, content: Buffer.from(node) };
  const text = JSON.stringify({ version, type: 'module' });
  yield { name: 'waf/app/package.json', executable: false, content: Buffer.from(text) };
  const name = 'waf/app/.build/engine/main.js';
  yield { name, executable: false, content: Buffer.from(engine) };
}

function pack(name: string, files: Iterable<TarFile>, level: number): void {
  const path = join(releases, name);
  writeFileSync(path, '');
  // Members of a gzip file follow each other; one for some pieces keeps memory small.
  for (const piece of tarPieces(files)) {
    if (piece.length > 0) appendFileSync(path, gzipSync(piece, { level }));
  }
}

function sign(name: string, key: string, version: string): void {
  const words = ['release', 'sign', join(releases, name), '--key', key, '--version', version];
  const { code, stderr } = runWaf(words);
  expect(code, stderr).toBe(0);
}

/** Imports it by its URL, as large ones are; this process serves it. Resolves to the id. */
async function importFrom(name: string, version: string): Promise<string> {
  const url = `http://127.0.0.1:${releasePort}/${name}`;
  await waf.wafBeside('release', 'import', '--url', url);
  return `release-${version}-${process.platform}-${process.arch}`;
}

function tamper(id: string): void {
  const shown = JSON.parse(run('release', 'show', id, '--output', 'json')) as {
    release: { sha256: string };
  };
  const path = join(waf.data, 'releases', `${shown.release.sha256}.tar.gz`);
  const { size } = statSync(path);
  truncateSync(path, size - 1);
  appendFileSync(path, Buffer.from([1]));
}

/** Begins a run and follows it to its end. */
async function follow(...words: string[]): Promise<{ code: number; text: string }> {
  const begun = JSON.parse(run(...words, '--output', 'json')) as { run: { id: string } };
  const line = [commandLine, 'release', 'watch', begun.run.id];
  const child = spawn(process.execPath, [...line, '--data', waf.data], { cwd: root });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const code = await new Promise<number>((resolve) =>
    child.on('close', (one) => resolve(one ?? 1)),
  );
  return { code, text };
}

function versionsAre(version: string): Promise<void> {
  return holds(() => {
    const list = JSON.parse(waf.waf('agent', 'list', '--output', 'json').stdout) as {
      items: { id: string; version: string; connectionStatus: string }[];
    };
    const remote = list.items.filter(({ id }) => id !== 'local');
    const found = remote.map((one) => `${one.version} ${one.connectionStatus}`);
    expect(found).toEqual(Array.from({ length: 3 }, () => `${version} CONNECTED`));
  });
}

/** Asks every node again and again; what is no 200 is kept. */
function startLoad(): { stop(): Promise<{ failed: string[] }> } {
  const failed: string[] = [];
  let going = true;
  const loops = nodes.map(async ({ port }) => {
    let asked = 0;
    while (going) {
      const status = await askShop(port, '/');
      asked++;
      if (status !== 200) failed.push(`port ${port}, request ${asked}: ${status}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(asked).toBeGreaterThan(10);
  });
  return {
    stop: async () => {
      going = false;
      await Promise.all(loops);
      return { failed };
    },
  };
}

function askShop(port: number, path: string): Promise<number> {
  return new Promise((resolve) => {
    const asked = { host: '127.0.0.1', port, path, headers: { host: 'shop.test' }, agent: false };
    get(asked, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', () => resolve(0));
  });
}

function holds(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 120_000, interval: 300 });
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.kill('SIGTERM');
  await closed;
}
