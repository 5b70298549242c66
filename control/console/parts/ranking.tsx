/** Rankings: what is counted, how often, as a bar and as a number. */

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { said } from '../text/sentences.ts';
import { exactNumber, shortNumber, t } from '../text/text.ts';
import { Link } from './link.tsx';
import { Quoting, VisibleText } from './visible-text.tsx';

/** One line of a ranking. */
export interface Rank {
  readonly key: string;
  readonly count: bigint;
  /** Shown in place of the key, which stands below it then. */
  readonly name?: string;
  /** Text beside the key. */
  readonly label?: string;
  /** Where a click leads. */
  readonly href?: string;
}

/** Rankings side by side above a list; in a narrow window they open with a click. */
export function Groups({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const [open] = useState(() => window.matchMedia('(min-width: 641px)').matches);
  return (
    <details class="groups" open={open}>
      <summary>{t('common.groups')}</summary>
      <div class="columns">{children}</div>
    </details>
  );
}

/** A titled ranking. */
export function Ranking({
  title,
  ranks,
}: {
  readonly title: string;
  readonly ranks: readonly Rank[];
}): JSX.Element {
  const most = Math.max(1, ...ranks.map(({ count }) => Number(count)));
  return (
    <section class="card">
      <h2>{title}</h2>
      {ranks.length === 0 && <p class="quiet">{t('common.none')}</p>}
      <ol class="ranking">
        {ranks.map(({ key, count, name = '', label = name === '' ? '' : key, href }) => (
          <li key={key}>
            <progress max={most} value={Number(count)} aria-hidden="true" />
            <span class="rank-key">
              {href === undefined ? (
                <VisibleText text={name || key} />
              ) : (
                <Link href={href}>
                  <VisibleText text={name || key} />
                </Link>
              )}
              {label !== '' && label !== (name || key) && (
                <small title={said(label)}>
                  {' '}
                  <Quoting text={said(label)} />
                </small>
              )}
            </span>
            <span class="number" title={exactNumber(count)}>
              {shortNumber(count)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
