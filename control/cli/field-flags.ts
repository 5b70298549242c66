/**
 * Flags that set fields of a message: a row names the flag and its field. What the flag takes is
 * read from the generated message: words of an enum or of a list of texts, switches, numbers.
 */

import { ScalarType, type DescField, type DescMessage } from '@bufbuild/protobuf';
import { boundsOf, rulesOf } from '../limits/field-bounds.ts';
import { textFlag, type FlagDefinition, type FlagValues } from './command.ts';
import { badFlag, wholeNumber } from './input.ts';

/** A flag that sets a field; a switch names both of its words, for example `<on|off>`. */
export interface FieldFlag extends Pick<FlagDefinition, 'flags' | 'resource'> {
  /** JSON name. */
  readonly field: string;
  /** `{bounds}` in it stands for the bounds of the field. */
  readonly summary: string;
  /** What the words of the flag set, where people say other words than the field. */
  readonly words?: Readonly<Record<string, unknown>>;
  /** Reads what is no plain value, such as a file. */
  readonly read?: (text: string) => unknown;
  /** What the error for no number says after the flag. */
  readonly wanted?: string;
}

/** The flags of the rows, as the parser takes them. */
export function flagsOf(schema: DescMessage, rows: readonly FieldFlag[]): FlagDefinition[] {
  return rows.map((row) => {
    const { flags, summary, resource } = row;
    const words = valuesOf(schema, row);
    return {
      flags,
      summary: summary.replace('{bounds}', () => boundsText(schema, row.field)),
      ...(words === undefined ? {} : { choices: Object.keys(words) }),
      ...(resource === undefined ? {} : { resource }),
    };
  });
}

/** What the given flags set, in the JSON form of the message. Errors: AppError bad_flag. */
export function readFields(
  schema: DescMessage,
  rows: readonly FieldFlag[],
  flags: FlagValues,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const row of rows) {
    const text = textFlag(flags, keyOf(row));
    if (text !== undefined) values[row.field] = readField(schema, row, text);
  }
  return values;
}

/** The word of the flag for a value in the JSON form of the message; absent ones are zero there. */
export function shownField(
  schema: DescMessage,
  row: FieldFlag,
  value: string | number | boolean | undefined,
): string {
  const words = Object.entries(valuesOf(schema, row) ?? {});
  const isSwitch = words.some(([, one]) => one === false);
  const shown = value ?? (isSwitch ? false : 0);
  return words.find(([, one]) => one === shown)?.[0] ?? String(shown);
}

/** The words that a field takes, as flags spell them. Errors: an assertion where it has none. */
export function wordsOf(schema: DescMessage, jsonName: string): string[] {
  const words = wordsOfField(fieldOf(schema, jsonName));
  if (words === undefined) throw new Error(`${schema.typeName}.${jsonName} takes any text`);
  return Object.keys(words);
}

/** The name of the flag of a row, for example `--health-path`. */
export function nameOf({ flags }: Pick<FlagDefinition, 'flags'>): string {
  return flags.split(' ', 1)[0]!;
}

function keyOf(row: FieldFlag): string {
  return nameOf(row)
    .slice(2)
    .replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function readField(schema: DescMessage, row: FieldFlag, text: string): unknown {
  if (row.read !== undefined) return row.read(text);
  const words = valuesOf(schema, row);
  if (words !== undefined) return words[text];
  if (fieldOf(schema, row.field).scalar === ScalarType.STRING) return text;
  if (row.wanted !== undefined && !/^\d{1,9}$/.test(text)) {
    throw badFlag(`${nameOf(row)} ${row.wanted}`);
  }
  return wholeNumber(text, nameOf(row));
}

/** The words of a flag with what they set; undefined where it takes any text. */
function valuesOf(
  schema: DescMessage,
  { flags, field, words, read }: FieldFlag,
): Readonly<Record<string, unknown>> | undefined {
  if (words !== undefined || read !== undefined) return words;
  const found = fieldOf(schema, field);
  if (found.scalar !== ScalarType.BOOL) return wordsOfField(found);
  const [on = '', off = ''] = (/<(.*)>/.exec(flags)?.[1] ?? '').split('|');
  return { [on]: true, [off]: false };
}

/** The words of an enum, or of a text that is one of a list, with their JSON form. */
function wordsOfField(field: DescField): Readonly<Record<string, string>> | undefined {
  if (field.enum !== undefined) {
    const { sharedPrefix = '', values } = field.enum;
    const stated = values.filter(({ number }) => number !== 0);
    const wordOf = (name: string): string => name.slice(sharedPrefix.length).toLowerCase();
    return Object.fromEntries(stated.map(({ name }) => [wordOf(name), name]));
  }
  const type = rulesOf(field)?.type;
  if (type?.case !== 'string' || type.value.in.length === 0) return undefined;
  return Object.fromEntries(type.value.in.filter((one) => one !== '').map((one) => [one, one]));
}

function boundsText(schema: DescMessage, jsonName: string): string {
  const { min, max } = boundsOf(schema, jsonName);
  return `${min} to ${max}`;
}

function fieldOf(schema: DescMessage, jsonName: string): DescField {
  const found = schema.fields.find((one) => one.jsonName === jsonName);
  if (found === undefined) throw new Error(`${schema.typeName} has no field ${jsonName}`);
  return found;
}
