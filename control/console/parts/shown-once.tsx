/** How a secret is shown that nobody can read again: once, with a button that copies it. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../text/text.ts';
import { Act } from './act.tsx';
import { Card } from './panel.tsx';

/** The secret; it leaves the page with `close` or with the view. */
export function ShownOnce({
  title,
  secret,
  close,
}: {
  readonly title: string;
  readonly secret: string;
  readonly close: () => void;
}): JSX.Element {
  const [copied, setCopied] = useState(false);
  return (
    <Card title={title} note={t('once.note')}>
      <pre class="code" data-secret>
        {secret}
      </pre>
      <p class="actions">
        <Act
          label={t('once.copy')}
          codes={[]}
          primary
          run={async () => {
            await window.navigator.clipboard.writeText(secret);
            setCopied(true);
          }}
        />
        <button type="button" onClick={close}>
          {t('once.close')}
        </button>
        <span class="done" aria-live="polite">
          {copied && t('once.copied')}
        </span>
      </p>
    </Card>
  );
}
