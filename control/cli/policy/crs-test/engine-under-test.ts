/** The engine that a test run drives: a child process on a free port, with an event file. */

import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../../../base/errors.ts';
import { commandLineLimits } from '../../../limits/command-limits.ts';
import { readChildMessage } from '../../../supervisor/messages.ts';
import { openEventTail, type EventTail } from './event-tail.ts';

/** What to start. */
export interface EngineOptions {
  readonly script: string;
  /** A signed bundle as `waf bundle build` writes it. */
  readonly bundle: Uint8Array;
  /** Folder for compiled databases that outlives the run; a run of its own when undefined. */
  readonly data: string | undefined;
  readonly extraArgs: readonly string[];
  readonly logLevel: string;
  readonly onProgress: (what: string, done: number, total: number) => void;
}

/** A serving engine. */
export interface EngineUnderTest {
  readonly port: number;
  readonly pid: number;
  readonly events: EventTail;
  stop(): Promise<void>;
}

/** Starts the engine and resolves when it serves. Errors: AppError start_failed. */
export async function startEngine(options: EngineOptions): Promise<EngineUnderTest> {
  const scratch = mkdtempSync(join(tmpdir(), 'waf-crs-test-'));
  const bundle = join(scratch, 'test.bundle');
  const events = join(scratch, 'events.jsonl');
  writeFileSync(bundle, options.bundle, { mode: 0o600 });
  writeFileSync(events, '', { mode: 0o600 });
  const args = [
    ['--bundle', bundle, '--events', events],
    ['--listen', '127.0.0.1:0', '--data', options.data ?? join(scratch, 'data')],
    ['--log-level', options.logLevel],
    options.extraArgs,
  ];
  const child = spawn(process.execPath, [options.script, ...args.flat()], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const forget = endWithUs(child, scratch);
  let port: number;
  try {
    port = await waitForReady(child, options.onProgress);
  } catch (error) {
    child.kill('SIGKILL');
    rmSync(scratch, { recursive: true, force: true });
    forget();
    throw error;
  }
  const tail = openEventTail(events);
  return {
    port,
    pid: child.pid ?? 0,
    events: tail,
    stop: async () => {
      await stopChild(child);
      forget();
      tail.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** Stops the engine and removes its files when a run is interrupted, until the result is called. */
function endWithUs(child: ChildProcess, scratch: string): () => void {
  const end = (): void => {
    child.kill('SIGKILL');
    rmSync(scratch, { recursive: true, force: true });
    process.exit(130);
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}

/** Resolves with the port on which it listens. */
function waitForReady(
  child: ChildProcess,
  onProgress: (what: string, done: number, total: number) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void =>
      reject(
        new AppError('start_failed', `the engine did not start: ${why}`, { source: 'internal' }),
      );
    child.on('message', (raw) => {
      const message = readChildMessage(raw);
      if (message?.type === 'ready' && message.port !== undefined) resolve(message.port);
      else if (message?.type === 'ready') fail('it names no port');
      if (message?.type === 'fatal') fail(message.message);
      if (message?.type === 'progress') onProgress(message.what, message.done, message.total);
    });
    child.on('error', (error) => fail(error.message));
    child.on('close', (code) => fail(`exit code ${code ?? -1}`));
  });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.kill('SIGTERM');
  const insist = setTimeout(() => child.kill('SIGKILL'), commandLineLimits.testEngineStopMs);
  await closed;
  clearTimeout(insist);
}
