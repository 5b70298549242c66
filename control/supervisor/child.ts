/**
 * Owns one child process: starts it, hears its messages, starts it again with back-off when it
 * dies, stops it cleanly. Never looks into what the child does.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import type { Logger } from '../../engine/base/log.ts';
import { initialBackOff, nextBackOff } from './back-off.ts';
import { readChildMessage, type ChildMessage } from './messages.ts';

/** How to start a child and whom to tell. */
export interface ChildOptions {
  readonly name: string;
  readonly script: string;
  readonly args: readonly string[];
  readonly nodeArgs?: readonly string[];
  /** Settings of its memory allocator; what the person's own environment says goes first. */
  readonly allocator?: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly onMessage: (message: ChildMessage) => void;
  /** The child never became ready: starting again would not help. */
  readonly onStartFailure: (reason: string) => void;
}

/** A running child; `stop` ends it and resolves when it is gone. */
export interface SupervisedChild {
  readonly name: string;
  readonly pid: number | undefined;
  stop(graceMs: number): Promise<void>;
}

/** Starts a child and keeps it running. Errors: told through `onStartFailure`, never thrown. */
export function startChild(options: ChildOptions): SupervisedChild {
  const { name, logger } = options;
  let child: ChildProcess | null = null;
  let stopping = false;
  let everReady = false;
  let backOff = initialBackOff;
  let timer: NodeJS.Timeout | null = null;
  let fatal = '';

  const begin = (): void => {
    const startedAtMs = performance.now();
    fatal = '';
    const started = spawn(
      process.execPath,
      [...(options.nodeArgs ?? []), options.script, ...options.args],
      { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: childEnvironment(options.allocator) },
    );
    child = started;
    started.on('message', (raw) => {
      const message = readChildMessage(raw);
      if (message === null) return;
      if (message.type === 'ready') everReady = true;
      if (message.type === 'fatal') fatal = message.message;
      options.onMessage(message);
    });
    started.on('error', (error) => {
      fatal = error.message;
    });
    started.on('close', (code, signal) => {
      child = null;
      if (stopping) return;
      const reason = fatal || `ended with ${signal ?? `exit code ${code ?? -1}`}`;
      if (!everReady) return options.onStartFailure(reason);
      const next = nextBackOff(backOff, performance.now() - startedAtMs);
      backOff = next.state;
      const { delayMs } = next;
      const facts = { child: name, reason, ...next.state, delayMs };
      logger.error('child ended; starting it again', facts);
      timer = setTimeout(begin, delayMs);
    });
  };
  begin();

  return {
    name,
    get pid() {
      return child?.pid;
    },
    stop: async (graceMs) => {
      stopping = true;
      if (timer !== null) clearTimeout(timer);
      if (child !== null) await endProcess(child, graceMs);
    },
  };
}

/** Asks with SIGTERM, then insists with SIGKILL when `graceMs` passed. */
async function endProcess(child: ChildProcess, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.kill('SIGTERM');
  const insist = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await closed;
  clearTimeout(insist);
}

/** npm's own variables are no business of the product's processes. */
function childEnvironment(allocator: ChildOptions['allocator']): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key));
  // Many threads with a heap each would keep some 30 MB of freed memory.
  return { MALLOC_ARENA_MAX: '2', ...allocator, ...Object.fromEntries(own) };
}
