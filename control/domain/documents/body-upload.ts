/** The requirements of a body control on files, as an operator writes them in JSON. Pure. */

import { invalidField } from '../errors.ts';

/** What is asked of the files of a multipart body; capacities come from the site's policy. */
export interface UploadRequirements {
  readonly format: 'waf.upload_requirements.v1';
  readonly minFiles: number;
  readonly maxFiles: number;
  /** Media types or ranges, lower case, sorted; empty for any. */
  readonly contentTypes: readonly string[];
  /** Names of the fields that may hold files, sorted; empty for any. */
  readonly fields: readonly string[];
}

/** Bounds of what can be asked; the engine looks at this many parts of a body at most. */
export const uploadLimits = {
  filesMax: 1_000,
  namesMax: 100,
  nameCharsMax: 200,
  jsonBytesMax: 65_536,
};

const place = 'draft.uploadRequirementsJson';
const allowed = ['format', 'minFiles', 'maxFiles', 'contentTypes', 'fields'];

/** Reads requirements in base64; null where there are none. Errors: invalid_argument. */
export function readUpload(base64: string): UploadRequirements | null {
  const sent = readJsonObject(base64, place);
  if (sent === null) return null;
  const unknown = Object.keys(sent).find((name) => !allowed.includes(name));
  if (unknown !== undefined) {
    const problem = `takes ${allowed.slice(1).join(', ')}; capacity comes from the site's policy`;
    throw invalidField(place, problem);
  }
  const format = 'waf.upload_requirements.v1';
  if (sent['format'] !== undefined && sent['format'] !== format) {
    throw invalidField(`${place}.format`, `must be ${format}`);
  }
  const minFiles = readCount(sent, 'minFiles', 0);
  const maxFiles = readCount(sent, 'maxFiles', uploadLimits.filesMax);
  if (minFiles > maxFiles) throw invalidField(`${place}.minFiles`, 'must not be above maxFiles');
  return {
    format,
    minFiles,
    maxFiles,
    contentTypes: readNames(sent, 'contentTypes', mediaRange, 'a media type such as image/*'),
    fields: readNames(sent, 'fields', fieldName, 'a plain field name'),
  };
}

const mediaRange = /^[a-z0-9][a-z0-9.+_-]*\/(?:\*|[a-z0-9][a-z0-9.+_-]*)$/;
const fieldName = /^[^"\\\p{Cc}]+$/u;

function readCount(
  sent: Readonly<Record<string, unknown>>,
  name: string,
  standard: number,
): number {
  const value = sent[name] ?? standard;
  if (Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= uploadLimits.filesMax) {
    return Number(value);
  }
  throw invalidField(`${place}.${name}`, `must be a whole number up to ${uploadLimits.filesMax}`);
}

function readNames(
  sent: Readonly<Record<string, unknown>>,
  name: string,
  pattern: RegExp,
  what: string,
): string[] {
  const value = sent[name] ?? [];
  const { namesMax, nameCharsMax } = uploadLimits;
  const fits = (one: unknown): boolean =>
    typeof one === 'string' && one.length <= nameCharsMax && pattern.test(one);
  if (Array.isArray(value) && value.length <= namesMax && value.every(fits)) {
    return [...new Set(value as string[])].sort();
  }
  throw invalidField(`${place}.${name}`, `must be a list of at most ${namesMax}, each ${what}`);
}

/** A JSON object in base64; null for ''. Errors: invalid_argument at `field`. */
export function readJsonObject(
  base64: string,
  field: string,
): Readonly<Record<string, unknown>> | null {
  if (base64 === '') return null;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > uploadLimits.jsonBytesMax) {
    throw invalidField(field, `must not be longer than ${uploadLimits.jsonBytesMax} bytes`);
  }
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalidField(field, 'must be a JSON object in UTF-8');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw invalidField(field, 'must be a JSON object in UTF-8');
}
