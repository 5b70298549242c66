/** The small addon for LMDB's files. */
import { findAddon, loadAddonFile } from '../load/load-addon.ts';

interface FilesAddon {
  dropFilePages(): number;
  tryLock(fd: number): boolean;
  unlock(fd: number): void;
}

let addon: FilesAddon | null | undefined;

/** The addon; null where it is not built. */
export function filesAddon(): FilesAddon | null {
  if (addon === undefined) addon = loadAddon();
  return addon;
}

function loadAddon(): FilesAddon | null {
  const file = findAddon('waf_files');
  return file === null ? null : loadAddonFile<FilesAddon>(file);
}
