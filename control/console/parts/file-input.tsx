/** A field for a file, in the language of the page: a browser speaks its own there. */

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../text/text.ts';
import { VisibleText } from './visible-text.tsx';

interface FileInputProps {
  readonly name: string;
  readonly required: boolean;
  /** What marks it as refused. */
  readonly wrong: object;
}

/** The field; it stands in its label, so that a click on its words opens the choice. */
export function FileInput({ name, required, wrong }: FileInputProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [chosen, choose] = useState('');
  useEffect(() => {
    const { form } = input.current!;
    const clear = (): void => choose('');
    form?.addEventListener('reset', clear);
    return () => form?.removeEventListener('reset', clear);
  }, []);
  return (
    <>
      <input
        type="file"
        class="unseen"
        ref={input}
        name={name}
        required={required}
        onChange={({ currentTarget }) => choose(currentTarget.files?.[0]?.name ?? '')}
        {...wrong}
      />
      <small class="file">
        <span class="button">{t('edit.chooseFile')}</span>{' '}
        <VisibleText text={chosen === '' ? t('edit.noFile') : chosen} />
      </small>
    </>
  );
}
