/** Reads the files of `waf seclang test`: JSONL, one case a line. Never runs one. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { AppError } from '../../base/errors.ts';

/** One line of a file; its fields are of the kinds that running it needs. */
export type Row = Record<string, unknown>;

/** Rows of a JSONL file; none when it is missing and may be. Errors: AppError bad_test_file. */
export function readRows(path: string, mayMiss = false): Row[] {
  if (!existsSync(path)) {
    if (mayMiss) return [];
    throw badFile(`${path} does not exist`);
  }
  if (!statSync(path).isFile()) throw badFile(`${path} is a folder; name a JSONL file of cases`);
  const lines = readFileSync(path, 'utf8')
    .replace(/^\uFEFF/, '')
    .split('\n');
  return lines.flatMap((line, index) =>
    line.trim() === '' ? [] : [readRow(line, `${path}:${index + 1}`, mayMiss)],
  );
}

/** One row, which must be of a kind that can be run, or a data file (`isData`). */
function readRow(line: string, place: string, isData: boolean): Row {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (cause) {
    throw badFile(`${place}: not a JSON object on one line`, cause);
  }
  const fits = (fields: Fields): boolean => isObject(row) && wrongField(row, fields) === null;
  if (isData ? fits(dataFields) : fits(unitFields) || fits(caseFields)) return row as Row;
  if (!isData && isObject(row) && ('input_b64' in row || 'request' in row)) {
    const fields = 'input_b64' in row ? unitFields : caseFields;
    throw badFile(`${place}: ${wrongField(row, fields) ?? 'it cannot be run'}`);
  }
  const wanted = isData
    ? 'path and content_b64'
    : 'a unit row (kind, name, title, input_b64, ret) or a regression case ' +
      '(title, rules, client, server, request, response, expected)';
  throw badFile(`${place}: expected ${wanted}`);
}

type Kind = 'text' | 'object' | 'list' | 'unit kind';
type Fields = readonly (readonly [name: string, kind: Kind, optional?: 'optional'])[];

const dataFields: Fields = [
  ['path', 'text'],
  ['content_b64', 'text'],
];
const unitFields: Fields = [
  ['kind', 'unit kind'],
  ['name', 'text'],
  ['title', 'text'],
  ['input_b64', 'text'],
  ['output_b64', 'text', 'optional'],
  ['param', 'text', 'optional'],
  ['param_file_b64', 'text', 'optional'],
  ['re_groups', 'list', 'optional'],
];
const caseFields: Fields = [
  ['title', 'text'],
  ['rules', 'text'],
  ['client', 'object'],
  ['server', 'object'],
  ['request', 'object'],
  ['request.method', 'text'],
  ['request.uri', 'text'],
  ['request.http_version', 'text'],
  ['request.headers', 'list'],
  ['request.body_b64', 'text', 'optional'],
  ['response', 'object'],
  ['response.headers', 'list'],
  ['response.body_b64', 'text', 'optional'],
  ['expected', 'object'],
  ['needs', 'list', 'optional'],
];

const words: Readonly<Record<Kind, string>> = {
  text: 'a text',
  object: 'an object',
  list: 'a list',
  'unit kind': '"transformation" or "operator"',
};

const kinds: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  object: isObject,
  list: Array.isArray,
  'unit kind': (value) => value === 'transformation' || value === 'operator',
};

/** The first field that is not of its kind, in words; null when all are. */
function wrongField(row: Row, fields: Fields): string | null {
  for (const [name, kind, optional] of fields) {
    let value: unknown = row;
    for (const part of name.split('.')) value = isObject(value) ? value[part] : undefined;
    if (optional !== undefined && (value === undefined || value === null)) continue;
    if (kinds[kind](value)) continue;
    return `${name} must be ${words[kind]}`;
  }
  return null;
}

function isObject(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error of a file that holds no cases. */
export function badFile(message: string, cause?: unknown): AppError {
  return new AppError('bad_test_file', message, { source: 'config', cause });
}
