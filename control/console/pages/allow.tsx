/**
 * From "a customer was blocked" to "he passes, and nothing else does": proposes exclusions, tries
 * one on retained requests, and saves it. Nothing changes before the person saves.
 */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  ReplayService,
  type ReplayDifference,
  type ReplayRebuilt,
  type ReplaySummary,
} from '../../../proto/gen/waf/replay/v1/replay_pb.ts';
import { ListChange, RuleOverrideService } from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import type {
  SecurityEvent,
  SecurityEventExplanation,
  SuggestedExclusion,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { messageOf } from '../call.ts';
import { said } from '../text/sentences.ts';
import { lacking, Rights } from '../parts/rights.tsx';
import { lackName } from '../parts/lack-name.ts';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { exactNumber, language, pageTexts, t } from '../text/text.ts';

const replays = createClient(ReplayService, transport);
const overrides = createClient(RuleOverrideService, transport);
const w = pageTexts({
  own: ['This request would pass.', '此请求将通过。'],
  blocked: ['This request would still be blocked.', '此请求仍会被拦截。'],
  blockedBy: [
    'This request would still be blocked, by {rules}.',
    '此请求仍会被以下规则拦截：{rules}。',
  ],
  notTried: [
    'This request could not be tried: neither it nor enough of its values are kept.',
    '无法试验此请求：请求本身及其值均未完整保留。',
  ],
  notToday: [
    'The values of the event alone are not blocked today: they show nothing of the exclusion.',
    '仅凭事件中的值当前不会被拦截：无法说明排除项的效果。',
  ],
  values: [
    "Tried on the event's own values: the request was not kept whole.",
    '使用事件自身的值试验：请求未完整保留。',
  ],
  ruleOff: ['rule {rule} off', '关闭规则 {rule}'],
  ruleWithout: ['rule {rule} without {list}', '规则 {rule} 不检查 {list}'],
  everyPath: ['on every path', '所有路径'],
  underPath: ['under {list}', '路径 {list} 之下'],
  everySite: ['on every site of the policy', '该策略的所有站点'],
  thisSite: ['on this site', '仅此站点'],
  leftOut: ['Values that could not be tried: {list}.', '无法试验的值：{list}。'],
});

/** What a trial and the exclusion itself need. */
const tryCodes = ['policy:test', 'log:read'] as const;
const saveCodes = ['policy:rule:override'] as const;
const othersShown = 20;

/** What an exclusion does, in the language that is shown. */
function sentenceOf({ summary, reach, overrides: changes }: SuggestedExclusion): string {
  // The API's own sentence is English.
  if (language.value === 'en') return summary;
  const rules = changes.map(({ crsRuleId: rule, removedTargets: targets }) =>
    targets.length === 0
      ? w('ruleOff', { rule })
      : w('ruleWithout', { rule, list: targets.join('、') }),
  );
  const paths = [...new Set(changes.map(({ scope }) => scope))].filter((one) => one !== '');
  return [
    ...rules,
    paths.length === 0 ? w('everyPath') : w('underPath', { list: paths.join('、') }),
    w(reach === 'policy_target' ? 'everySite' : 'thisSite'),
  ].join('，');
}
/** What the server wants to see a rationale stay below. */
const rationaleMax = 200;

/** What a trial found so far. */
interface Trial {
  readonly done: bigint;
  readonly total: bigint;
  readonly differences: readonly ReplayDifference[];
  readonly summary: ReplaySummary | null;
  readonly rebuilt: ReplayRebuilt | null;
}

interface AllowProps {
  readonly event: SecurityEvent;
  readonly explanation: SecurityEventExplanation | undefined;
}

/** The panel. */
export function Allow({ event, explanation }: AllowProps): JSX.Element {
  const exclusions = explanation?.exclusions ?? [];
  const [chosen, setChosen] = useState(0);
  const [trial, setTrial] = useState<Trial | null>(null);
  const [error, setError] = useState('');
  const [state, setState] = useState<'open' | 'busy' | 'saved'>('open');
  const exclusion = exclusions[chosen];
  const run = (work: () => Promise<'open' | 'saved'>): void => {
    setState('busy');
    setError('');
    work().then(setState, (thrown: unknown) => {
      setError(messageOf(thrown));
      setState('open');
    });
  };
  if (exclusion === undefined) return <NoExclusion notes={explanation?.notes ?? []} />;
  return (
    <section class="card wide allow">
      <h2>{t('allow.title')}</h2>
      <p class="quiet">{t('allow.intro')}</p>
      <fieldset disabled={state !== 'open'}>
        {exclusions.map((one, index) => (
          <label class="check">
            <input
              type="radio"
              name="exclusion"
              checked={index === chosen}
              onChange={() => {
                setChosen(index);
                setTrial(null);
              }}
            />
            <VisibleText text={sentenceOf(one)} />
          </label>
        ))}
      </fieldset>
      <p class="actions">
        <button
          type="button"
          disabled={state !== 'open' || lacking(tryCodes) !== ''}
          onClick={() => run(() => tryOut(event, explanation, exclusion, setTrial))}
        >
          {t('allow.try')}
        </button>
        <button
          type="button"
          class="primary"
          disabled={state !== 'open' || lacking(saveCodes) !== ''}
          onClick={() => run(() => save(event, exclusion))}
        >
          {t('allow.save')}
        </button>
        <Rights codes={[...tryCodes, ...saveCodes]} />
      </p>
      <div aria-live="polite">
        {error !== '' && <p class="notice">{said(error)}</p>}
        {state === 'saved' && <p class="done">{t('allow.saved')}</p>}
        {trial !== null && <TrialResult trial={trial} event={event} />}
      </div>
      {explanation?.notes.map((note) => (
        <p class="quiet">
          <VisibleText text={said(note)} />
        </p>
      ))}
    </section>
  );
}

function NoExclusion({ notes }: { readonly notes: readonly string[] }): JSX.Element {
  return (
    <section class="card wide">
      <h2>{t('allow.title')}</h2>
      <p>{t('allow.none')}</p>
      {notes.map((note) => (
        <p class="quiet">
          <VisibleText text={said(note)} />
        </p>
      ))}
    </section>
  );
}

async function tryOut(
  event: SecurityEvent,
  explanation: SecurityEventExplanation | undefined,
  exclusion: SuggestedExclusion,
  show: (trial: Trial) => void,
): Promise<'open'> {
  let trial: Trial = { done: 0n, total: 0n, differences: [], summary: null, rebuilt: null };
  show(trial);
  const request = {
    policyId: explanation?.policyId ?? '',
    siteId: event.siteId,
    addedOverrides: exclusion.overrides,
    securityEventId: event.id,
  };
  for await (const { message } of replays.runReplay(request)) {
    if (message.case === 'progress') trial = { ...trial, ...progressOf(message.value) };
    if (message.case === 'difference') {
      trial = { ...trial, differences: [...trial.differences, message.value] };
    }
    if (message.case === 'rebuilt') trial = { ...trial, rebuilt: message.value };
    if (message.case === 'summary') trial = { ...trial, summary: message.value };
    show(trial);
  }
  return 'open';
}

function progressOf({
  done,
  total,
}: {
  done: bigint;
  total: bigint;
}): Pick<Trial, 'done' | 'total'> {
  return { done, total };
}

async function save(event: SecurityEvent, exclusion: SuggestedExclusion): Promise<'saved'> {
  const rationale = `from request ${event.requestId}`.slice(0, rationaleMax);
  await overrides.bulkUpsertRuleOverrides({
    overrides: exclusion.overrides.map((one) => ({ ...one, rationale })),
    listChange: ListChange.ADD,
  });
  return 'saved';
}

function TrialResult({
  trial: { done, total, differences, summary, rebuilt },
  event,
}: {
  readonly trial: Trial;
  readonly event: SecurityEvent;
}): JSX.Element {
  if (summary === null) {
    const values = { done: exactNumber(done), total: exactNumber(total) };
    return <p class="quiet">{t('allow.trying', values)}</p>;
  }
  const passing = differences.filter(({ after }) => after?.blocked === false);
  const own = passing.some(({ requestId }) => requestId === event.requestId);
  const others = passing.filter(({ requestId }) => requestId !== event.requestId);
  const left =
    Number(summary.newlyPassed) - passing.length + Math.max(0, others.length - othersShown);
  const skipped = summary.skipped
    .map(({ reason, count }) => `${count} ${lackName(reason)}`)
    .join(', ');
  return (
    <>
      <OwnResult own={own} rebuilt={rebuilt} whole={isWhole(event)} />
      <p>
        {t('allow.tried', {
          replayed: exactNumber(summary.replayed),
          passed: exactNumber(summary.newlyPassed),
        })}{' '}
        {skipped !== '' && t('allow.skipped', { list: skipped })}
      </p>
      {others.length === 0 ? (
        <p class="quiet">{t('allow.noOthers')}</p>
      ) : (
        <>
          <h3>{t('allow.others')}</h3>
          <ul class="others">
            {others.slice(0, othersShown).map((one) => (
              <li>
                {one.method} <VisibleText text={`${one.host}${one.path}`} /> {one.ruleIds.join(' ')}
              </li>
            ))}
          </ul>
        </>
      )}
      {left > 0 && <p>{t('allow.leftOut', { count: left })}</p>}
    </>
  );
}

/** Whether the request itself is kept and was tried. */
function isWhole({ requestEvidence: kept }: SecurityEvent): boolean {
  return kept?.available === true && !kept.headerTruncated && !kept.bodyTruncated;
}

/** What the exclusion does for the request of the event: as kept, else made of its values. */
function OwnResult({
  own,
  rebuilt,
  whole,
}: {
  readonly own: boolean;
  readonly rebuilt: ReplayRebuilt | null;
  readonly whole: boolean;
}): JSX.Element {
  if (own) return <p class="done">{w('own')}</p>;
  if (whole) return <p class="notice">{w('blocked')}</p>;
  if (rebuilt === null) return <p class="notice">{w('notTried')}</p>;
  const { before, after, leftOut } = rebuilt;
  const passes = before?.blocked === true && after?.blocked !== true;
  const rules = (after?.ruleIds ?? []).join(', ');
  const effect = passes ? w('own') : w('blockedBy', { rules });
  return (
    <>
      <p class={passes ? 'done' : 'notice'}>
        {before?.blocked === true ? effect : w('notToday')} <small>{w('values')}</small>
      </p>
      {leftOut.length > 0 && (
        <p class="quiet">
          <VisibleText text={w('leftOut', { list: leftOut.join(', ') })} />
        </p>
      )}
    </>
  );
}
