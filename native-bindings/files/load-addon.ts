/** Finds and loads the small addon for LMDB's files. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface FilesAddon {
  dropFilePages(): number;
  tryLock(fd: number): boolean;
  unlock(fd: number): void;
}

const relativeAddonPath = join('build', 'Release', 'waf_files.node');
let addon: FilesAddon | null | undefined;

/** The addon; null where it is not built. */
export function filesAddon(): FilesAddon | null {
  if (addon === undefined) addon = loadAddon();
  return addon;
}

function loadAddon(): FilesAddon | null {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, relativeAddonPath))) {
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
  return createRequire(import.meta.url)(join(folder, relativeAddonPath)) as FilesAddon;
}
