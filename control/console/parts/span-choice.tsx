/** The choice of a span of time; it stands in the address. */

import type { JSX } from 'preact';
import { address, withQuery } from '../address.ts';
import { spanOf, spans } from '../time-span.ts';
import { t } from '../text/text.ts';
import { Link } from './link.tsx';

/** Links to the same view over other spans. */
export function SpanChoice(): JSX.Element {
  const now = spanOf(address.value.query.get('span'));
  return (
    <nav class="choice" aria-label={t('span.label')}>
      {spans.map((span) => (
        <Link href={withQuery({ span })} current={span === now}>
          {t(`span.${span}`)}
        </Link>
      ))}
    </nav>
  );
}
