/**
 * The processes that a run starts: their start, readiness and end by process id. Never touches a
 * process that it did not start.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A server that was started. */
export interface Started {
  readonly pid: number;
  /** Ends it and its children; resolves when it is gone. */
  stop(): Promise<void>;
}

/** What to start. */
export interface StartOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  /** Standard output and error go here. */
  readonly logFile: string;
  /** It is ready when this port of 127.0.0.1 accepts. */
  readonly port: number;
  readonly readyTimeoutMs: number;
  readonly env?: Readonly<Record<string, string>>;
}

const stopTimeoutMs = 10_000;
const running = new Set<Started>();

/**
 * Starts a server in the foreground and waits until its port accepts. Errors: with its last output.
 */
export async function startServer(options: StartOptions): Promise<Started> {
  const log = openSync(options.logFile, 'a');
  const child = spawn(options.command[0]!, options.command.slice(1), {
    cwd: options.cwd,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...options.env },
  });
  closeSync(log);
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', resolve);
  });
  const started = adopt(child);
  try {
    await waitForPort(child, options);
  } catch (error) {
    await started.stop();
    throw error;
  }
  return started;
}

/** Makes sure that a child ends with the run, whatever happens; it may end by itself. */
export function adopt(child: ChildProcess): Started {
  const started: Started = { pid: child.pid!, stop: () => stop(child, started) };
  // Without a process id it never began, and its end would never come.
  if (child.pid !== undefined) running.add(started);
  child.once('exit', () => running.delete(started));
  return started;
}

/** Ends everything that still runs. */
export async function stopAll(): Promise<void> {
  await Promise.all([...running].map((started) => started.stop()));
}

async function waitForPort(child: ChildProcess, options: StartOptions): Promise<void> {
  const end = Date.now() + options.readyTimeoutMs;
  while (Date.now() < end) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    if (await accepts(options.port)) return;
    await sleep(50);
  }
  const why = child.exitCode === null ? 'did not become ready' : `ended with ${child.exitCode}`;
  const output = readFileSync(options.logFile, 'utf8').slice(-1500);
  throw new Error(`it ${why}:\n${output}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function stop(child: ChildProcess, started: Started): Promise<void> {
  running.delete(started);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  await ended;
  clearTimeout(late);
}

/** A port of 127.0.0.1 that nothing listens on right now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
