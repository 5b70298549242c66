/**
 * The header fields that an upstream's operator sets on every request, in ready form. Fields that
 * frame the message or name the request stay ours, whatever is configured.
 */

import { encodeUtf8 } from '../../base/byte-string.ts';
import { readyChanges, type DefaultField, type FieldChange } from '../base/field-changes.ts';
import type { HeaderConfig } from '../contract/site.ts';

/** Fields in place of the client's. */
export interface OriginFields {
  /** In place of the client's Host; null leaves it. */
  readonly host: string | null;
  /** All others, a line each with its end; byte string. */
  readonly lines: string;
  /** Their names in lower case: the client's are not copied. */
  readonly names: readonly string[];
  /** Names of our own X-Forwarded lines that are replaced too. */
  readonly replacesForwarded: boolean;
  /** Written where the client has none of the name. */
  readonly defaults: readonly DefaultField[];
}

const noDefaults: readonly DefaultField[] = [];

const reserved: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'x-request-id',
]);

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Null when there is nothing to set. What HTTP cannot carry is left out. */
export function originFields(headers: readonly HeaderConfig[] | undefined): OriginFields | null {
  const usable = (headers ?? []).filter(({ name, value }) => {
    return token.test(name) && fieldValue.test(value) && !reserved.has(name.toLowerCase());
  });
  if (usable.length === 0) return null;
  let host: string | null = null;
  let lines = '';
  const names: string[] = [];
  for (const { name, value } of usable) {
    const lower = name.toLowerCase();
    if (lower === 'host') host = value.trim();
    else {
      lines += `${name}: ${value.trim()}\r\n`;
      names.push(lower);
    }
  }
  const replacesForwarded = names.some((name) => name.startsWith('x-forwarded-'));
  return { host: host === '' ? null : host, lines, names, replacesForwarded, defaults: noDefaults };
}

/** The fields of an upstream as a site changes them; the site's come first. */
export function changedFields(
  fields: OriginFields | null,
  changes: readonly FieldChange[],
): OriginFields | null {
  const usable = changes.filter(({ name, value }) => {
    const lower = name.toLowerCase();
    const ours = reserved.has(lower) || lower === 'host';
    return token.test(name) && fieldValue.test(encodeUtf8(value)) && !ours;
  });
  if (usable.length === 0) return fields;
  const { names: own, lines: set, defaults: whereAbsent } = readyChanges(usable);
  const known = fields?.names ?? [];
  const names = [...new Set([...known, ...own])];
  const defaults = whereAbsent.filter(({ name }) => !known.includes(name));
  const rest = { host: null, replacesForwarded: false, lines: '', ...fields, names: own, defaults };
  const replacesForwarded = names.some((name) => name.startsWith('x-forwarded-'));
  const lines = keepUnnamed(rest.lines, rest) + set;
  return { host: rest.host, lines, names, replacesForwarded, defaults };
}

/** Our own forwarded lines without those that are set by name. */
export function keepForwarded(lines: string, fields: OriginFields): string {
  return fields.replacesForwarded ? keepUnnamed(lines, fields) : lines;
}

/** Ready lines, each with its end, without those of fields that the operator sets. */
export function keepUnnamed(lines: string, { names }: OriginFields): string {
  return lines
    .split('\r\n')
    .filter((line) => line !== '')
    .filter((line) => !names.includes(line.slice(0, line.indexOf(':')).toLowerCase()))
    .map((line) => `${line}\r\n`)
    .join('');
}
