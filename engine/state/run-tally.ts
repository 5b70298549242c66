/**
 * The files in which front threads count what they finished: one a run, mapped by every thread, so
 * that the counts of a run outlive its kill. What is illegible counts as absent.
 */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { stateLimits } from '../base/limits.ts';
import {
  tallyFields,
  tallySlotLength,
  type RunTally,
  type TallyCounts,
} from '../contract/run-tally.ts';
import { mapFile } from '../system/memory.ts';

const slotBytes = tallySlotLength * Float64Array.BYTES_PER_ELEMENT;
/** Of the header, padded to a slot: this text, then the run's name. */
const magic = 'waf-run-tally-1 ';
const runPattern = /^[0-9a-f]{32}$/;

/**
 * Begins the tally of a run with `threads` front threads; null, with a line in the log, where the
 * disk refuses: what a kill loses is then not known. `folder` is made when missing.
 */
export function tryOpenRunTally(folder: string, threads: number, log: Logger): RunTally | null {
  try {
    makeFolder(folder);
    return new TallyFiles(folder, threads);
  } catch (thrown) {
    const { message } = toAppError(thrown);
    log.error('what a kill of the engine loses cannot be counted', { reason: message });
    return null;
  }
}

class TallyFiles implements RunTally {
  readonly run = randomBytes(16).toString('hex');
  readonly path: string;
  readonly #folder: string;
  readonly #counts: Float64Array;

  constructor(folder: string, threads: number) {
    this.#folder = folder;
    this.path = join(folder, this.run);
    const bytes = Buffer.alloc((threads + 1) * slotBytes);
    bytes.write(magic + this.run, 'latin1');
    writeFileSync(this.path, bytes, { flag: 'wx', mode: 0o600 });
    this.#counts = new Float64Array(mapFile(this.path, bytes.length));
  }

  earlier(run: string): TallyCounts | null {
    return runPattern.test(run) ? readTally(join(this.#folder, run), run) : null;
  }

  current(): TallyCounts {
    return sumOf(this.#counts);
  }

  forgetEarlier(): void {
    for (const name of readdirSync(this.#folder)) {
      if (runPattern.test(name) && name !== this.run) {
        rmSync(join(this.#folder, name), { force: true });
      }
    }
  }
}

function readTally(path: string, run: string): TallyCounts | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return null;
  }
  const whole = bytes.length % slotBytes === 0 && bytes.length <= stateLimits.tallyBytesMax;
  if (!whole || !bytes.toString('latin1').startsWith(magic + run)) return null;
  // A copy: the bytes of a Buffer may begin anywhere.
  const counts = new Float64Array(new Uint8Array(bytes).buffer);
  const sound = counts
    .subarray(tallySlotLength)
    .every((count) => Number.isSafeInteger(count) && count >= 0);
  return sound ? sumOf(counts) : null;
}

/** Of all slots; the header is left out. */
function sumOf(counts: Float64Array): TallyCounts {
  const sum = (field: number): number => {
    let total = 0;
    for (let at = tallySlotLength; at < counts.length; at += tallySlotLength) {
      total += counts[at + field]!;
    }
    return total;
  };
  const [requests, blocked, facts] = tallyFields.map((_name, field) => sum(field));
  return { requests: requests!, blocked: blocked!, facts: facts! };
}
