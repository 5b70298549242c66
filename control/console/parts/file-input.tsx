/** A field for a file, in the language of the page: a browser speaks its own there. */

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../text/text.ts';
import { VisibleText } from './visible-text.tsx';

interface FileInputProps {
  readonly name: string;
  readonly required: boolean;
  /** The field that gets its text. */
  readonly into?: string | undefined;
  /** What marks it as refused. */
  readonly wrong: object;
}

/** The field; it stands in its label, so that a click on its words opens the choice. */
export function FileInput({ name, required, into = '', wrong }: FileInputProps): JSX.Element {
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
        onChange={({ currentTarget }) => {
          choose(currentTarget.files?.[0]?.name ?? '');
          void putText(currentTarget, into);
        }}
        {...wrong}
      />
      <small class="file">
        <span class="button">{t('edit.chooseFile')}</span>{' '}
        <VisibleText text={chosen === '' ? t('edit.noFile') : chosen} />
      </small>
    </>
  );
}

/** Puts the text of the chosen file into another field of its form. */
async function putText({ form, files }: HTMLInputElement, into: string): Promise<void> {
  const field = form?.elements.namedItem(into);
  const file = files?.[0];
  if (!(field instanceof HTMLTextAreaElement) || file === undefined) return;
  field.value = await file.text();
  field.dispatchEvent(new Event('input', { bubbles: true }));
}
