/**
 * A child's side of the channel to the process that started it: its messages, the request to stop,
 * and output that nobody reads any more. Never decides what stopping means.
 */

import { randomUUID } from 'node:crypto';

/** A log that nobody reads any more, or a full disk below it, ends no process that serves. */
export function surviveClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Notifies the process that started this one, if it listens; one that is gone is no error. */
export function notifySupervisor(message: Readonly<Record<string, unknown>>): void {
  process.send?.(message, undefined, undefined, () => undefined);
}

/**
 * Calls `stop`, once, on SIGTERM and when the process that started this one is gone. A terminal's
 * SIGINT and SIGHUP reach every process at once: under a supervisor, only it asks to stop.
 */
export function onStopAsked(stop: () => void): void {
  let asked = false;
  const once = (): void => {
    if (asked) return;
    asked = true;
    stop();
  };
  const unlessSupervised = (): void => {
    if (process.connected !== true) once();
  };
  process.on('SIGTERM', once);
  process.on('disconnect', once);
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, unlessSupervised);
}

/** Calls `reopen` on SIGUSR1, which asks for new log files. Until then node's debugger has it. */
export function onReopenAsked(reopen: () => void): void {
  process.on('SIGUSR1', reopen);
}

const runVariable = 'WAF_NODE_RUN';
const ownRun = randomUUID();

/** Environment that gives the processes below a supervisor one id of its run. */
export function runEnvironment(): Readonly<Record<string, string>> {
  return { [runVariable]: ownRun };
}

/** The id of this run: the supervisor's, or this process's own where nothing supervises it. */
export function runIdOf(env: NodeJS.ProcessEnv = process.env): string {
  return env[runVariable] ?? ownRun;
}
