/** What a view shows while it has no data: loading, or what failed and a way on. */

import type { ComponentChildren, JSX } from 'preact';
import type { Loaded } from '../call.ts';
import { said } from '../text/sentences.ts';
import { t } from '../text/text.ts';

/** What failed, with a way to try again; nothing while a call works. */
export function Failure({ of }: { readonly of: Loaded<unknown> }): JSX.Element | null {
  if (of.error === '') return null;
  return (
    <p class="notice" role="alert">
      {t('common.failed', { message: said(of.error) })}{' '}
      {!of.denied && (
        <button type="button" onClick={of.reload}>
          {t('common.retry')}
        </button>
      )}
    </p>
  );
}

/** The view once there is a value; an error stands above the last value that is known. */
export function State<T>({
  of,
  children,
}: {
  readonly of: Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
}): JSX.Element {
  return (
    <>
      <Failure of={of} />
      {of.value === null && of.error === '' && <p class="quiet">{t('common.loading')}</p>}
      {of.value !== null && children(of.value)}
    </>
  );
}
