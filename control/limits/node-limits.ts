/** The bounds of enrolled nodes: tokens, identities, commands and releases. */

/** Enrollment, and what a node proves itself with. */
export const nodeLimits = {
  /** Lifetime of an enrollment token, in seconds; the bounds are those of the contract. */
  tokenTtlSecondsMin: 60,
  tokenTtlSecondsMax: 2_592_000,
  tokenTtlSecondsDefault: 86_400,
  /** Nodes that one token enrolls; stated in the contract. */
  nodesPerTokenMax: 1_000,
  /** Tokens that are kept; those that ended go first. */
  tokensMax: 10_000,
  /** Enrolled nodes of a deployment; a thousand is what is measured. */
  agentsMax: 5_000,
  /** Tags of one node. */
  tagsMax: 64,
  /** Lifetime of a node's certificate. It renews after two thirds, so an outage may take weeks. */
  certificateDays: 90,
  /** Between two renewals of one node, which asks once an hour while its certificate is due. */
  renewalPauseMs: 10 * 60_000,
  /** Lifetime of the authority of nodes, and how long before its end a new one signs. */
  authorityDays: 3_650,
  authorityRenewDays: 730,
  /** Authorities that are trusted at once. */
  authoritiesMax: 4,
  /** What is kept of connected nodes is written together. */
  noteDelayMs: 2_000,
  /** Public key that a node offers; one on P-256 has 91 bytes. */
  publicKeyBytesMax: 512,
} as const;
