/**
 * Preloaded into every process of an instrumented copy: while a file asks for it, notes which
 * functions its thread enters, in order. Touches nothing of the program.
 */

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { recorderName } from './count-calls.ts';

/** Names the folder where files ask and records go. */
export const recordFolderVariable = 'WAF_CALLS_DIR';
/** In that folder: there while calls are recorded. */
export const wantedFile = 'wanted';
/** How files end: one for each thread that runs, while it records, and its records. */
export const threadMark = '.thread';
export const recordingMark = '.recording';
export const recordMark = '.json';

const pollMs = 5;
/** Longest record; what follows is left out. */
const enteredMax = 5_000_000;

const folder = process.env[recordFolderVariable];
let entered: number[] | null = null;
let records = 0;

Object.defineProperty(globalThis, recorderName, {
  value: (index: number): void => {
    if (entered !== null && entered.length < enteredMax) entered.push(index);
  },
});

if (folder !== undefined) {
  const own = join(folder, `${process.pid}-${threadId}`);
  writeFileSync(own + threadMark, '');
  process.once('exit', () => {
    for (const mark of [threadMark, recordingMark]) rmSync(own + mark, { force: true });
  });
  setInterval(() => {
    const wanted = existsSync(join(folder, wantedFile));
    if (wanted && entered === null) {
      entered = [];
      writeFileSync(own + recordingMark, '');
    }
    if (wanted || entered === null) return;
    const record = JSON.stringify(entered);
    entered = null;
    writeFileSync(`${own}.${records++}${recordMark}`, record);
    rmSync(own + recordingMark);
  }, pollMs).unref();
}
