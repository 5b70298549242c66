/** Names the code that plans policies: what another code planned is not read. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { addonFile } from '../match/scan.ts';
import { threadEntry } from './thread-entry.ts';

/**
 * SHA-256 of the planner thread, which imports all other files of its program by names with hashes,
 * and of the addon. Read as this thread starts: later the files may be those of another release.
 * Cost: some milliseconds.
 */
export const planningBuild: string = createHash('sha256')
  .update(readFileSync(threadEntry('planner-thread')))
  .update(readFileSync(addonFile))
  .digest('hex');
