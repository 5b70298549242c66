/** Owns buttons that change something: they ask where it cannot be undone, and say what failed. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../call.ts';
import { t } from '../text/text.ts';
import { lacking } from './rights.tsx';

interface ActProps {
  readonly label: string;
  readonly codes: readonly string[];
  readonly run: () => Promise<unknown>;
  /** Called once it is done. */
  readonly done?: () => void;
  /** The question before it runs. */
  readonly ask?: string;
  readonly primary?: boolean;
}

/** The button. */
export function Act({ label, codes, run, done, ask, primary = false }: ActProps): JSX.Element {
  const [state, setState] = useState<'idle' | 'asking' | 'busy'>('idle');
  const [error, setError] = useState('');
  const missing = lacking(codes);
  const start = (): void => {
    setState('busy');
    setError('');
    run()
      .then(
        () => done?.(),
        (thrown: unknown) => setError(messageOf(thrown)),
      )
      .finally(() => setState('idle'));
  };
  if (state === 'asking') {
    return (
      <span class="ask" role="group" aria-label={ask}>
        {ask}{' '}
        <button type="button" class="danger" autoFocus onClick={start}>
          {label}
        </button>
        <button type="button" onClick={() => setState('idle')}>
          {t('common.cancel')}
        </button>
      </span>
    );
  }
  return (
    <>
      <button
        type="button"
        class={primary ? 'primary' : ''}
        disabled={state === 'busy' || missing !== ''}
        title={missing === '' ? '' : t('common.notAllowed', { code: missing })}
        onClick={() => (ask === undefined ? start() : setState('asking'))}
      >
        {label}
      </button>
      {error !== '' && (
        <span class="notice" role="alert">
          {error}
        </span>
      )}
    </>
  );
}
