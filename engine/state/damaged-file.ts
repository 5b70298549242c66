/**
 * What happens to an LMDB file of the engine that cannot be opened: the library would end the
 * process, and what lies in such files is worth less than serving.
 */

import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { lmdbFileProblem } from '../../base/lmdb-file.ts';
import type { Logger } from '../../base/log.ts';

/** Renames the damaged file of the environment in `folder` and logs it; a new one replaces it. */
export function setAsideDamaged(folder: string, what: string, log: Logger): void {
  const file = join(folder, 'data.mdb');
  const problem = existsSync(file) ? lmdbFileProblem(file) : null;
  if (problem === null) return;
  log.error(`${what} begins anew: its file is damaged`, { file, problem });
  renameSync(file, `${file}.damaged`);
}
