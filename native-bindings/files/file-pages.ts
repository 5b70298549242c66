/**
 * Lets go of file pages that were looked at through maps of LMDB's files. Never touches what is
 * written or anybody's data.
 */
import { filesAddon } from './load-addon.ts';

/**
 * The pages stay in the kernel's cache and are read from there when they are looked at again, but
 * no longer count as this process's memory. The number of maps; 0 where the addon is not built.
 * Cost: some 100 us, and as little for each page that is looked at again. Source: madvise(2).
 */
export function dropFilePages(): number {
  return filesAddon()?.dropFilePages() ?? 0;
}
