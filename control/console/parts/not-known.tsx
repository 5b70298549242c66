/** What stands in a table in place of a number that is not known, with the reason. */

import type { JSX } from 'preact';
import { said } from '../text/sentences.ts';
import { pageTexts } from '../text/text.ts';

const w = pageTexts({
  failed: ['Not known', '未知'],
  first: ['Asked for the first {rows} rows only', '仅查询前 {rows} 行'],
});

/** `error` of the call, '' for none; `asked` whether it was about this row, of `rows` at most. */
export function NotKnown({
  error,
  asked,
  rows,
}: {
  readonly error: string;
  readonly asked: boolean;
  readonly rows: number;
}): JSX.Element {
  if (!asked) return <span title={w('first', { rows: String(rows) })}>–</span>;
  if (error === '') return <>–</>;
  return (
    <span class="notice" title={said(error)}>
      {w('failed')}
    </span>
  );
}
