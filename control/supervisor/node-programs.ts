/**
 * Decides which program a node's engine is, and whether a new one stays: one that ends, or does not
 * serve and reach the controller in time, is replaced by the former. The decision is on disk before
 * a program is started. Never places programs: the engine does, after it verified them.
 */

import { join } from 'node:path';
import { toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import {
  failProgram,
  programFolder,
  proveProgram,
  readNodeProgram,
  sweepPrograms,
  switchProgram,
  writeNodeProgram,
  type NodeProgram,
} from '../../base/node-program.ts';
import { programLimits } from '../../base/upgrade-limits.ts';
import type { ChildProgram } from './child.ts';

/** What the decision needs. */
export interface NodeProgramsOptions {
  readonly dataFolder: string;
  /** The program that was installed. */
  readonly installed: ChildProgram;
  readonly logger: Logger;
  /** Ends the engine and starts `program()` in its place. */
  readonly restart: () => void;
  /** Calls back once after a time; returns the undo. Tests have a clock of their own. */
  readonly after?: (ms: number, call: () => void) => () => void;
}

/** The programs of one node. */
export class NodePrograms {
  readonly #options: NodeProgramsOptions;
  #cancel: () => void = () => undefined;
  /** In this start: it serves, and it reached the controller. */
  #proofs = new Set<'ready' | 'connected'>();
  /** The engine that runs is the one on trial: what the disk says may be older. */
  #trying = false;
  /** The disk did not take that another program begins. */
  #unkept = false;

  constructor(options: NodeProgramsOptions) {
    this.#options = options;
  }

  /** What is to be started now. */
  program(): ChildProgram {
    const { dataFolder, logger, after = afterTime } = this.#options;
    this.#cancel();
    this.#proofs = new Set();
    [this.#trying, this.#unkept] = [false, false];
    let now = readNodeProgram(dataFolder);
    if (now.state === 'trial' && now.attempts >= programLimits.trialStartsMax) {
      now = this.#giveUp(now, `it was started ${now.attempts} times without success`);
    }
    if (now.state === 'settled') {
      // By the disk: what it names stays until it names something else.
      this.#sweep(readNodeProgram(dataFolder));
      return this.#at(now.current);
    }
    const before = now.fallback ?? now.current;
    now = switchProgram(now);
    // A start that is not kept is not counted: it could be tried for ever.
    this.#trying = this.#keep(now);
    this.#unkept = !this.#trying;
    if (this.#unkept) return this.#at(before);
    logger.info('starting another program on trial', { program: now.current });
    this.#cancel = after(programLimits.trialMs, () => this.#late());
    return this.#at(now.current);
  }

  /** The engine says how far it is. */
  heard(type: 'ready' | 'connected' | 'staged'): void {
    const { dataFolder, logger, restart } = this.#options;
    const now = readNodeProgram(dataFolder);
    if (type === 'staged') {
      if (now.state === 'staged') restart();
      return;
    }
    this.#proofs.add(type);
    if (now.state !== 'trial' || !this.#trying || this.#proofs.size < 2) return;
    // Without it the time of the trial continues, and the former program takes over.
    if (!this.#keep(proveProgram(now))) return;
    this.#cancel();
    logger.info('the new program serves and stays', { program: now.current });
  }

  /** The engine ended by itself; true when another program takes its place. */
  ended(reason: string): boolean {
    const now = readNodeProgram(this.#options.dataFolder);
    if (now.state === 'staged') return !this.#unkept;
    if (now.state !== 'trial' || !this.#trying) return false;
    this.#giveUp(now, `it ended: ${reason}`);
    return true;
  }

  /** The node stops; a trial continues at the next start. */
  close(): void {
    this.#cancel();
  }

  #late(): void {
    const now = readNodeProgram(this.#options.dataFolder);
    if (now.state !== 'trial') return;
    const missing = lacking(this.#proofs);
    this.#giveUp(now, `it ${missing} within ${programLimits.trialMs / 1000} s`);
    this.#options.restart();
  }

  #giveUp(now: NodeProgram, reason: string): NodeProgram {
    this.#cancel();
    const after = failProgram(now, `rolled back: ${reason}`);
    this.#keep(after);
    const text = 'the new program is given up; the former one runs again';
    this.#options.logger.error(text, { reason });
    return after;
  }

  /** False when the disk does not take it: clients are served anyway. */
  #keep(program: NodeProgram): boolean {
    const { dataFolder, logger } = this.#options;
    try {
      writeNodeProgram(dataFolder, program);
      return true;
    } catch (error) {
      const { message: reason } = toAppError(error);
      logger.error('which program this node runs cannot be kept; is the disk full?', { reason });
      return false;
    }
  }

  #sweep(program: NodeProgram): void {
    const { dataFolder, logger } = this.#options;
    try {
      for (const name of sweepPrograms(dataFolder, program)) {
        logger.info('a program that is not needed was removed', { program: name });
      }
    } catch (error) {
      const { message: reason } = toAppError(error);
      logger.warn('programs that are not needed could not be removed', { reason });
    }
  }

  #at(name: string): ChildProgram {
    if (name === '') return this.#options.installed;
    const folder = programFolder(this.#options.dataFolder, name);
    return {
      execPath: join(folder, 'node'),
      script: join(folder, 'app', '.build', 'engine', 'main.js'),
      env: { LD_LIBRARY_PATH: join(folder, 'lib') },
    };
  }
}

function lacking(proofs: ReadonlySet<string>): string {
  if (!proofs.has('ready')) return 'did not serve';
  return proofs.has('connected') ? 'could not be kept' : 'did not reach the controller';
}

function afterTime(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms).unref();
  return () => clearTimeout(timer);
}
