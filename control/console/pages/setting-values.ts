/** How values of settings stand in the fields of forms, and what was entered in them. Pure. */

import type { JsonObject, JsonValue } from '@bufbuild/protobuf';

/** A text in English and in Chinese. */
export type Pair = readonly [en: string, zhCn: string];

/** One field of a form of settings. */
export interface SettingField {
  /** Key of the setting, then names of fields within it. */
  readonly path: readonly string[];
  readonly label: Pair;
  readonly kind: keyof typeof forms;
  /** What holds while nothing is set. */
  readonly standard: JsonValue;
  /** Values that may be chosen, with their texts. */
  readonly choices?: readonly (readonly [value: string, text: Pair])[];
  readonly hint?: Pair;
}

/** How values of one kind are written in a form, and read from it; undefined: nothing is set. */
interface Form {
  readonly show: (value: JsonValue) => string;
  readonly read: (text: string) => JsonValue | undefined;
}

const plain = (value: JsonValue): string => (typeof value === 'string' ? value : '');
const text: Form = { show: plain, read: (entered) => entered || undefined };

const forms = {
  text,
  area: text,
  secret: text,
  number: {
    show: (value) => (typeof value === 'number' ? String(value) : ''),
    read: (entered) => (entered === '' ? undefined : Number(entered)),
  },
  check: {
    show: (value) => (value === true ? 'on' : ''),
    read: (entered) => entered === 'on',
  },
  /** A list of texts, one a line. */
  lines: {
    show: (value) => listOf(value).map(plain).join('\n'),
    read: (entered) => linesOf(entered),
  },
  /** Certificates one after another. */
  certificates: {
    show: (value) => listOf(value).map(plain).join('\n'),
    read: (entered) =>
      [...entered.matchAll(/-----BEGIN[^-]*-----[^-]*-----END[^-]*-----\n?/g)].map(([one]) => one),
  },
  /** Servers as `host:port`, one a line. */
  servers: {
    show: (value) => listOf(value).map(serverText).join('\n'),
    read: (entered) => linesOf(entered).map(serverOf),
  },
  /** An object of texts as `name = value`, one a line. */
  pairs: {
    show: (value) =>
      Object.entries(objectOf(value))
        .map(([name, one]) => `${name} = ${plain(one)}`)
        .join('\n'),
    read: (entered) => Object.fromEntries(linesOf(entered).map(pairOf)),
  },
} satisfies Record<string, Form>;

/** What the field holds of these values, as a text. */
export function shownText(field: SettingField, values: JsonObject): string {
  const value = valueAt(values, field.path) ?? field.standard;
  // As fields of a form hold lines.
  return forms[field.kind].show(value).replaceAll('\r\n', '\n');
}

/** The keys that differ from what is held once `entered` is saved; null: the standard value. */
export function changedKeys(
  fields: readonly SettingField[],
  held: JsonObject,
  entered: Readonly<Record<string, string>>,
): JsonObject {
  let values = held;
  const keys = new Set<string>();
  for (const field of fields) {
    const typed = entered[nameOf(field)] ?? '';
    if (typed === shownText(field, held)) continue;
    values = withValue(values, field.path, forms[field.kind].read(typed));
    keys.add(field.path[0]!);
  }
  return Object.fromEntries([...keys].map((key) => [key, values[key] ?? null]));
}

/** The name of a field in its form. */
export function nameOf({ path }: SettingField): string {
  return path.join('.');
}

/** Values of an object, by name; none of what is no object. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** The entries of a list; none of what is no list. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function valueAt(values: JsonObject, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((value, name) => objectOf(value)[name], values);
}

function withValue(
  values: JsonObject,
  [name = '', ...inner]: readonly string[],
  value: JsonValue | undefined,
): JsonObject {
  const { [name]: before, ...others } = values;
  const after = inner.length === 0 ? value : withValue(objectOf(before), inner, value);
  return after === undefined ? others : { ...values, [name]: after };
}

function linesOf(entered: string): string[] {
  return entered
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Names of groups hold `=` at times, ids of roles never. */
function pairOf(line: string): [name: string, value: string] {
  const at = line.lastIndexOf('=');
  return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

function serverText(value: JsonValue): string {
  const { host = '', port = 0 } = objectOf(value);
  return `${plain(host)}:${Number(port)}`;
}

function serverOf(line: string): JsonObject {
  const [, host = line, port] = /^(.*?)(?::(\d+))?$/.exec(line) ?? [];
  return { host, port: Number(port ?? 1812) };
}
