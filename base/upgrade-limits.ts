/** The bounds of a node that replaces its program. */

/** Download, placing and trial of a program. */
export const programLimits = {
  /** An archive, packed; ours have some 70 MB. The controller imports none that is larger. */
  archiveBytesMax: 512 * 1024 * 1024,
  /** One download; 70 MB over a slow line take minutes. */
  downloadTimeoutMs: 15 * 60 * 1000,
  /** A download that stands still. */
  downloadIdleMs: 60_000,
  /** A controller that serves too many at once is asked again. */
  downloadAttemptsMax: 6,
  downloadPauseMs: 10_000,
  /** Unpacking; 4,000 files take seconds. */
  unpackTimeoutMs: 5 * 60 * 1000,
  /** A new program serves and reaches the controller within this, or the former one runs again. */
  trialMs: 5 * 60 * 1000,
  /** Starts of one trial: a machine that restarts again and again does not try for ever. */
  trialStartsMax: 3,
  /** The file of release keys, and the keys in it. */
  keysFileBytesMax: 8_192,
  keysMax: 8,
} as const;
