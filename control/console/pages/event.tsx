/** One security event: the verdict in a sentence, why, what the client did, how to let it pass. */

import { createClient } from '@connectrpc/connect';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import {
  LogService,
  SecurityEventOutcome,
  type RequestEvidenceHeader,
  type SecurityEvent,
  type SecurityMessage,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { never, useCall } from '../call.ts';
import { EventTable } from '../parts/event-table.tsx';
import { lackName } from '../parts/lack-name.ts';
import { Back } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { placesOf } from '../parts/visible-pieces.ts';
import { MarkedText, MessageText, VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { t } from '../text/text.ts';
import { Allow } from './allow.tsx';
import { Respond } from './respond.tsx';
import { ScoreDecision } from './score-decision.tsx';
import { when } from '../parts/when.tsx';

const logs = createClient(LogService, transport);
const aroundMs = 600_000;
/** Characters of a rule's operator that are shown at once. */
const operatorShown = 120;

/** The page of the event with this id. */
export function AttackEvent({ id }: { readonly id: string }): JSX.Element {
  const found = useCall(id, (signal) => logs.getSecurityEvent({ id }, { signal }), never);
  return (
    <>
      <Back href="/attacks">{t('event.back')}</Back>
      <State of={found}>
        {({ event, explanation }) =>
          event === undefined ? (
            <p>{t('common.none')}</p>
          ) : (
            <>
              <Verdict event={event} />
              <Allow event={event} explanation={explanation} />
              <Respond event={event} policyId={explanation?.policyId ?? ''} />
              <ScoreDecision messages={event.messages} />
              <Rules messages={event.messages} />
              <Headers event={event} />
              <Around event={event} />
            </>
          )
        }
      </State>
    </>
  );
}

function Verdict({ event }: { readonly event: SecurityEvent }): JSX.Element {
  const worst = event.messages.toSorted((a, b) => b.scoreContribution - a.scoreContribution)[0];
  return (
    <section class="card wide">
      <h1 class={event.blocked ? 'verdict blocked' : 'verdict'}>
        {t(event.blocked ? 'event.blocked' : 'event.passed', { status: event.status })}
      </h1>
      <p class="request">
        {event.method} <VisibleText text={`${event.host}${event.path}`} />
      </p>
      {worst !== undefined && (
        <p>
          {t('event.because', {
            rule: worst.ruleId,
            place: placeOf(worst),
            message: said(worst.message),
          })}
        </p>
      )}
      <dl class="facts">
        <dt>{t('event.when')}</dt>
        <dd>{when(event.occurredAt)}</dd>
        <dt>{t('event.client')}</dt>
        <dd>{event.clientIp}</dd>
        <dt>{t('attacks.score')}</dt>
        <dd>{event.anomalyScore}</dd>
        <dt>{t('event.id')}</dt>
        <dd>
          <code>{event.requestId}</code>
        </dd>
      </dl>
    </section>
  );
}

function placeOf({ matchVariable, matchKey }: SecurityMessage): string {
  return matchKey === '' ? matchVariable : `${matchVariable}:${matchKey}`;
}

function Rules({ messages }: { readonly messages: readonly SecurityMessage[] }): JSX.Element {
  return (
    <section class="card wide">
      <h2>{t('event.rules')}</h2>
      {messages.map((message) => (
        <details open={message.scoreContribution > 0}>
          <summary>
            <code>{message.ruleId}</code> <MessageText text={message.message} />{' '}
            {message.scoreContribution > 0 && (
              <span class="badge">+{message.scoreContribution}</span>
            )}
          </summary>
          <dl class="facts stacked">
            <dt>{t('event.value')}</dt>
            <dd>
              <code class="value">
                <VisibleText text={`${placeOf(message)}: `} />
                <MarkedText
                  text={message.matchValue}
                  spans={placesOf(message.matchValue, message.matchedText)}
                />
              </code>
              {message.matchValueTruncated && <small> ({t('event.cut')})</small>}
            </dd>
            <dt>{t('event.chain')}</dt>
            <dd>
              {message.links.length === 0
                ? t('event.gone')
                : message.links.map(({ transformations, operator }) => (
                    <p>
                      {transformations.length === 0
                        ? t('event.noChain')
                        : transformations.join(' → ')}
                      {': '}
                      <Operator text={operator} />
                    </p>
                  ))}
            </dd>
          </dl>
        </details>
      ))}
    </section>
  );
}

/** What a rule looks for; a long pattern opens with a click. */
function Operator({ text }: { readonly text: string }): JSX.Element {
  const code = (shown: string): JSX.Element => (
    <code class="value">
      <VisibleText text={shown} />
    </code>
  );
  if (text.length <= operatorShown) return code(text);
  return (
    <details class="inline">
      <summary>{code(`${text.slice(0, operatorShown)}…`)}</summary>
      {code(text)}
    </details>
  );
}

function Headers({ event }: { readonly event: SecurityEvent }): JSX.Element {
  const evidence = event.requestEvidence;
  const available = evidence?.available === true;
  const id = evidence?.evidenceId ?? '';
  const load = async (signal: AbortSignal): Promise<readonly RequestEvidenceHeader[]> =>
    available ? (await logs.getRequestEvidenceHeaders({ evidenceId: id }, { signal })).headers : [];
  const found = useCall(id, load, never);
  return (
    <section class="card wide">
      <h2>{t('event.headers')}</h2>
      {!available && (
        <p class="quiet">
          {t('event.noHeaders', { reason: lackName(evidence?.unavailableReason ?? 'not_kept') })}
        </p>
      )}
      {available && (
        <State of={found}>
          {(headers) => (
            <dl class="facts stacked">
              {headers.map(({ name, values }) => (
                <>
                  <dt>
                    <VisibleText text={name} />
                  </dt>
                  <dd>
                    <code class="value">
                      <VisibleText text={values.join(', ')} />
                    </code>
                  </dd>
                </>
              ))}
            </dl>
          )}
        </State>
      )}
    </section>
  );
}

function Around({ event }: { readonly event: SecurityEvent }): JSX.Element {
  const at = event.occurredAt === undefined ? Date.now() : timestampMs(event.occurredAt);
  const found = useCall(event.id, (signal) =>
    logs.querySecurityEvents(
      {
        timeRange: { start: timestampFromMs(at - aroundMs), end: timestampFromMs(at + aroundMs) },
        outcome: SecurityEventOutcome.ANY,
        clientIpCidrs: event.clientIp === '' ? [] : [event.clientIp],
        page: { pageSize: 50 },
      },
      { signal },
    ),
  );
  return (
    <section class="card wide">
      <h2>{t('event.around')}</h2>
      <State of={found}>
        {({ items }) => (
          <EventTable events={items.filter(({ id }) => id !== event.id)} empty={t('event.alone')} />
        )}
      </State>
    </section>
  );
}
