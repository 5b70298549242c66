/**
 * The proof that proto/README.md gets people a client in Go and in Python: what it says is run
 * against a control, over gRPC and TLS. Without Debian's packages it says that it is skipped.
 */

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../support/product.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';

const works = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;
const canGo =
  works('go', 'version') &&
  works('sh', '-c', 'command -v protoc-gen-go && command -v protoc-gen-go-grpc') &&
  works('test', '-d', '/usr/share/gocode/src/google.golang.org/protobuf') &&
  works('test', '-d', '/usr/share/gocode/src/google.golang.org/grpc');
const canPython =
  works('protoc', '--version') &&
  works('sh', '-c', 'command -v grpc_python_plugin') &&
  works('/usr/bin/python3', '-c', 'import grpc');
for (const [name, can] of [
  ['Go', canGo],
  ['Python', canPython],
] as const) {
  if (!can) console.log(`skipped: 1 test, no ${name} packages; see proto/clients`);
}

let waf: TestControl;
let given: readonly string[] = [];

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: 'http://127.0.0.1:9', managementTls: 'own' });
  const passwordFile = join(waf.folder, 'password');
  writeFileSync(passwordFile, `${waf.password}\n`, { mode: 0o600 });
  const address = `127.0.0.1:${waf.control.managementPort}`;
  given = [address, join(waf.folder, 'tls', 'ca.pem'), passwordFile];
});
afterAll(async () => {
  await waf.control.close();
  rmSync(waf.folder, { recursive: true, force: true });
});

/** Runs a program beside this process, whose event loop serves it. Resolves to what it said. */
function run(command: string, args: readonly string[], more: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env: { ...process.env, ...more } });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve(`${code} ${text}`));
  });
}

const clients = join('proto', 'clients');
const timeoutMs = 10 * 60_000;

test.runIf(canGo)(
  'Go',
  async () => {
    const folder = join(waf.folder, 'go');
    // Packages that were compiled once are kept: the first time takes a minute.
    const cache = join(root, '.cache', 'go');
    mkdirSync(cache, { recursive: true });
    expect(await run(join(clients, 'go.sh'), [folder], { GOCACHE: cache })).toBe('0 ');
    const program = join(folder, 'list-sites');
    expect(await run(program, given, {})).toBe('0 site-demo localhost\n');
    const wrong = join(waf.folder, 'wrong');
    writeFileSync(wrong, 'not the password');
    expect(await run(program, [...given.slice(0, 2), wrong], {})).toMatch(/^1 .*Unauthenticated/);
  },
  timeoutMs,
);

test.runIf(canPython)(
  'Python',
  async () => {
    const folder = join(waf.folder, 'python');
    expect(await run(join(clients, 'python.sh'), [folder], {})).toBe('0 ');
    const script = join(clients, 'list-sites.py');
    const python = (args: readonly string[]): Promise<string> =>
      run('/usr/bin/python3', [script, ...args], { PYTHONPATH: folder });
    expect(await python(given)).toBe('0 site-demo localhost\n');
    const wrong = join(waf.folder, 'wrong');
    writeFileSync(wrong, 'not the password');
    expect(await python([...given.slice(0, 2), wrong])).toMatch(/^1 [^]*UNAUTHENTICATED/);
  },
  timeoutMs,
);
