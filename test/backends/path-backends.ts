/**
 * Starts servers that have `/api/login` and asks them, by raw targets, whether that is what a path
 * means: Node's two readers of URLs, Express, PHP, Flask, Django, Go, nginx and Tomcat. What is not
 * installed is left out and named.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

/** One server. */
export interface PathBackend {
  readonly name: string;
  /** True where it serves `/api/login` for the target. */
  serves(target: string): Promise<boolean>;
}

/** All servers that can run here. */
export interface PathBackends {
  readonly list: readonly PathBackend[];
  readonly missing: readonly string[];
  close(): void;
}

const servers = path.join(import.meta.dirname, 'servers');
const tomcat = '/usr/share/java/tomcat10-embed-core.jar';
const answerTimeoutMs = 20_000;

/** Starts them; `close` ends every process. */
export async function startPathBackends(): Promise<PathBackends> {
  const children: ChildProcess[] = [];
  const folder = mkdtempSync(path.join(tmpdir(), 'waf-paths-'));
  const list: PathBackend[] = [];
  const missing: string[] = [];
  const add = (name: string, port: number): unknown =>
    list.push({ name, serves: (target) => serves(port, target) });
  const printed = async (command: string, args: string[]): Promise<number[]> => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    children.push(child);
    return (await firstLine(child)).split(' ').map(Number);
  };
  const node = await printed(process.execPath, [path.join(servers, 'path-reader.mjs')]);
  ['new URL', 'new URL, decoded', 'url.parse', 'Express'].forEach((name, at) =>
    add(name, node[at]!),
  );
  for (const name of ['flask', 'django']) {
    if (!works('/usr/bin/python3', '-c', `import ${name}`)) missing.push(name);
    else {
      const script = path.join(servers, 'path_reader.py');
      add(name, (await printed('/usr/bin/python3', [script, name]))[0]!);
    }
  }
  if (!works('php', '--version')) missing.push('PHP');
  else {
    const port = await freePort();
    const script = path.join(servers, 'path.php');
    children.push(spawn('php', ['-n', '-S', `127.0.0.1:${port}`, script], { stdio: 'ignore' }));
    add('PHP', port);
  }
  if (!works('nginx', '-v')) missing.push('nginx');
  else add('nginx', await startNginx(folder, children));
  if (!works('go', 'version')) missing.push('Go');
  else add('Go', (await printed(buildGo(), []))[0]!);
  if (!existsSync(tomcat) || !works('javac', '--version')) missing.push('Tomcat');
  else {
    const program = ['-cp', tomcat, path.join(servers, 'TomcatPaths.java'), folder];
    add('Tomcat', (await printed('java', program))[0]!);
  }
  for (const { serves: asked } of list)
    await eventually(() =>
      asked('/').then(
        () => true,
        () => null,
      ),
    );
  const close = (): void => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  return { list, missing, close };
}

function works(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('close', (code) => reject(new Error(`a server ended with ${code}`)));
    createInterface({ input: child.stdout! }).once('line', resolve);
  });
}

function buildGo(): string {
  const cache = path.resolve(import.meta.dirname, '../../.cache');
  const program = path.join(cache, 'backends', 'go-path');
  mkdirSync(path.dirname(program), { recursive: true });
  const env = { ...process.env, GO111MODULE: 'off', GOCACHE: path.join(cache, 'go') };
  const built = spawnSync('go', ['build', '-o', program, path.join(servers, 'path.go')], { env });
  if (built.status !== 0) throw new Error(`go build failed:\n${String(built.stderr)}`);
  return program;
}

async function startNginx(folder: string, children: ChildProcess[]): Promise<number> {
  const port = await freePort();
  const file = path.join(folder, 'nginx.conf');
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log /dev/null; events {}
     http { access_log off; ${places.join(' ')} server { listen 127.0.0.1:${port};
     location = /api/login { return 200 guarded; } location / { return 200 other; } } }`,
  );
  children.push(spawn('nginx', ['-c', file, '-p', folder], { stdio: 'ignore' }));
  return port;
}

/** Raw: a client of Node would change the target. */
function serves(port: number, target: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(
        `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
        'latin1',
      ),
    );
    socket.setTimeout(answerTimeoutMs, () => socket.destroy(new Error(`no answer to ${target}`)));
    socket.on('data', (piece) => pieces.push(piece));
    socket.once('error', reject);
    socket.once('close', () => {
      const [head = '', ...body] = Buffer.concat(pieces).toString('latin1').split('\r\n\r\n');
      resolve(/^HTTP\/1\.[01] 200 /.test(head) && body.join('').includes('guarded'));
    });
  });
}
