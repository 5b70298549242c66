/** Names the versions of the native libraries that match. */

import { hyperscanVersion } from '../../native-bindings/index.ts';

/** Versions by name. */
export function nativeLibraries(): Record<string, string> {
  return { hyperscan: hyperscanVersion().split(' ')[0] ?? '' };
}
