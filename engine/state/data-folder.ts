/** Owns making the engine's folder below the data folder. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../base/errors.ts';

/** The engine's own folder, private to its user. Errors: `data_unwritable`, naming the flag. */
export function makeEngineFolder(data: string): string {
  const folder = join(data, 'engine');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const message = `--data: the folder ${folder} cannot be made (${code})`;
    throw new AppError('data_unwritable', message, { source: 'config', cause });
  }
  return folder;
}
