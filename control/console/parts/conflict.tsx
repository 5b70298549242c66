/** What stands in the way of a save: what somebody else saved meanwhile, or a question. */

import type { JSX } from 'preact';
import { t } from '../text/text.ts';
import { VisibleText } from './visible-text.tsx';

/** A field that somebody else changed, and what it holds now. */
export interface Change {
  readonly label: string;
  readonly now: string;
}

/** The version that somebody else saved; that of this person is in the form. */
export function Conflict({
  changes,
  take,
}: {
  readonly changes: readonly Change[];
  readonly take: () => void;
}): JSX.Element {
  return (
    <div class="conflict" role="alert">
      <p>{t('edit.conflict')}</p>
      {changes.length === 0 && <p>{t('edit.conflictUnseen')}</p>}
      <dl class="facts">
        {changes.map(({ label, now }) => (
          <>
            <dt>{label}</dt>
            <dd>
              <VisibleText text={now === '' ? '–' : now} />
            </dd>
          </>
        ))}
      </dl>
      <button type="button" onClick={take}>
        {t('edit.takeTheirs')}
      </button>
    </div>
  );
}

/** What a person has to accept before a save. */
export function Question({
  text,
  busy,
  accept,
  refuse,
}: {
  readonly text: string;
  readonly busy: boolean;
  readonly accept: () => void;
  readonly refuse: () => void;
}): JSX.Element {
  return (
    <div class="conflict" role="alert">
      <p>
        <VisibleText text={text} />
      </p>
      <span class="ask">
        <button type="button" class="danger" disabled={busy} onClick={accept}>
          {t('edit.accept')}
        </button>
        <button type="button" onClick={refuse}>
          {t('common.cancel')}
        </button>
      </span>
    </div>
  );
}
