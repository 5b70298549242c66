/** The bounds of sending events to other systems. */

/** SIEM targets. */
export const siemLimits = {
  /** Targets of the deployment; each formats every event that it wants. */
  targetsMax: 16,
  /** Bytes of messages that wait for one target: standard, least and most. */
  queueBytesStandard: 8 * 1024 * 1024,
  queueBytesMin: 64 * 1024,
  queueBytesMax: 64 * 1024 * 1024,
  /** Bytes that one write hands to a connection. */
  writeBytesMax: 64 * 1024,
  /** Content of the largest datagram (RFC 768 over IPv4, with room for options). */
  datagramBytesMax: 65_000,
  /** A connection that is not made, or a write that is not taken, for so long has failed. */
  connectTimeoutMs: 10_000,
  writeTimeoutMs: 60_000,
  /** Waits between attempts to reach a target: first, and longest. */
  retryMinMs: 250,
  retryMaxMs: 30_000,
  /** How long the end of control waits for messages that wait. */
  closeWaitMs: 1_000,
  /** How long a message waits for the evidence of its request, how many do, and looking again. */
  evidenceWaitMs: 5_000,
  evidenceWaitingMax: 4_096,
  evidenceLookEveryMs: 100,
  /** Bytes of a request's body in one message. */
  evidenceBodyBytesMax: 32 * 1024,
  /** Bytes of a response's body once decoded; with more it is left out. */
  decodedBodyBytesMax: 1024 * 1024,
  /** Characters of a certificate chain or a key. */
  pemCharactersMax: 65_536,
} as const;
