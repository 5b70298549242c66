/**
 * `waf run`: control and the engine as two processes under this one, from the first check to the
 * clean stop. Never serves traffic itself, but for the demo origin.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { supervisorLimits } from '../limits/command-limits.ts';
import { formatAddress, requireFreePort, type Address } from './address.ts';
import { firstInheritedFd, startChild, type SupervisedChild } from './child.ts';
import { claimDataFolder, type DataFolder } from './data-folder.ts';
import { startDemoOrigin, type DemoOrigin } from './demo-origin.ts';
import { holdSockets, type HeldSockets } from './held-sockets.ts';
import { memoryFlags } from './memory-flags.ts';
import type { ChildMessage } from './messages.ts';
import type { ProgressView } from './progress.ts';
import { waitUntilReady } from './readiness.ts';

/** What a run needs to know; addresses are checked before anything starts. */
export interface SuperviseOptions {
  /** Folder with the compiled product. */
  readonly buildFolder: string;
  readonly data: string;
  readonly proxy: Address;
  /** Where clients connect with TLS; null for nowhere. */
  readonly secureProxy?: Address | null;
  readonly management: Address;
  readonly adminSocket?: string;
  readonly demo: boolean;
  /** Passed on to control as they are. */
  readonly controlArgs?: readonly string[];
  /** Variables of the environment that control alone sees. */
  readonly controlVariables?: readonly string[];
  /** Called with the data folder when it is ours, before anything starts. */
  readonly prepareData?: (folder: string) => void;
  /** Front threads of the engine; each serves one of the sockets that this process holds. */
  readonly workers: number;
  /** False: the engine binds by itself (`--listener uws`), and its restarts refuse clients. */
  readonly holdsSockets?: boolean;
  /** Passed on to the engine as they are. */
  readonly engineArgs: readonly string[];
  readonly logLevel: string;
  readonly logger: Logger;
  readonly progress: ProgressView;
  /** Ends a start that is still under way, as `stop` ends a run. */
  readonly stopAsked?: AbortSignal;
}

/** A running product. */
export interface Supervised {
  readonly adminSocket: string;
  readonly passwordFile: string;
  /** Where clients connect. */
  readonly proxy: Address;
  /** Where they connect with TLS; null for nowhere. */
  readonly secureProxy: Address | null;
  /** Where people and programs reach the API. */
  readonly management: Address;
  /**
   * Starts control, then the engine again from what is on disk now, which an upgrade has replaced.
   * Clients that connect meanwhile wait. Never rejects: what does not start again is logged.
   */
  restart(): Promise<void>;
  /** Opens the log files of the engine anew, under the same names. */
  reopenLogs(): void;
  /** Resolves with the exit code when the product stopped by itself or through `stop`. */
  readonly ended: Promise<number>;
  stop(): Promise<void>;
}

/** What a stop has to end. */
interface Parts {
  readonly children: SupervisedChild[];
  demo: DemoOrigin | null;
  sockets: HeldSockets | null;
  secureSockets: HeldSockets | null;
  /** Of control: callers of the API wait while it is replaced. */
  management: HeldSockets | null;
}

/**
 * Starts everything and resolves when requests are served. Errors: AppError port_busy, data_in_use,
 * not_built, start_failed, stopped; whatever had started is stopped again.
 */
export async function supervise(options: SuperviseOptions): Promise<Supervised> {
  const data = claimDataFolder(options.data, options.adminSocket);
  const parts: Parts = {
    children: [],
    demo: null,
    sockets: null,
    secureSockets: null,
    management: null,
  };
  const ended = deferred<number>();
  const stop = stopOnce(parts, data, () => ended.resolve(0));
  try {
    const passwordFile = await Promise.race([
      whenAsked(options.stopAsked),
      startAll(options, data, parts),
    ]);
    return {
      adminSocket: data.adminSocket,
      passwordFile,
      proxy: parts.sockets?.address ?? options.proxy,
      secureProxy: parts.secureSockets?.address ?? null,
      management: parts.management?.address ?? options.management,
      restart: () => restartBoth(parts.children, options.logger),
      reopenLogs: () => parts.children.find(({ name }) => name === 'engine')?.signal('SIGUSR1'),
      ended: ended.promise,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Never resolves. Errors: AppError stopped, when somebody asks. */
function whenAsked(stopAsked: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const stopped = (): void =>
      reject(new AppError('stopped', 'stopped before it was ready', { source: 'config' }));
    if (stopAsked?.aborted === true) stopped();
    stopAsked?.addEventListener('abort', stopped, { once: true });
  });
}

/** Checks, then starts everything. Resolves to the password file's path. */
async function startAll(
  options: SuperviseOptions,
  data: DataFolder,
  parts: Parts,
): Promise<string> {
  // Children of a supervisor that was killed need a moment to notice.
  const patienceMs = data.leftOver ? supervisorLimits.leftOverMs : 0;
  await requireFreePort(options.proxy, '--proxy', patienceMs);
  const held = options.holdsSockets === false ? 0 : options.workers;
  const sockets = await holdSockets(options.proxy, held, '--proxy');
  parts.sockets = sockets;
  if (options.secureProxy) {
    await requireFreePort(options.secureProxy, '--https', patienceMs);
    parts.secureSockets = await holdSockets(options.secureProxy, held, '--https');
  }
  await requireFreePort(options.management, '--management', patienceMs);
  parts.management = await holdSockets(options.management, 1, '--management');
  options.prepareData?.(data.path);
  if (options.demo) parts.demo = await startDemoOrigin(data.demoOriginFile);
  if (options.stopAsked?.aborted === true) {
    await parts.demo?.close();
    closeSockets(parts);
    return '';
  }
  return startBoth(options, data, parts, sockets, parts.management);
}

/** Starts control and engine. Resolves to the password file's path. */
async function startBoth(
  options: SuperviseOptions,
  data: DataFolder,
  parts: Parts,
  sockets: HeldSockets,
  management: HeldSockets,
): Promise<string> {
  let passwordFile = join(data.path, 'admin-password');
  const demoFlag = parts.demo === null ? ['--no-demo'] : ['--demo-origin', parts.demo.url];
  const shared = ['--data', data.path, '--log-level', options.logLevel];
  const controlArgs = [
    ['--management', formatAddress(management.address)],
    listenFds('--management-fd', management, 0),
    ['--admin-socket', data.adminSocket],
    demoFlag,
    options.controlArgs ?? [],
  ];
  const engineArgs = [
    ['--listen', formatAddress(sockets.address)],
    ['--workers', String(options.workers)],
    listenFds('--listen-fds', sockets, 0),
    secureArgs(parts.secureSockets, sockets.fds.length),
    ['--controller', `unix:${data.adminSocket}`],
    options.engineArgs,
  ];
  const { children } = parts;
  // Side by side: an engine with a bundle from before serves it without waiting for control.
  const [ready] = await Promise.all([
    startOne(options, children, 'control', [...shared, ...controlArgs.flat()], management.fds),
    startOne(
      options,
      children,
      'engine',
      [...shared, ...engineArgs.flat()],
      [...sockets.fds, ...(parts.secureSockets?.fds ?? [])],
    ),
  ]);
  if (ready.type === 'ready' && ready.passwordFile !== undefined) passwordFile = ready.passwordFile;
  options.progress.finish();
  const serves = await waitUntilReady(data.adminSocket, options.stopAsked);
  if (!serves && options.stopAsked?.aborted !== true) {
    options.logger.warn('rules are still being compiled; sites answer 503 until theirs are', {
      ask: 'waf agent state',
    });
  }
  return passwordFile;
}

/** `before`: descriptors that the child inherits in front of these. */
export function listenFds(flag: string, { fds }: HeldSockets, before: number): string[] {
  const numbers = fds.map((_, index) => firstInheritedFd + before + index);
  return numbers.length === 0 ? [] : [flag, numbers.join(',')];
}

/** The flags of the sockets for TLS; none without. */
export function secureArgs(sockets: HeldSockets | null, before: number): string[] {
  if (sockets === null) return [];
  const listen = ['--https-listen', formatAddress(sockets.address)];
  return [...listen, ...listenFds('--https-listen-fds', sockets, before)];
}

/**
 * What control frees in blocks of 32 KB and more, such as what compiling its modules needed, goes
 * back to the system at once: some 10 MB on a first start. The engine gives memory back by itself.
 */
const allocators = {
  control: { MALLOC_MMAP_THRESHOLD_: '32768', MALLOC_TRIM_THRESHOLD_: '32768' },
  engine: {},
};

/** Starts one child and resolves with its ready message. */
async function startOne(
  options: SuperviseOptions,
  children: SupervisedChild[],
  name: 'control' | 'engine',
  args: readonly string[],
  inheritedFds: readonly number[] = [],
): Promise<ChildMessage> {
  const script = join(options.buildFolder, name, 'main.js');
  if (!existsSync(script)) {
    throw new AppError('not_built', `${script} is missing: run npm start, which builds it`, {
      source: 'config',
    });
  }
  const ready = deferred<ChildMessage>();
  const failed = (reason: string): void =>
    ready.reject(
      new AppError('start_failed', `${name} did not start: ${reason}`, { source: 'internal' }),
    );
  const timer = setTimeout(
    () => failed('it took longer than ten minutes'),
    supervisorLimits.startTimeoutMs,
  );
  // When the other child fails, nobody settles this promise: it must not keep us alive.
  timer.unref();
  const onMessage = (message: ChildMessage): void => {
    if (message.type === 'ready') ready.resolve(message);
    if (message.type === 'progress') {
      options.progress.show(message.what, message.done, message.total);
    }
  };
  const { logger } = options;
  const child = startChild({
    name,
    script,
    args,
    nodeArgs: memoryFlags[name],
    inheritedFds,
    allocator: allocators[name],
    hiddenVariables: name === 'engine' ? (options.controlVariables ?? []) : [],
    logger,
    onMessage,
    onStartFailure: failed,
  });
  children.push(child);
  try {
    return await ready.promise;
  } finally {
    clearTimeout(timer);
  }
}

/** Control first: should it not come back, the engine serves on. */
async function restartBoth(children: readonly SupervisedChild[], logger: Logger): Promise<void> {
  for (const child of children) {
    logger.info('restarting', { child: child.name });
    await child.restart(supervisorLimits.stopGraceMs);
  }
}

/** Engine before control: what it observed while draining still finds its way. */
function stopOnce(parts: Parts, data: DataFolder, done: () => void): () => Promise<void> {
  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    // Children close their own descriptors when they stop: then clients are refused.
    closeSockets(parts);
    // SIGTERM to the process group reaches control beside us: it may end before the engine.
    for (const child of parts.children) child.expectEnd();
    for (const child of parts.children.toReversed()) await child.stop(supervisorLimits.stopGraceMs);
    await parts.demo?.close();
    data.release();
    done();
  };
  return () => (stopped ??= stop());
}

function closeSockets({ sockets, secureSockets, management }: Parts): void {
  for (const held of [sockets, secureSockets, management]) held?.close();
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: AppError): void;
}

function deferred<T>(): Deferred<T> {
  let settle: Pick<Deferred<T>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return {
    promise,
    resolve: (value) => settle?.resolve(value),
    reject: (why) => settle?.reject(why),
  };
}
