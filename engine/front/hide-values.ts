/** Owns keeping values that sanitise actions named out of what is told of a request. */

import { HiddenNames, stars } from '../base/hidden-names.ts';
import type { RequestEvent } from '../contract/events.ts';

/** Variables whose value is the target, or ends in the query. */
const targetNames = ['request_uri', 'request_uri_raw', 'request_line', 'query_string'];

/**
 * The event without them: arguments in the target, the target's query where a whole one is hidden,
 * and the User-Agent. The event itself where nothing is hidden.
 */
export function hideValues(event: RequestEvent): RequestEvent {
  const names = event.transaction?.hidden;
  if (names === undefined || event.transaction === null) return event;
  const { hidden: _, ...transaction } = event.transaction;
  const hidden = new HiddenNames(names);
  const hidesAgent = hidden.has('request_headers:user-agent');
  return {
    ...event,
    target: targetNames.some((name) => hidden.has(name))
      ? event.target.replace(/\?.*$/s, (query) => `?${stars(query.slice(1))}`)
      : hidden.clean(event.target),
    userAgent: hidesAgent ? stars(event.userAgent) : event.userAgent,
    transaction,
  };
}
