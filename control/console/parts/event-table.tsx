/** The table of security events: arrows move, Enter opens; a long one is drawn in part. */

import type { JSX } from 'preact';
import type { SecurityEvent } from '../../../proto/gen/waf/v1/log_pb.ts';
import { go } from '../address.ts';
import { exactNumber, t, utcTime } from '../text/text.ts';
import { Link } from './link.tsx';
import { Space, useRowWindow } from './row-window.tsx';
import { VisibleText } from './visible-text.tsx';
import { when } from './when.tsx';

const rulesShown = 4;
/** The titles of its columns by their names. */
export const eventColumns = [
  ...(['attacks.when', 'attacks.outcome', 'event.client', 'attacks.request'] as const),
  ...(['attacks.by', 'attacks.score'] as const),
];
const columns = eventColumns.length;

/**
 * The events, the newest first; `empty` says what to do when there are none. Where all of them
 * change at once, each row out of sight costs as much as one in it: `margin` is small there.
 */
export function EventTable({
  events,
  empty,
  margin,
}: {
  readonly events: readonly SecurityEvent[];
  readonly empty: string;
  readonly margin?: number | undefined;
}): JSX.Element {
  const ids = events.map(({ id }) => id);
  const { body, from, to, above, below } = useRowWindow(ids, margin);
  if (events.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div class="scroll">
      <table class="events" role="table" onKeyDown={moveFocus} aria-rowcount={events.length + 1}>
        <thead role="rowgroup">
          <tr role="row">
            {eventColumns.map((title) => (
              <th role="columnheader" class={title === 'attacks.score' ? 'number' : ''}>
                {t(title)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" ref={body}>
          <Space pixels={above} columns={columns} />
          {events.slice(from, to).map((event) => (
            <Row key={event.id} event={event} />
          ))}
          <Space pixels={below} columns={columns} />
        </tbody>
      </table>
    </div>
  );
}

function Row({ event }: { readonly event: SecurityEvent }): JSX.Element {
  const href = `/attacks/${event.id}`;
  const more = event.ruleIds.length - rulesShown;
  return (
    <tr role="row" tabIndex={0} data-href={href}>
      <td role="cell" class="time" title={utcTime(event.occurredAt)}>
        <Link href={href}>{when(event.occurredAt)}</Link>
      </td>
      <td role="cell" class="outcome">
        <span class={event.blocked ? 'badge blocked' : 'badge'}>
          {event.blocked ? t('attacks.blocked') : t('attacks.passed')} {event.status}
        </span>
      </td>
      <td role="cell" class="client">
        {event.clientIp}
      </td>
      <td role="cell" class="request">
        {event.method} <VisibleText text={`${event.host}${event.path}`} />
      </td>
      <td role="cell" class="rules">
        {event.ruleIds.slice(0, rulesShown).join(' ')}
        {more > 0 && ` +${more}`}
      </td>
      <td role="cell" class="number" data-title={t('attacks.score')}>
        {exactNumber(event.anomalyScore)}
      </td>
    </tr>
  );
}

function moveFocus(event: KeyboardEvent): void {
  const row = (event.target as HTMLElement).closest('tr');
  if (row === null) return;
  if (event.key === 'Enter' && event.target === row) go(row.dataset['href'] ?? '/attacks');
  const next =
    event.key === 'ArrowDown'
      ? row.nextElementSibling
      : event.key === 'ArrowUp'
        ? row.previousElementSibling
        : null;
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}
