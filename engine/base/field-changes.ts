/** What an operator changes in the fields of messages, in the form in which heads are written. */

import { encodeUtf8 } from '../../base/byte-string.ts';

/** One change. */
export interface FieldChange {
  readonly name: string;
  readonly value: string;
  readonly remove: boolean;
  /** What becomes of other values; absent and UNSPECIFIED act as REPLACE. */
  readonly mode?: `FIELD_CHANGE_MODE_${'UNSPECIFIED' | 'REPLACE' | 'ADD' | 'DEFAULT'}`;
}

/** A field that is written where a message has none of its name. */
export interface DefaultField {
  /** Lower case. */
  readonly name: string;
  /** Ready, with its end. */
  readonly line: string;
}

/** Changes in ready form; byte strings. */
export interface ReadyChanges {
  /** Lower case: those of the message are not copied. */
  readonly names: readonly string[];
  /** Written after what is copied, each line with its end. */
  readonly lines: string;
  readonly defaults: readonly DefaultField[];
}

/** The form in which changes are applied. */
export function readyChanges(changes: readonly FieldChange[]): ReadyChanges {
  const lineOf = ({ name, value }: FieldChange): string =>
    `${name}: ${encodeUtf8(value).trim()}\r\n`;
  const names: string[] = [];
  const defaults: DefaultField[] = [];
  let lines = '';
  for (const change of changes) {
    const { mode, remove } = change;
    const name = change.name.toLowerCase();
    const isDefault = mode === 'FIELD_CHANGE_MODE_DEFAULT';
    if (!isDefault && mode !== 'FIELD_CHANGE_MODE_ADD') names.push(name);
    if (isDefault) defaults.push({ name, line: lineOf(change) });
    else if (!remove) lines += lineOf(change);
  }
  return { names, lines, defaults };
}
