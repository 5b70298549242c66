/** Where a virtual patch looks, and for what: its conditions as links of a SecLang chain. */

import { encodeUtf8, type ByteString } from '../../../base/byte-string.ts';
import { cgiName, phpName } from '../../../base/origin-names.ts';
import { spellingsOf } from '../../../base/stated-path.ts';
import { invalidField } from '../errors.ts';
import { patternProblem } from './pattern-size.ts';
import { writeOperand } from './seclang-operand.ts';

/** A mapping as it came in. */
export type PatchObject = Readonly<Record<string, unknown>>;

/** One condition, written. */
export interface PatchCondition {
  /** `SecRule TARGETS "OPERATOR"`. */
  readonly text: string;
  /** `t:none,…`. */
  readonly transformations: string;
}

/** What programs on an origin make of a name. */
type NameReading = (name: string) => string;

/** A place of a request: its variables, and how a member of it is named; null for no members. */
interface Place {
  readonly variables: readonly string[];
  readonly readName: NameReading | null;
  readonly transformations: readonly string[];
}

const place = (
  variables: readonly string[],
  readName: NameReading | null = null,
  ...list: readonly string[]
): Place => ({ variables, readName, transformations: list });

// In every reading that an origin may have; `uri` is the target as it came.
const pathPlace = place(['REQUEST_PATHS'], null, 'urlDecodeUni', 'normalizePath');

const places: Readonly<Record<string, Place>> = {
  method: place(['REQUEST_METHOD']),
  path: pathPlace,
  uri: place(['REQUEST_URI_RAW']),
  query: place(['QUERY_STRING']),
  arguments: place(['ARGS'], phpName),
  'argument-names': place(['ARGS_NAMES', 'ARGS_RENAMED_NAMES']),
  headers: place(['REQUEST_HEADERS'], cgiName),
  cookies: place(['REQUEST_COOKIES'], phpName),
  files: place(['FILES', 'FILES_NAMES']),
  // Values of a parsed body, or the body where nothing parses it.
  body: place(['REQUEST_BODY', 'ARGS_POST', 'ARGS_POST_NAMES', 'XML:/*']),
  // Head and body as they came.
  message: place(['FULL_REQUEST']),
};
const operators: Readonly<Record<string, string>> = {
  contains: 'contains',
  is: 'streq',
  begins: 'beginsWith',
  ends: 'endsWith',
  matches: 'rx',
};
const flags = ['in', 'name', 'not', 'ignoreCase', 'transformations'];
const valueCharactersMax = 4_096;

/** Reads conditions, all of which must hold. Errors: invalid_argument naming the field. */
export function readPatchConditions(list: readonly unknown[], at: string): PatchCondition[] {
  if (list.length === 0) throw invalidField(at, 'needs at least one condition');
  return list.map((one, index) => readCondition(one, `${at}[${index}]`));
}

/** A text field; `absent` where it is missing, or an error without it. */
export function textOf(from: PatchObject, field: string, at: string, absent?: string): string {
  const value = from[field] ?? absent;
  if (value === undefined) throw invalidField(`${at}.${field}`, 'is required');
  if (typeof value !== 'string') throw invalidField(`${at}.${field}`, 'must be text');
  return value;
}

function readCondition(value: unknown, at: string): PatchCondition {
  if (typeof value !== 'object' || value === null) throw invalidField(at, 'must be a mapping');
  const from = value as PatchObject;
  const known = [...flags, ...Object.keys(operators)];
  if (!Object.keys(from).every((field) => known.includes(field))) {
    throw invalidField(at, `Unknown field. Allowed: ${known.join(', ')}.`);
  }
  const found = readPlaces(from, at);
  const ignoreCase = switchOf(from, 'ignoreCase', at);
  const asked = readTransformations(from['transformations'], `${at}.transformations`);
  const onPath = found.includes(pathPlace);
  // Origins answer paths in any case.
  const folds = ignoreCase || onPath;
  const operand = readOperand(from, at, folds, onPath);
  const negated = switchOf(from, 'not', at) ? '!' : '';
  // The readings of a path are decoded; what else is looked at with it is not.
  const mixed = found.some((one) => one !== pathPlace);
  const usual = mixed ? [...new Set(found.flatMap(({ transformations }) => transformations))] : [];
  const lowered = folds && from['matches'] === undefined ? ['lowercase'] : [];
  return {
    text: `SecRule ${targetsOf(found, from, at)} "${negated}${operand}"`,
    transformations: ['none', ...(asked ?? usual), ...lowered].map((one) => `t:${one}`).join(','),
  };
}

function readPlaces(from: PatchObject, at: string): Place[] {
  const asked = Array.isArray(from['in']) ? from['in'] : [from['in']];
  return asked.map((name: unknown) => {
    const found =
      typeof name === 'string' && Object.hasOwn(places, name) ? places[name] : undefined;
    if (found !== undefined) return found;
    throw invalidField(`${at}.in`, `must be one of ${Object.keys(places).join(', ')}`);
  });
}

function targetsOf(found: readonly Place[], from: PatchObject, at: string): string {
  const name = textOf(from, 'name', at, '');
  if (name === '') return found.flatMap(({ variables }) => variables).join('|');
  if (!/^[\w.-]{1,128}$/.test(name)) {
    throw invalidField(`${at}.name`, 'must have letters, digits, dots, _ or - only');
  }
  return found
    .flatMap(({ variables, readName }) => {
      if (readName !== null) return variables.flatMap((one) => spelledTargets(one, name, readName));
      throw invalidField(`${at}.name`, 'is for arguments, headers and cookies only');
    })
    .join('|');
}

/** One member under every name that programs on an origin read as the same. */
function spelledTargets(variable: string, name: string, readName: NameReading): string[] {
  const read = readName(name);
  const names = new Set([name, read]);
  return [...[...names].map((one) => `${variable}:${one}`), `${variable}_RENAMED:${read}`];
}

function readOperand(from: PatchObject, at: string, ignoreCase: boolean, onPath: boolean): string {
  const asked = Object.keys(operators).filter((name) => Object.hasOwn(from, name));
  const [name = ''] = asked;
  if (asked.length !== 1) {
    throw invalidField(at, `must have exactly one of ${Object.keys(operators).join(', ')}`);
  }
  const value = textOf(from, name, at);
  if (value === '' || /[\0\r\n]/.test(value) || value.length > valueCharactersMax) {
    throw invalidField(
      `${at}.${name}`,
      `must be one line of 1 to ${valueCharactersMax} characters`,
    );
  }
  if (name === 'matches') {
    const problem = patternProblem(value);
    if (problem !== null) throw invalidField(`${at}.${name}`, `the pattern ${problem}`);
    return writeOperand('rx', ignoreCase ? `(?i)${value}` : value, `${at}.matches`);
  }
  const lower = ignoreCase ? value.replace(/[A-Z]+/g, (one) => one.toLowerCase()) : value;
  // A path is also looked at without the slash at its end.
  const text = onPath && name === 'is' ? lower.replace(/(.)\/+$/, '$1') : lower;
  const spellings = onPath ? spellingsOf(text, name === 'is' || name === 'begins') : [];
  // Also as t:lowercase, which knows ASCII only, leaves what else is looked at.
  const all = new Set([encodeUtf8(text), ...spellings]);
  if (all.size > 1) return `@rx ${anyOf([...all], name)}`;
  return writeOperand(operators[name] ?? '', text, `${at}.${name}`);
}

/** The pattern for any of several byte strings, as the operator `name` compares. */
function anyOf(texts: readonly ByteString[], name: string): string {
  const start = name === 'is' || name === 'begins' ? '\\A' : '';
  const end = name === 'is' || name === 'ends' ? '\\z' : '';
  return `${start}(?:${texts.map(bytesAsPattern).join('|')})${end}`;
}

function bytesAsPattern(text: ByteString): string {
  return text.replace(
    /[^\w/-]/g,
    (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

function readTransformations(value: unknown, at: string): string[] | null {
  if (value === undefined) return null;
  const fine =
    Array.isArray(value) && value.every((one) => /^[A-Za-z0-9]{1,32}$/.test(String(one)));
  if (!fine) throw invalidField(at, 'must be a list of transformations such as htmlEntityDecode');
  return (value as readonly unknown[]).map(String);
}

function switchOf(from: PatchObject, field: string, at: string): boolean {
  const value = from[field] ?? false;
  if (typeof value !== 'boolean') throw invalidField(`${at}.${field}`, 'must be true or false');
  return value;
}
