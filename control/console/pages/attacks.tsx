/** The list of security events: one filter, kept in the address, for list, chart and rankings. */

import { createClient } from '@connectrpc/connect';
import { create } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import {
  LogService,
  SecurityEventOutcome,
  SecuritySummaryDimension,
  type LogTopEntry,
  QuerySecurityEventsRequestSchema,
  type QuerySecurityEventsRequest,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { address, go, withQuery } from '../address.ts';
import { useCall } from '../call.ts';
import { attackName } from '../parts/attack-name.ts';
import { ColumnChoice } from '../parts/column-choice.tsx';
import { eventColumns, EventTable } from '../parts/event-table.tsx';
import { textField } from '../parts/form.ts';
import { Link } from '../parts/link.tsx';
import { LiveEvents } from '../parts/live-events.tsx';
import { ListEnd, useLongList } from '../parts/long-list.tsx';
import { Groups, Ranking, type Rank } from '../parts/ranking.tsx';
import { SiteChoice } from '../parts/site-choice.tsx';
import { SpanChoice } from '../parts/span-choice.tsx';
import { State } from '../parts/state.tsx';
import { TimeBars } from '../parts/time-bars.tsx';
import { transport } from '../session.ts';
import { exactNumber, language, t } from '../text/text.ts';
import { spanOf, timeRange } from '../time-span.ts';

const logs = createClient(LogService, transport);
const pageSize = 100;
const ranksShown = 6;

/** Filters that are typed, in the order of their fields. */
const typed = ['client', 'country', 'rule', 'type', 'path', 'request'] as const;
const filters = ['outcome', ...typed, 'site'] as const;
const outcomes: Readonly<Record<string, SecurityEventOutcome>> = {
  blocked: SecurityEventOutcome.BLOCKED,
  passed: SecurityEventOutcome.PASSED,
};
const dimensions = [
  SecuritySummaryDimension.RULE,
  SecuritySummaryDimension.ATTACKER,
  SecuritySummaryDimension.ATTACK_TYPE,
  SecuritySummaryDimension.PATH,
];

/** The filter of the address as calls want it. */
function queryOf(fields: URLSearchParams, cursor = ''): QuerySecurityEventsRequest {
  const value = (name: string): string => fields.get(name) ?? '';
  const list = (name: string): string[] => (value(name) === '' ? [] : [value(name)]);
  return create(QuerySecurityEventsRequestSchema, {
    page: { pageSize, cursor },
    timeRange: timeRange(spanOf(fields.get('span'))),
    siteId: value('site'),
    outcome: outcomes[value('outcome')] ?? SecurityEventOutcome.ANY,
    clientIpCidrs: list('client'),
    countryCodes: list('country'),
    ruleIds: list('rule'),
    attackTypes: list('type'),
    path: value('path'),
    uniqueId: value('request'),
  });
}

/** The page. */
export function Attacks(): JSX.Element {
  const { query } = address.value;
  const live = query.get('live') === '1';
  const key = query.toString();
  const { start, end } = timeRange(spanOf(query.get('span')));
  const bounds = { startMs: timestampMs(start), endMs: timestampMs(end) };
  const summary = useCall(key, (signal) =>
    logs.getSecurityLogSummary(
      { query: queryOf(query), topLimit: ranksShown, dimensions, includeTrend: true },
      { signal },
    ),
  );
  return (
    <>
      <div class="head">
        <h1>{t('attacks.title')}</h1>
        <SpanChoice />
      </div>
      <Filters />
      {live && (
        <LiveEvents
          key={filters.map((name) => query.get(name) ?? '').join('\n')}
          query={queryOf(query)}
        />
      )}
      <State of={summary}>
        {({ total, blocked, passed, trend, topRules, topIps, topAttackTypes, topPaths }) => (
          <>
            <section class="card wide">
              <TimeBars
                bars={trend.map(({ time, count, blocked: red }) => ({
                  at: time,
                  total: count,
                  blocked: red,
                }))}
                {...bounds}
                unit={t('attacks.events')}
                label={totals(total, blocked, passed)}
              />
              <p class="quiet">{totals(total, blocked, passed)}</p>
            </section>
            <Groups>
              <Ranking title={t('overview.topRules')} ranks={narrowing(topRules, 'rule')} />
              <Ranking title={t('overview.topAttackers')} ranks={narrowing(topIps, 'client')} />
              <Ranking title={t('overview.topTypes')} ranks={narrowing(topAttackTypes, 'type')} />
              <Ranking title={t('attacks.paths')} ranks={narrowing(topPaths, 'path')} />
            </Groups>
          </>
        )}
      </State>
      {!live && <Events key={key} />}
    </>
  );
}

function totals(total: bigint, blocked: bigint, passed: bigint): string {
  return t('attacks.total', {
    total: exactNumber(total),
    blocked: exactNumber(blocked),
    passed: exactNumber(passed),
  });
}

/** A ranking whose lines narrow the filter. */
function narrowing(entries: readonly LogTopEntry[], field: (typeof filters)[number]): Rank[] {
  return entries.map(({ key, count, label }) => ({
    key,
    count,
    ...(field === 'type' ? { name: attackName(key) } : { label }),
    href: withQuery({ [field]: key }),
  }));
}

/** Shows in the fields what the address holds. */
function showIn(form: HTMLFormElement, query: URLSearchParams): void {
  for (const name of filters) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement) field.value = query.get(name) ?? '';
  }
}

/** The code of an entered country; the names of all are only looked up where there is one. */
async function countryOf(text: string): Promise<string> {
  if (text === '') return '';
  const { enteredCountry } = await import('../parts/countries.ts');
  return enteredCountry(text, language.value);
}

function Filters(): JSX.Element {
  const { query } = address.value;
  const form = useRef<HTMLFormElement>(null);
  // The fields stay, and the focus in them; what is typed stays until the address changes.
  useEffect(() => showIn(form.current!, query), [query.toString()]);
  const follow = async (): Promise<void> => {
    const data = new FormData(form.current!);
    const fields = filters.map((name) => [name, textField(data, name)] as const);
    const request = textField(data, 'request');
    const country = await countryOf(textField(data, 'country'));
    const next = withQuery({
      ...Object.fromEntries(fields),
      country,
      // Who got the id of a request need not know when it was.
      ...(request !== '' && request !== query.get('request') ? { span: '30d' } : {}),
      live: textField(data, 'live') === 'on' ? '1' : '',
    });
    // Enter is a change of the field, then a submit.
    if (next !== withQuery({})) go(next);
  };
  const change = (event: Event): void => {
    event.preventDefault();
    void follow();
  };
  const some = filters.some((name) => query.has(name));
  return (
    <form class="filters" ref={form} onSubmit={change} aria-label={t('attacks.filter')}>
      <label>
        {t('attacks.outcome')}
        <select name="outcome" data-filter value={query.get('outcome') ?? ''} onChange={change}>
          <option value="">{t('common.all')}</option>
          <option value="blocked">{t('attacks.blocked')}</option>
          <option value="passed">{t('attacks.passed')}</option>
        </select>
      </label>
      {typed.map((name) => (
        <label>
          {t(name === 'request' ? 'event.id' : `attacks.${name}`)}
          <input name={name} defaultValue={query.get(name) ?? ''} onChange={change} />
        </label>
      ))}
      <SiteChoice chosen={query.get('site') ?? ''} change={change} />
      <label class="check">
        <input type="checkbox" name="live" checked={query.get('live') === '1'} onChange={change} />
        {t('attacks.live')}
      </label>
      {some && (
        <Link href={withQuery(Object.fromEntries(filters.map((name) => [name, ''])))}>
          {t('attacks.clear')}
        </Link>
      )}
    </form>
  );
}

/** The events of the filter, older ones as the list is scrolled. */
function Events(): JSX.Element {
  const { query } = address.value;
  const request = query.get('request') ?? '';
  const found = useLongList(query.toString(), (cursor, signal) =>
    logs.querySecurityEvents(queryOf(query, cursor), { signal }),
  );
  return (
    <>
      <State of={found}>
        {(events) =>
          request !== '' && events.length === 0 ? (
            <p class="empty">
              {t('attacks.noRequest')}{' '}
              <Link href={`/logs?${new URLSearchParams({ span: '30d', request }).toString()}`}>
                {t('nav.logs')}
              </Link>
            </p>
          ) : (
            <ColumnChoice
              table="events"
              columns={eventColumns.map((name) => [name, t(name)] as const)}
            >
              <EventTable events={events} empty={t('attacks.empty')} />
            </ColumnChoice>
          )
        }
      </State>
      <ListEnd of={found} />
    </>
  );
}
