/** Opens the store of what was observed, which may begin anew. Never the configuration's. */

import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Kv } from './kv.ts';
import { openLmdbKv } from './lmdb-kv.ts';

/**
 * Opens a store of what was observed in `folder`; `durable` as in LmdbOptions. A damaged file is no
 * reason not to start: it is set aside as damaged.mdb, with a line in the log. Errors: as
 * openLmdbKv else.
 */
export function openLogs(folder: string, logger: Logger, durable = false): Kv {
  try {
    return openLmdbKv({ folder, durable, readsAhead: false });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'store_damaged') throw error;
  }
  const file = join(folder, 'damaged.mdb');
  renameSync(join(folder, 'data.mdb'), file);
  rmSync(join(folder, 'lock.mdb'), { force: true });
  logger.error('the store of events begins anew: its file is damaged, and set aside', { file });
  return openLmdbKv({ folder, durable, readsAhead: false });
}
