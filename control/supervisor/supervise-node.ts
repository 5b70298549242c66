/**
 * `waf agent run`: the engine of an enrolled node under this process, which holds its sockets while
 * it is replaced. Never talks to the controller: the engine does.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { identityFile, readNodeIdentity } from '../../base/node-identity.ts';
import { runEnvironment } from '../../base/supervisor-channel.ts';
import { supervisorLimits } from '../limits/command-limits.ts';
import { formatAddress, requireFreePort, type Address } from './address.ts';
import { startChild, type ChildProgram, type SupervisedChild } from './child.ts';
import { claimDataFolder } from './data-folder.ts';
import { holdSockets, type HeldSockets } from './held-sockets.ts';
import { NodePrograms } from './node-programs.ts';
import { memoryFlags } from './memory-flags.ts';
import { listenFds, secureArgs } from './supervise.ts';

/** What a node needs to know. */
export interface NodeRunOptions {
  /** Folder with the compiled product. */
  readonly buildFolder: string;
  readonly data: string;
  readonly proxy: Address;
  /** Where clients connect with TLS; null for nowhere. */
  readonly secureProxy: Address | null;
  readonly workers: number;
  /** Passed on to the engine as they are. */
  readonly engineArgs: readonly string[];
  readonly logLevel: string;
  readonly logger: Logger;
}

/** A running node. */
export interface RunningNode {
  readonly agentId: string;
  readonly name: string;
  readonly proxy: Address;
  readonly secureProxy: Address | null;
  restart(): Promise<void>;
  reopenLogs(): void;
  stop(): Promise<void>;
}

/**
 * Starts the node and resolves when its engine listens. Errors: AppError identity_unreadable,
 * port_busy, data_in_use, not_built, start_failed; whatever had started is stopped again.
 */
export async function superviseNode(options: NodeRunOptions): Promise<RunningNode> {
  const path = identityFile(options.data);
  const { agentId, name } = readNodeIdentity(path);
  const data = claimDataFolder(options.data);
  const held: HeldSockets[] = [];
  let child: SupervisedChild | null = null;
  let programs: NodePrograms | null = null;
  const stop = async (): Promise<void> => {
    for (const sockets of held) sockets.close();
    programs?.close();
    await child?.stop(supervisorLimits.stopGraceMs);
    data.release();
  };
  try {
    const proxy = await hold(options.proxy, '--proxy', options.workers, held);
    const secure =
      options.secureProxy && (await hold(options.secureProxy, '--https', options.workers, held));
    const args = [
      ['--data', data.path, '--log-level', options.logLevel],
      ['--identity', path, '--workers', String(options.workers)],
      ['--listen', formatAddress(proxy.address)],
      listenFds('--listen-fds', proxy, 0),
      secureArgs(secure, proxy.fds.length),
      options.engineArgs,
    ];
    programs = new NodePrograms({
      dataFolder: data.path,
      installed: installedEngine(options.buildFolder),
      logger: options.logger,
      restart: () => void child?.restart(supervisorLimits.stopGraceMs),
    });
    const fds = [...proxy.fds, ...(secure?.fds ?? [])];
    const engine = await startEngine(options, programs, args.flat(), fds, (one) => (child = one));
    return {
      agentId,
      name,
      proxy: proxy.address,
      secureProxy: secure?.address ?? null,
      restart: () => engine.restart(supervisorLimits.stopGraceMs),
      reopenLogs: () => engine.signal('SIGUSR1'),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function hold(
  address: Address,
  flag: string,
  count: number,
  held: HeldSockets[],
): Promise<HeldSockets> {
  await requireFreePort(address, flag, 0);
  const sockets = await holdSockets(address, count, flag);
  held.push(sockets);
  return sockets;
}

/** The engine beside this program. Errors: AppError not_built. */
function installedEngine(buildFolder: string): ChildProgram {
  const script = join(buildFolder, 'engine', 'main.js');
  if (existsSync(script)) return { execPath: process.execPath, script, env: {} };
  const message = `${script} is missing: run npm start, which builds it`;
  throw new AppError('not_built', message, { source: 'config' });
}

/** Resolves when the engine is ready; `started` has it before. Errors: AppError start_failed. */
function startEngine(
  { logger, buildFolder }: NodeRunOptions,
  programs: NodePrograms,
  args: readonly string[],
  inheritedFds: readonly number[],
  started: (child: SupervisedChild) => void,
): Promise<SupervisedChild> {
  return new Promise((resolve, reject) => {
    const child = startChild({
      name: 'engine',
      script: installedEngine(buildFolder).script,
      program: () => {
        const program = programs.program();
        return { ...program, env: { ...program.env, ...runEnvironment() } };
      },
      args,
      nodeArgs: memoryFlags.engine,
      inheritedFds,
      logger,
      onMessage: ({ type }) => {
        if (type === 'ready' || type === 'connected' || type === 'staged') programs.heard(type);
        if (type === 'ready') resolve(child);
      },
      onEnded: (reason) => programs.ended(reason),
      onStartFailure: (reason) =>
        reject(
          new AppError('start_failed', `engine did not start: ${reason}`, { source: 'internal' }),
        ),
    });
    started(child);
  });
}
