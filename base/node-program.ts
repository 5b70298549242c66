/**
 * Which program a node runs, which one it would go back to, and the file that keeps both. The
 * engine places programs here, the supervisor switches between them: neither trusts its memory, so
 * that a kill at any moment ends in one of the two programs. Never downloads or starts anything.
 */

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { readdirSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Where the program of a node stands. */
export type ProgramState =
  /** One program, proved. */
  | 'settled'
  /** Another one lies beside it and is to be started. */
  | 'staged'
  /** The other one was started and is not proved yet. */
  | 'trial';

/** What happens to the program of a node. */
export type ProgramEvent =
  /** A verified program was placed. */
  | 'stage'
  /** The placed program is started. */
  | 'switch'
  /** It serves and reached the controller. */
  | 'prove'
  /** It ended, or did neither in time. */
  | 'fail';

/** Every move that exists; a pair that is absent is a programming error. */
export const programTable: Readonly<
  Record<ProgramState, Partial<Record<ProgramEvent, ProgramState>>>
> = {
  settled: { stage: 'staged' },
  staged: { switch: 'trial' },
  // A node that was switched off during a trial begins it again.
  trial: { switch: 'trial', prove: 'settled', fail: 'settled' },
};

/** What became of an order of the controller. */
export interface ProgramOutcome {
  readonly commandId: string;
  readonly success: boolean;
  /** Why the former program runs again; '' for success. */
  readonly error: string;
}

/** The program of a node. A program is named by its folder; '' is the one that was installed. */
export interface NodeProgram {
  readonly state: ProgramState;
  readonly current: string;
  /** What a rollback goes back to; null for nothing. */
  readonly previous: string | null;
  /** What is to be started; null unless staged. */
  readonly next: string | null;
  /** What ran before the trial; null but in a trial. */
  readonly fallback: string | null;
  /** The order that is carried out; '' for none. */
  readonly commandId: string;
  /** Starts of the present trial. */
  readonly attempts: number;
  /** Of the last order that ended; null for none. */
  readonly outcome: ProgramOutcome | null;
}

/** What a node runs that was never upgraded. */
export const installedProgram: NodeProgram = {
  state: 'settled',
  current: '',
  previous: null,
  next: null,
  fallback: null,
  commandId: '',
  attempts: 0,
  outcome: null,
};

/** A verified program was placed. */
export function stageProgram(before: NodeProgram, next: string, commandId: string): NodeProgram {
  return { ...before, state: moved(before, 'stage'), next, commandId, attempts: 0 };
}

/** The placed program is started, or started again in its trial. */
export function switchProgram(before: NodeProgram): NodeProgram {
  const state = moved(before, 'switch');
  const attempts = before.attempts + 1;
  if (before.state === 'trial') return { ...before, state, attempts };
  const current = before.next ?? before.current;
  return { ...before, state, current, next: null, fallback: before.current, attempts };
}

/** The started program serves and reached the controller. */
export function proveProgram(before: NodeProgram): NodeProgram {
  return ended(before, 'prove', before.current, before.fallback, '');
}

/** The started program is given up; `error` says why. */
export function failProgram(before: NodeProgram, error: string): NodeProgram {
  return ended(before, 'fail', before.fallback ?? '', before.previous, error);
}

function ended(
  before: NodeProgram,
  event: 'prove' | 'fail',
  current: string,
  previous: string | null,
  error: string,
): NodeProgram {
  const { commandId } = before;
  const outcome = { commandId, success: event === 'prove', error };
  return { ...installedProgram, state: moved(before, event), current, previous, outcome };
}

/** Errors: an assertion for a move that the table does not have. */
function moved({ state }: NodeProgram, event: ProgramEvent): ProgramState {
  const next = programTable[state][event];
  if (next === undefined) throw new Error(`a program that is ${state} cannot take "${event}"`);
  return next;
}

/** Folder of a node's programs, below its data folder. */
export function programsFolder(dataFolder: string): string {
  return join(dataFolder, 'programs');
}

/** Folder of one placed program. */
export function programFolder(dataFolder: string, name: string): string {
  return join(programsFolder(dataFolder), name);
}

/** File with the public keys of releases that a node takes, one a line. */
export function releaseKeysFile(dataFolder: string): string {
  return join(dataFolder, 'node', 'release-keys');
}

/** What is kept, without programs whose folders are gone; the installed one where nothing is. */
export function readNodeProgram(dataFolder: string): NodeProgram {
  const path = stateFile(dataFolder);
  if (!existsSync(path) || statSync(path).size > stateBytesMax) return installedProgram;
  const found = readState(readFileSync(path, 'utf8'));
  if (found === null) return installedProgram;
  const gone = (name: string | null): boolean =>
    name !== null && name !== '' && !existsSync(programFolder(dataFolder, name));
  return withoutGone(found, gone);
}

/** Continues with what is left; an order whose program is gone has failed. */
function withoutGone(found: NodeProgram, gone: (name: string | null) => boolean): NodeProgram {
  const previous = gone(found.previous) ? null : found.previous;
  const fallback = gone(found.fallback) ? '' : found.fallback;
  if (!gone(found.current) && !gone(found.next)) return { ...found, previous, fallback };
  const current = gone(found.current) ? (fallback ?? previous ?? '') : found.current;
  const { commandId } = found;
  const failed = { commandId, success: false, error: 'the folder of the program is gone' };
  return {
    ...installedProgram,
    current,
    previous: previous === current ? null : previous,
    outcome: commandId === '' ? found.outcome : failed,
  };
}

/** Keeps it, whole or not at all; on disk when this returns. */
export function writeNodeProgram(dataFolder: string, program: NodeProgram): void {
  const folder = programsFolder(dataFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = stateFile(dataFolder);
  const scratch = `${path}.${process.pid}.new`;
  const file = openSync(scratch, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(program, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(scratch, path);
  syncFolder(folder);
}

/** Removes programs and half programs that nothing names; returns their names. */
export function sweepPrograms(dataFolder: string, program: NodeProgram): string[] {
  const { current, previous, next, fallback } = program;
  const needed = new Set([current, previous, next, fallback, stateName]);
  const folder = programsFolder(dataFolder);
  const surplus = existsSync(folder) ? readdirSync(folder).filter((one) => !needed.has(one)) : [];
  for (const name of surplus) rmSync(join(folder, name), { recursive: true, force: true });
  return surplus;
}

/** Makes names in a folder last over a loss of power. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

const stateName = 'state.json';
const stateBytesMax = 65_536;
const namePattern = /^(?:[0-9A-Za-z][0-9A-Za-z.-]{0,127})?$/;

function stateFile(dataFolder: string): string {
  return join(programsFolder(dataFolder), stateName);
}

/** Null for anything that this program did not write. */
function readState(text: string): NodeProgram | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const found = { ...installedProgram, ...(value as Partial<NodeProgram> | null) };
  const names: unknown[] = [found.current, found.previous, found.next, found.fallback];
  const named = names.every(
    (one) => one === null || (typeof one === 'string' && namePattern.test(one)),
  );
  const known = Object.hasOwn(programTable, found.state) && typeof found.current === 'string';
  return named && known && Number.isInteger(found.attempts) ? found : null;
}
