/** Bounds of log policies. */

/** What a log policy may ask for. */
export const logPolicyLimits = {
  /** Bytes; less holds no request of usual size. */
  evidenceBufferBytesMin: 64 * 1024,
  /** Bytes of evidence held for requests that still run: memory of front threads. */
  evidenceInflightBytesMax: 1024 * 1024 * 1024,
  /** Bytes of finished evidence that waits for control. */
  evidenceQueueBytesMax: 4 * 1024 * 1024 * 1024,
} as const;
