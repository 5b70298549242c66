/** Tells a person before a click what their role does not allow. The API refuses, too. */

import type { JSX } from 'preact';
import { person } from '../session.ts';
import { t } from '../text/text.ts';

/** The first of the codes that the signed-in person lacks; '' when none. */
export function lacking(codes: readonly string[]): string {
  return codes.find((code) => !person.value.codes.has(code)) ?? '';
}

/** The sentence that names what is lacking; nothing for a person who may. */
export function Rights({ codes }: { readonly codes: readonly string[] }): JSX.Element | null {
  const code = lacking(codes);
  return code === '' ? null : <small>{t('common.notAllowed', { code })}</small>;
}
