/** Buttons that change something: they ask where it cannot be undone, and say what failed. */

import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../text/text.ts';
import { refusalText } from './refusal.ts';
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

type State = 'idle' | 'asking' | 'busy';

/** The button. */
export function Act({ label, codes, run, done, ask, primary = false }: ActProps): JSX.Element {
  const [state, setState] = useState<State>('idle');
  const [error, setError] = useState<unknown>(null);
  const button = useRef<HTMLButtonElement>(null);
  useFocusBack(state, button);
  const missing = lacking(codes);
  const start = (): void => {
    setState('busy');
    setError(null);
    run()
      .then(
        () => done?.(),
        (thrown: unknown) => setError(thrown),
      )
      .finally(() => setState('idle'));
  };
  if (state === 'asking' && ask !== undefined) {
    return <Asking ask={ask} label={label} accept={start} refuse={() => setState('idle')} />;
  }
  return (
    <>
      <button
        type="button"
        ref={button}
        class={primary ? 'primary' : ''}
        disabled={state === 'busy' || missing !== ''}
        title={missing === '' ? '' : t('common.notAllowed', { code: missing })}
        onClick={() => (ask === undefined ? start() : setState('asking'))}
      >
        {label}
      </button>
      {error !== null && (
        <span class="notice" role="alert">
          {refusalText(error)}
        </span>
      )}
    </>
  );
}

/** The question in place of the button; Escape takes it back. */
function Asking({
  ask,
  label,
  accept,
  refuse,
}: {
  readonly ask: string;
  readonly label: string;
  readonly accept: () => void;
  readonly refuse: () => void;
}): JSX.Element {
  const yes = useRef<HTMLButtonElement>(null);
  // With the question itself: a key that is pressed at once belongs to it.
  useLayoutEffect(() => yes.current?.focus(), []);
  return (
    <span
      class="ask"
      role="group"
      aria-label={ask}
      onKeyDown={({ key }) => {
        if (key === 'Escape') refuse();
      }}
    >
      {ask}{' '}
      <button type="button" ref={yes} class="danger" onClick={accept}>
        {label}
      </button>
      <button type="button" onClick={refuse}>
        {t('common.cancel')}
      </button>
    </span>
  );
}

/**
 * The focus is at the button again after a question and after the call, which disables it, unless a
 * person moved it meanwhile.
 */
function useFocusBack(state: State, button: { readonly current: HTMLButtonElement | null }): void {
  const left = useRef(false);
  useLayoutEffect(() => {
    if (state !== 'idle') left.current = true;
    if (state !== 'idle' || !left.current) return;
    left.current = false;
    if (document.activeElement === document.body) button.current?.focus();
  }, [state]);
}
