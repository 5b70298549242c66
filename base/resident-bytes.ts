/** How much memory the kernel says that this process holds. */

/**
 * Resident bytes of this process; 0 where the kernel does not say, as without /proc: the load of a
 * node is worth less than the node.
 */
export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}
