/** Exchanges a data folder's contents for a restored backup, and finishes it after a kill. */

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  claimFile,
  engineFolder,
  evidenceKeysFile,
  evidenceStore,
  restoreFolders,
  storesIn,
  syncPath,
} from './data-files.ts';

/**
 * Finishes a restore that was interrupted, or clears away one that had not begun to exchange.
 * Call before the stores are opened. Cost: a few look-ups where there was none.
 */
export function settleRestore(data: string): void {
  if (!existsSync(data)) return;
  const at = (name: keyof typeof restoreFolders): string => join(data, restoreFolders[name]);
  rmSync(at('staging'), { recursive: true, force: true });
  if (existsSync(at('ready'))) {
    moveOldAside(data, at('ready'), at('old'));
    renameSync(at('ready'), at('moving'));
    syncPath(data);
  }
  if (existsSync(at('moving'))) {
    for (const name of readdirSync(at('moving'))) {
      renameSync(join(at('moving'), name), join(data, name));
    }
    syncPath(data);
    rmSync(at('moving'), { recursive: true });
  }
  rmSync(at('old'), { recursive: true, force: true });
}

/** Stores that the backup does not hold stay, and so do the engine's compiled databases. */
function moveOldAside(data: string, ready: string, old: string): void {
  mkdirSync(join(old, engineFolder), { recursive: true, mode: 0o700 });
  const coming = new Set(readdirSync(ready));
  const ours = new Set<string>([claimFile, engineFolder, ...Object.values(restoreFolders)]);
  const staying = new Set(storesIn(data).filter((name) => !coming.has(name)));
  // Keys stay with what they encrypted: without them evidence that stays could not be read.
  if (staying.has(evidenceStore) && existsSync(join(data, evidenceKeysFile))) {
    ours.add(evidenceKeysFile);
    rmSync(join(ready, evidenceKeysFile), { force: true });
  }
  const move = (path: string): void => {
    rmSync(join(old, path), { recursive: true, force: true });
    renameSync(join(data, path), join(old, path));
  };
  for (const name of readdirSync(data)) if (!ours.has(name) && !staying.has(name)) move(name);
  // What the engine served last belongs to the configuration that goes.
  const engine = join(data, engineFolder);
  for (const name of existsSync(engine) ? readdirSync(engine) : []) {
    if (name !== 'databases') move(join(engineFolder, name));
  }
}
