/**
 * The folder of compiled databases that all tests share, in the product's own format and under its
 * own keys, and the turns that test files take so that none compiles what another is compiling.
 * Tests about compiling, and about the cache itself, use folders of their own.
 */

import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..', '..');

/** A data folder of engines whose compiled databases outlive the run; `waf crs test` uses it. */
export const lastingData = path.join(root, '.cache', 'crs-test');

/** Where compiled databases lie, safe for any number of readers and writers; safe to delete. */
export const databaseFolder = path.join(lastingData, 'engine', 'databases');

const turnsFolder = path.join(root, '.cache', 'compile-turns');
const lookAgainMs = 100;
const unsignedMs = 5000;

/** Makes an engine's data folder use the shared databases. Call it before the engine starts. */
export function shareDatabases(data: string): void {
  mkdirSync(databaseFolder, { recursive: true, mode: 0o700 });
  mkdirSync(path.join(data, 'engine'), { recursive: true, mode: 0o700 });
  symlinkSync(databaseFolder, path.join(data, 'engine', 'databases'));
}

/**
 * Runs `work`, which compiles what `rules` names, while no other test file does: the second finds
 * the databases in the folder. The turn of a process that ended is taken over.
 */
export async function compileAlone<T>(rules: string, work: () => T | Promise<T>): Promise<T> {
  mkdirSync(turnsFolder, { recursive: true });
  const turn = path.join(turnsFolder, rules.replaceAll(/[^\w.-]+/g, '-'));
  while (!take(turn)) await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  try {
    return await work();
  } finally {
    rmSync(turn, { force: true });
  }
}

function take(turn: string): boolean {
  try {
    writeFileSync(turn, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!holderLives(turn)) rmSync(turn, { force: true });
    return false;
  }
}

function holderLives(turn: string): boolean {
  try {
    const pid = Number(readFileSync(turn, 'utf8'));
    // The file is there a moment before its text is.
    if (pid === 0) return Date.now() - statSync(turn).mtimeMs < unsignedMs;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
