/**
 * One child process: starts it, hears its messages, starts it again with back-off when it dies,
 * stops it cleanly. Never looks into what the child does.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import type { Logger } from '../../base/log.ts';
import { initialBackOff, nextBackOff } from './back-off.ts';
import { readChildMessage, type ChildMessage } from './messages.ts';

/** How to start a child and whom to tell. */
export interface ChildOptions {
  readonly name: string;
  readonly script: string;
  /** What is run at the next start, where that changes; `script` by this Node otherwise. */
  readonly program?: () => ChildProgram;
  readonly args: readonly string[];
  readonly nodeArgs?: readonly string[];
  /** Descriptors that it inherits, as `firstInheritedFd` and those after it. */
  readonly inheritedFds?: readonly number[];
  /** Settings of its memory allocator; what the person's own environment says goes first. */
  readonly allocator?: Readonly<Record<string, string>>;
  /** Variables of our environment that it must not see. */
  readonly hiddenVariables?: readonly string[];
  readonly logger: Logger;
  readonly onMessage: (message: ChildMessage) => void;
  /** The child never became ready: starting again would not help. */
  readonly onStartFailure: (reason: string) => void;
  /** It ended unasked; true when the next start is worth it, at once and before it was ready. */
  readonly onEnded?: (reason: string) => boolean;
}

/** A program for a child. */
export interface ChildProgram {
  /** The Node runtime. */
  readonly execPath: string;
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
}

/** In the child: 0 to 2 are the standard streams, 3 is the process channel. */
export const firstInheritedFd = 4;

/** A running child; `stop` ends it and resolves when it is gone. */
export interface SupervisedChild {
  readonly name: string;
  readonly pid: number | undefined;
  /** Ends it and starts it from what its script is now, at once; resolves when that is ready. */
  restart(graceMs: number): Promise<void>;
  /** Sends a signal; nothing while it is not ready: node takes some signals for its debugger. */
  signal(name: NodeJS.Signals): void;
  /** A stop of the whole is under way: should it end before its turn, it is not started again. */
  expectEnd(): void;
  stop(graceMs: number): Promise<void>;
}

/** Starts a child and keeps it running. Errors: told through `onStartFailure`, never thrown. */
export function startChild(options: ChildOptions): SupervisedChild {
  const child = new KeptChild(options);
  child.begin();
  return child;
}

class KeptChild implements SupervisedChild {
  readonly name: string;
  private readonly options: ChildOptions;
  private child: ChildProcess | null = null;
  private stopping = false;
  private everReady = false;
  private ready = false;
  private backOff = initialBackOff;
  private timer: NodeJS.Timeout | null = null;
  private fatal = '';
  /** Its end is wanted, and the next start follows at once. */
  private restarting = false;
  private onRestarted: (() => void) | null = null;

  constructor(options: ChildOptions) {
    this.options = options;
    this.name = options.name;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  begin(): void {
    const { nodeArgs = [], args, inheritedFds = [] } = this.options;
    const { execPath, script, env } = this.options.program?.() ?? this.ownProgram();
    const startedAtMs = performance.now();
    this.fatal = '';
    this.ready = false;
    const started = spawn(execPath, [...nodeArgs, script, ...args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...inheritedFds],
      env: { ...childEnvironment(this.options), ...env },
    });
    this.child = started;
    started.on('message', (raw) => this.onMessage(readChildMessage(raw)));
    started.on('error', (error) => {
      this.fatal = error.message;
    });
    started.on('close', (code, signal) => {
      const reason = this.fatal || `ended with ${signal ?? `exit code ${code ?? -1}`}`;
      this.onClose(reason, performance.now() - startedAtMs);
    });
  }

  async restart(graceMs: number): Promise<void> {
    // One that waits to be started again starts from the new files anyway.
    if (this.stopping || this.child === null) return;
    this.restarting = true;
    const ready = new Promise<void>((resolve) => (this.onRestarted = resolve));
    await endProcess(this.child, graceMs);
    await ready;
  }

  private ownProgram(): ChildProgram {
    return { execPath: process.execPath, script: this.options.script, env: {} };
  }

  signal(name: NodeJS.Signals): void {
    if (this.ready) this.child?.kill(name);
  }

  expectEnd(): void {
    this.stopping = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  async stop(graceMs: number): Promise<void> {
    this.expectEnd();
    this.onRestarted?.();
    if (this.child !== null) await endProcess(this.child, graceMs);
  }

  private onMessage(message: ChildMessage | null): void {
    if (message === null) return;
    if (message.type === 'ready') {
      this.everReady = true;
      this.ready = true;
      this.onRestarted?.();
      this.onRestarted = null;
    }
    if (message.type === 'fatal') this.fatal = message.message;
    this.options.onMessage(message);
  }

  private onClose(reason: string, livedMs: number): void {
    this.child = null;
    if (this.stopping) return;
    if (!this.restarting && this.options.onEnded?.(reason) === true) return this.begin();
    if (!this.everReady) return this.options.onStartFailure(reason);
    if (this.restarting) {
      this.restarting = false;
      return this.begin();
    }
    const { delayMs, state } = nextBackOff(this.backOff, livedMs);
    this.backOff = state;
    const facts = { child: this.name, reason, ...state, delayMs };
    this.options.logger.error('child ended; starting it again', facts);
    this.timer = setTimeout(() => this.begin(), delayMs);
  }
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
function childEnvironment({ allocator, hiddenVariables = [] }: ChildOptions): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([key]) => !/^npm_/i.test(key) && !hiddenVariables.includes(key),
  );
  // Many threads with a heap each would keep some 30 MB of freed memory.
  return { MALLOC_ARENA_MAX: '2', ...allocator, ...Object.fromEntries(own) };
}
