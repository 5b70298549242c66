/**
 * Who may answer a request in place of its origin, in the order in which they are asked: the first
 * with an answer gives it. One order for the code that asks, its tests and the guide on delivery.
 */

/** What a site answers by itself. */
export const siteAnswerNames = ['security_txt', 'maintenance', 'redirect', 'preflight'] as const;
/** One of them. */
export type SiteAnswerName = (typeof siteAnswerNames)[number];

/** Guards that are asked one after another; `guardNames` has the names of others, too. */
export const askedGuards = ['bot', 'rate_limit', 'ip', 'country', 'auth'] as const;

/** All of them, for a request whose head is well-formed. */
export const answerOrder = [
  /** Answers to authorities, 421, and the way to HTTPS. */
  'connection',
  ...siteAnswerNames,
  /** A body whose announced length is over the bound of its path or of the node. */
  'body_length',
  ...askedGuards,
  /** API documents on the head. */
  'schema',
  /** Rules, virtual patches and the score, on head and body. */
  'rules',
  /** API documents on the body. */
  'schema_body',
] as const;
/** One of them. */
export type AnswererName = (typeof answerOrder)[number];
