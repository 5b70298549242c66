/**
 * The compiled product under the runs of this folder: started on free ports, driven through its
 * admin socket, asked through its proxy, weighed by what the kernel reports.
 */

import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer as createTcp } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

const requestTimeoutMs = 600_000;
const waitMs = 600_000;
const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** One request; resolves to its status and text. */
export function ask(options, body) {
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, timeout: requestTimeoutMs }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Milliseconds until `check` is true; throws after ten minutes. */
export async function until(check, everyMs = 2) {
  const started = performance.now();
  while (performance.now() - started < waitMs) {
    if (await check().catch(() => false)) return performance.now() - started;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error('it never came true');
}

export function freePort() {
  return new Promise((resolve) => {
    const server = createTcp();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Times of reads over an administration socket, one after another, until `done`. */
export async function readWhile(socketPath, done) {
  const reads = new Worker(new URL('node-reads.mjs', import.meta.url), {
    workerData: { socketPath },
  });
  const times = once(reads, 'message');
  await done;
  reads.postMessage('end');
  return (await times)[0];
}

/** A manifest's document. JSON is YAML, too. */
export const documentOf = (kind, name, spec) =>
  JSON.stringify({ apiVersion: 'waf.io/v1', kind, metadata: { name, id: name }, spec });

/** Starts a script of this folder as a process; resolves with its first message. */
export function startScript(script, words = []) {
  const child = fork(join(import.meta.dirname, script), words);
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve({ child, message }));
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`${script} ended before it was ready`)));
  });
}

/** The product over one data folder; one process at a time. */
export class Product {
  constructor({ build, data, workers, quiet = false, flags = [] }) {
    this.build = build;
    this.data = data;
    this.workers = workers;
    this.quiet = quiet;
    this.flags = flags;
    this.socketPath = join(data, 'admin.sock');
    this.proxyAgent = new Agent({ keepAlive: true });
    this.adminAgent = new Agent({ keepAlive: true, maxSockets: 4 });
    this.child = null;
  }

  /** Starts it; resolves when its API answers. Sets `port` and `startedMs`. */
  async start() {
    this.port = await freePort();
    const line = [
      ...[join(this.build, 'control', 'cli', 'main.js'), 'run', '--data', this.data],
      ...['--workers', this.workers, '--https', 'off', '--proxy', `127.0.0.1:${this.port}`],
      ...['--management', `127.0.0.1:${await freePort()}`, ...this.flags],
    ];
    this.startedMs = performance.now();
    const log = this.quiet ? 'ignore' : 'inherit';
    this.child = spawn(process.execPath, line, { stdio: ['ignore', 'ignore', log] });
    await until(async () => (await this.askAdmin('/healthz')).status === 200, 20);
  }

  stop() {
    return new Promise((resolve) => {
      this.child.once('exit', resolve);
      this.child.kill('SIGTERM');
    });
  }

  /** Ends kept connections. */
  close() {
    this.proxyAgent.destroy();
    this.adminAgent.destroy();
  }

  askAdmin(path) {
    return ask({ socketPath: this.socketPath, path });
  }

  /** One RPC of the API. */
  async call(rpc, body = {}) {
    const headers = { 'content-type': 'application/json' };
    const answer = await ask(
      {
        socketPath: this.socketPath,
        path: `/waf.v1.${rpc}`,
        method: 'POST',
        headers,
        agent: this.adminAgent,
      },
      JSON.stringify(body),
    );
    if (answer.status !== 200) throw new Error(`${rpc}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text);
  }

  /** Applies documents, `batch` of them at a time. */
  async apply(documents, batch) {
    for (let at = 0; at < documents.length; at += batch) {
      const text = documents.slice(at, at + batch).join('\n---\n');
      await this.call('SystemService/Apply', {
        manifestYaml: Buffer.from(text).toString('base64'),
      });
    }
  }

  /** One request through the proxy. */
  through(host, path = '/', { agent = this.proxyAgent, ...options } = {}, body) {
    const { headers, ...rest } = options;
    const to = { host: '127.0.0.1', port: this.port, path, agent };
    return ask({ ...to, headers: { host, ...headers }, ...rest }, body);
  }

  /** Resolves when what is stored is what the engine serves. */
  caughtUp() {
    return until(async () => (await this.askAdmin('/readyz')).status === 200, 20);
  }

  weigh() {
    return {
      control: residentBytes(this.child.pid, 'control/main.js'),
      engine: residentBytes(this.child.pid, 'engine/main.js'),
    };
  }
}

/** Resident bytes, all and without files' pages, of the child of `parent` that `text` names. */
function residentBytes(parent, text) {
  const pid = childOf(parent, text);
  if (pid === null) return { all: 0, own: 0, peak: 0 };
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (field) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024;
  return { all: bytes('VmRSS'), own: bytes('RssAnon'), peak: bytes('VmHWM') };
}

/** The process id of the child of `parent` whose command line has `text`; null: none has. */
export function childOf(parent, text) {
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) !== parent) continue;
      if (readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text)) return Number(name);
    } catch {
      // It ended while we looked.
    }
  }
  return null;
}

/** CPU seconds of a process so far, those of all its threads. */
export function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The time that a share of all is below. */
export function quantile(times, share) {
  const sorted = times.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export function quantiles(times) {
  const text = (share) => quantile(times, share).toFixed(1);
  return `p50 ${text(0.5)} ms, p99 ${text(0.99)} ms, most ${text(1)} ms (${times.length})`;
}

/** Prints one figure. */
export const print = (name, text) => process.stdout.write(`${name.padEnd(38)} ${text}\n`);

export function megabytes({ all, own }) {
  const [shown, alone] = [all, own].map((bytes) => (bytes / 1024 / 1024).toFixed(0));
  return `${shown} MB (${alone} MB without files)`;
}
