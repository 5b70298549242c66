/** Names the versions of the native libraries that match. */

import { hyperscanVersion, injectionVersion, pcreVersion } from '../../native-bindings/index.ts';

/** Versions by name, without dates of builds. */
export function nativeLibraries(): Record<string, string> {
  const versions = {
    hyperscan: hyperscanVersion(),
    libinjection: injectionVersion(),
    pcre2: pcreVersion(),
  };
  const numbers = Object.entries(versions).map(([name, text]) => [name, text.split(' ')[0] ?? '']);
  return Object.fromEntries(numbers) as Record<string, string>;
}
