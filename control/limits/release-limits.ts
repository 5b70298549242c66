/** The bounds of packages and releases of the program. */

/** Packages: the program as one file. */
export const releaseLimits = {
  /** A package, packed; ours have some 70 MB. */
  packageBytesMax: 512 * 1024 * 1024,
  /** Files of a package; ours have some 4,000. */
  packageFilesMax: 50_000,
  /** One file of a package; the Node runtime has 100 MB. */
  packageFileBytesMax: 256 * 1024 * 1024,
  /** Downloads of the package at once: each reads a file of this machine. */
  downloadsMax: 32,
  /** Packing ahead begins so long after the start: first starts have rules to compile, ms. */
  packAheadMs: 60_000,
  /** Free bytes of the disk below which nothing is packed ahead. */
  packAheadFreeBytesMin: 1024 * 1024 * 1024,
  /** Imported releases; an operator needs the last few of some platforms. */
  releasesMax: 32,
  /** All imported releases on disk; room for some 50 of ours. */
  releasesBytesMax: 4 * 1024 * 1024 * 1024,
  /** Public keys that may sign releases: one in use, and those before and after it. */
  trustedKeysMax: 8,
  /** The signed list of releases; 500 releases have some 500 KB. */
  indexBytesMax: 1024 * 1024,
  indexReleasesMax: 500,
  /** Fetching that list, ms: somebody waits for the answer. */
  indexTimeoutMs: 20_000,
  /** Fetching a release, ms; 70 MB over a slow line take minutes. */
  fetchTimeoutMs: 15 * 60 * 1000,
} as const;
