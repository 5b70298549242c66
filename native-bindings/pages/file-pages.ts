/**
 * Lets go of file pages that were looked at through maps of LMDB's files, and the small
 * addon that does it. Never touches what is written or anybody's data.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface PagesAddon {
  dropFilePages(): number;
}

const relativeAddonPath = join('build', 'Release', 'waf_pages.node');
let addon: PagesAddon | null | undefined;

/**
 * The pages stay in the kernel's cache and are read from there when they are looked at again, but
 * no longer count as this process's memory. The number of maps; 0 where the addon is not built.
 * Cost: some 100 us, and as little for each page that is looked at again. Source: madvise(2).
 */
export function dropFilePages(): number {
  if (addon === undefined) addon = loadAddon();
  return addon?.dropFilePages() ?? 0;
}

function loadAddon(): PagesAddon | null {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, relativeAddonPath))) {
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
  return createRequire(import.meta.url)(join(folder, relativeAddonPath)) as PagesAddon;
}
