/**
 * Keeps values out of the events of a request: secrets, by the names of their fields, and what
 * sanitise actions named.
 */

import { HiddenNames, stars } from '../../base/hidden-names.ts';
import { hideSecrets } from '../../base/secret-text.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { hideInMatches } from './hide-secrets.ts';

/** Variables whose value is the target, or ends in the query. */
const targetNames = ['request_uri', 'request_uri_raw', 'request_line', 'query_string'];

/** The event without them; the event itself where nothing is hidden. */
export function hideValues(event: RequestEvent): RequestEvent {
  return hideSecretFields(hideNamed(event));
}

/** Password-like fields: in target, User-Agent and Referer, and wherever matches show them. */
function hideSecretFields(event: RequestEvent): RequestEvent {
  const target = hideSecrets(event.target);
  const userAgent = hideSecrets(event.userAgent);
  const referer = hideSecrets(event.referer ?? '');
  const { transaction } = event;
  if (transaction === null || transaction.matchedRules.length === 0) {
    const same = target === event.target && userAgent === event.userAgent;
    const kept = same && referer === (event.referer ?? '');
    return kept ? event : { ...event, target, userAgent, referer };
  }
  const { secrets = [], ...rest } = transaction;
  const matchedRules = hideInMatches(transaction.matchedRules, secrets);
  return { ...event, target, userAgent, referer, transaction: { ...rest, matchedRules } };
}

/**
 * What sanitise actions named: arguments in the target, the target's query where a whole one is
 * hidden, User-Agent and Referer.
 */
function hideNamed(event: RequestEvent): RequestEvent {
  const names = event.transaction?.hidden;
  if (names === undefined || event.transaction === null) return event;
  const { hidden: _, ...transaction } = event.transaction;
  const hidden = new HiddenNames(names);
  const hidesAgent = hidden.has('request_headers:user-agent');
  const referer = event.referer ?? '';
  const hidesReferer = hidden.has('request_headers:referer');
  return {
    ...event,
    target: targetNames.some((name) => hidden.has(name))
      ? event.target.replace(/\?.*$/s, (query) => `?${stars(query.slice(1))}`)
      : hidden.clean(event.target),
    userAgent: hidesAgent ? stars(event.userAgent) : event.userAgent,
    referer: hidesReferer ? stars(referer) : hidden.clean(referer),
    transaction,
  };
}
