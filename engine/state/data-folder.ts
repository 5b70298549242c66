/** Makes the engine's folder below the data folder. */

import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { makeFolder } from '../../base/make-folder.ts';

/** The engine's own folder, private to its user. Errors: `data_unwritable`, naming the flag. */
export function makeEngineFolder(data: string): string {
  const folder = join(data, 'engine');
  try {
    makeFolder(folder);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const message = `--data: the folder ${folder} cannot be made (${code})`;
    throw new AppError('data_unwritable', message, { source: 'config', cause });
  }
  return folder;
}
