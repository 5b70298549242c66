/** The bounds of what is asked of certificate authorities and DNS providers. */

/** Ordering and renewing certificates. */
export const acmeLimits = {
  /** One call to an authority or a DNS provider. */
  callTimeoutMs: 30_000,
  /** One answer; chains are a few KB. */
  answerBytesMax: 1024 * 1024,
  /** Of an authority's words in messages. */
  problemCharactersMax: 400,
  /** Nonces kept for the next requests, and how often a refused one is replaced. */
  noncesMax: 16,
  nonceAttemptsMax: 8,
  /** How often and how long the state of an order is asked for. */
  pollMinMs: 250,
  pollMaxMs: 30_000,
  pollTimeoutMs: 120_000,
  /** How long nodes have to say that they answer an authority. */
  nodesTimeoutMs: 10_000,
  /** How often due orders are looked for, and how many run at once. */
  tickMs: 15_000,
  ordersAtOnceMax: 4,
  /** After a failed order: doubled from the one to the other. */
  retryMinMs: 60_000,
  retryMaxMs: 24 * 3_600_000,
  /** How often an authority is asked when to renew. RFC 9773 section 4.3. */
  renewalAskMinMs: 60_000,
  renewalAskMaxMs: 6 * 3_600_000,
  /** How long the call that orders waits for the certificate; the order continues without it. */
  issueWaitMs: 100_000,
  /** Orders kept. */
  ordersMax: 20_000,
  /** One exchange with a DNS server. */
  dnsTimeoutMs: 10_000,
} as const;
