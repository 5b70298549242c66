/**
 * Starts the real backends and asks them what they read: PHP, Express with multer and busboy, and
 * Go over HTTP on loopback, Flask and Django through WSGI over a pipe. A backend whose packages are
 * missing is left out, which a printed line says.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { Agent, request as sendRequest } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import type { BedRequest, Reading, RequestKind } from './request.ts';

/** One reader of requests. */
export interface Backend {
  readonly name: string;
  readonly kinds: readonly RequestKind[];
  read(request: BedRequest): Promise<Reading>;
}

/** All backends that can run here. */
export interface Backends {
  readonly list: readonly Backend[];
  readonly missing: readonly string[];
  close(): Promise<void>;
}

const servers = path.join(import.meta.dirname, 'servers');
const cache = path.resolve(import.meta.dirname, '../../.cache');
const everyKind: readonly RequestKind[] = ['multipart', 'form', 'json', 'xml', 'cookie'];
const socketsMax = 8;
const answerTimeoutMs = 10_000;

const works = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** Starts them; close ends every process. */
export async function startBackends(): Promise<Backends> {
  const children: ChildProcess[] = [];
  const list: Backend[] = [...(await startExpress(children))];
  const missing: string[] = [];
  if (works('php', '--version')) list.push(await startPhp(children));
  else missing.push('PHP');
  for (const [name, module] of [
    ['Flask', 'flask'],
    ['Django', 'django'],
  ] as const) {
    if (works('/usr/bin/python3', '-c', `import ${module}`)) {
      list.push(startPython(name, `${module}_reader.py`, children));
    } else {
      missing.push(name);
    }
  }
  if (works('go', 'version')) list.push(await startGo(children));
  else missing.push('Go');
  return { list, missing, close: () => endAll(children) };
}

async function endAll(children: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    children.map((child) => {
      if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
      const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
      child.kill('SIGKILL');
      return ended;
    }),
  );
}

async function startExpress(children: ChildProcess[]): Promise<Backend[]> {
  const child = spawn(process.execPath, [path.join(servers, 'express-reader.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const port = await firstNumber(child);
  const agent = new Agent({ keepAlive: true, maxSockets: socketsMax });
  const reader = (name: string, kinds: readonly RequestKind[], place: string): Backend => ({
    name,
    kinds,
    read: (request) => askOverHttp(request, port, agent, place),
  });
  return [
    reader('Express with multer', ['multipart'], '/multer'),
    reader('Express with busboy', ['multipart'], '/busboy'),
    reader('Express with qs', ['form'], '/qs'),
    reader('Express with querystring', ['form'], '/querystring'),
    reader('Express', ['json'], '/json'),
    reader('Express with cookie-parser', ['cookie'], '/'),
  ];
}

async function startPhp(children: ChildProcess[]): Promise<Backend> {
  const port = await freePort();
  const settings = ['display_errors=0', 'log_errors=0', 'max_input_vars=10000'];
  const flags = settings.flatMap((one) => ['-d', one]);
  const address = `127.0.0.1:${port}`;
  const script = path.join(servers, 'read.php');
  const child = spawn('php', ['-n', '-d', 'extension=dom', ...flags, '-S', address, script], {
    stdio: 'ignore',
  });
  children.push(child);
  const agent = new Agent({ keepAlive: false, maxSockets: socketsMax });
  const read = (request: BedRequest): Promise<Reading> => askOverHttp(request, port, agent, '/');
  const probe: BedRequest = {
    kind: 'cookie',
    method: 'GET',
    target: '/',
    headers: [],
    body: Buffer.alloc(0),
  };
  await eventually(() => read(probe).catch(() => null));
  return { name: 'PHP', kinds: everyKind, read };
}

async function startGo(children: ChildProcess[]): Promise<Backend> {
  const program = path.join(cache, 'backends', 'go-reader');
  mkdirSync(path.dirname(program), { recursive: true });
  const env = { ...process.env, GO111MODULE: 'off', GOCACHE: path.join(cache, 'go') };
  const built = spawnSync('go', ['build', '-o', program, path.join(servers, 'reader.go')], { env });
  if (built.status !== 0) throw new Error(`go build failed:\n${String(built.stderr)}`);
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const port = await firstNumber(child);
  const agent = new Agent({ keepAlive: true, maxSockets: socketsMax });
  return { name: 'Go', kinds: everyKind, read: (one) => askOverHttp(one, port, agent, '/') };
}

function firstNumber(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('close', (code) => reject(new Error(`a backend ended with ${code}`)));
    createInterface({ input: child.stdout! }).once('line', (line) => resolve(Number(line)));
  });
}

/** Answers come in the order of the questions. */
function startPython(name: string, script: string, children: ChildProcess[]): Backend {
  const child = spawn('/usr/bin/python3', [path.join(servers, script)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  children.push(child);
  const waiting: { resolve(reading: Reading): void; reject(error: Error): void }[] = [];
  child.once('close', (code) => {
    for (const one of waiting.splice(0)) one.reject(new Error(`${name} ended with ${code}`));
  });
  createInterface({ input: child.stdout! }).on('line', (line) => {
    waiting.shift()?.resolve(decodeReading(line));
  });
  const read = ({ method, target, headers, body }: BedRequest): Promise<Reading> =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      const line = JSON.stringify({ method, target, headers, body: body.toString('base64') });
      child.stdin!.write(`${line}\n`);
    });
  return { name, kinds: everyKind, read };
}

function askOverHttp(
  { method, target, headers, body }: BedRequest,
  port: number,
  agent: Agent,
  place: string,
): Promise<Reading> {
  return new Promise((resolve, reject) => {
    const query = target.indexOf('?');
    const out = sendRequest({
      agent,
      method,
      host: '127.0.0.1',
      port,
      path: place + (query < 0 ? '' : target.slice(query)),
      headers: [...headers.flat(), 'Host', 'localhost', 'Content-Length', String(body.length)],
      timeout: answerTimeoutMs,
    });
    let late = false;
    out.once('timeout', () => {
      late = true;
      out.destroy();
      resolve({ ...emptyReading, answered: false });
    });
    out.once('error', (error) => {
      if (!late) reject(error);
    });
    out.once('response', (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.once('error', reject);
      answer.once('end', () => {
        const text = Buffer.concat(pieces).toString();
        resolve(answer.statusCode === 200 ? decodeReading(text) : emptyReading);
      });
    });
    out.end(body);
  });
}

const emptyReading: Reading = { names: [], values: [], fileNames: [], answered: true };

function decodeReading(text: string): Reading {
  const lists = JSON.parse(text) as Record<'names' | 'values' | 'fileNames', string[]>;
  const decode = (list: string[]): Buffer[] => list.map((one) => Buffer.from(one, 'base64'));
  return {
    names: decode(lists.names),
    values: decode(lists.values),
    fileNames: decode(lists.fileNames),
    answered: true,
  };
}
