/**
 * Security events by the country of their clients. Events hold addresses, not countries: which
 * clients there were is asked first, then events of those that the geo database has in a country.
 */

import type {
  QuerySecurityEventsRequest,
  SecurityEventJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { openNetworkGeo } from '../../access/network-geo.ts';
import { refusal } from '../../domain/errors.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { prepareFilter, type EventFilter } from '../../observe/events/event-filter.ts';
import { paced } from '../../observe/paced.ts';
import { securityFilter } from '../../observe/query.ts';
import { securityKind } from '../../observe/security-event.ts';
import type { Uses } from '../context.ts';

/**
 * The filter of a query, its countries included. Errors: as `securityFilter`; resource_exhausted
 * for more clients than are counted, as an answer without some of them would be wrong.
 */
export async function securityFilterOf(
  parts: Uses<'store' | 'events'>,
  tenantId: string,
  query: QuerySecurityEventsRequest,
  signal: AbortSignal,
): Promise<EventFilter> {
  const filter = securityFilter(tenantId, query);
  if (query.countryCodes.length === 0) return filter;
  const values = await clientsIn(parts, filter, new Set(query.countryCodes), signal);
  return { ...filter, anyOf: [...filter.anyOf, { field: 'client', values }] };
}

/**
 * Says of one event whether a query finds it, at any time. Countries are those of the geo database
 * of this moment. Errors: as `securityFilter`.
 */
export function securityCheckOf(
  { store }: Uses<'store'>,
  tenantId: string,
  query: QuerySecurityEventsRequest,
): (event: SecurityEventJson) => boolean {
  const filter = securityFilter(tenantId, { ...query, timeRange: undefined });
  const { matches } = prepareFilter(securityKind, filter);
  if (query.countryCodes.length === 0) return matches;
  const countries = new Set(query.countryCodes);
  const placeOf = openNetworkGeo(store);
  return (event) =>
    matches(event) && countries.has(placeOf(event.clientIp ?? '')?.countryCode ?? '');
}

async function clientsIn(
  { store, events }: Uses<'store' | 'events'>,
  filter: EventFilter,
  countries: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { summaryKeysMax, countryClientsMax } = observationLimits;
  const limit = summaryKeysMax + 1;
  const question = { ask: 'ranking', kind: 'security', filter, field: 'client', limit } as const;
  const { entries, limited } = await events.ask(question, signal);
  if (limited || entries.length > summaryKeysMax) throw tooMany();
  const placeOf = openNetworkGeo(store);
  const clients: string[] = [];
  for await (const { key } of paced(entries, { signal })) {
    if (!countries.has(placeOf(key)?.countryCode ?? '')) continue;
    if (clients.length === countryClientsMax) throw tooMany();
    clients.push(key);
  }
  return clients;
}

function tooMany(): Error {
  return refusal(
    'resource_exhausted',
    'countryCodes: stands for too many clients; ask for a shorter time or one site',
  );
}
