/** Checks the parameters of one operation in a request's path, query, header and cookies. */

import type { ApiCheck } from '../base/check-code.ts';
import type { ApiOperation, ApiParameter } from '../contract/api-checks.ts';
import type { RequestView } from '../guard/request-view.ts';
import { graver, notEvaluated, unchecked, violation, type Finding } from './finding.ts';
import { decodeForm, readPairs } from './pairs.ts';
import { numberReading } from '../base/number-reading.ts';
import { decoders, isSpread, readEntries, readTexts, spreadProperty } from './parameter-reading.ts';
import { runCheck } from './run-check.ts';

interface Parameter {
  readonly spec: ApiParameter;
  readonly check: ApiCheck | null;
}

/** The parameters of an operation by place. */
export class ParameterChecks {
  /** Names of path parameters in the order of the template. */
  private readonly pathNames: readonly string[];
  private readonly path: readonly Parameter[];
  private readonly query: readonly Parameter[];
  private readonly header: readonly Parameter[];
  private readonly cookie: readonly Parameter[];
  private readonly operation: ApiOperation;
  private readonly knownQuery: ReadonlySet<string>;
  /** Beginnings of names of deep objects: `filter[`. */
  private readonly deepQuery: readonly string[];

  constructor(operation: ApiOperation, checkOf: (index: number | undefined) => ApiCheck | null) {
    this.operation = operation;
    const of = (place: ApiParameter['in']): Parameter[] =>
      operation.parameters
        .filter((spec) => spec.in === place)
        .map((spec) => ({ spec, check: checkOf(spec.check) }));
    this.path = of('path');
    this.query = of('query');
    this.header = of('header');
    this.cookie = of('cookie');
    this.pathNames = operation.path.flatMap((segment) =>
      segment.flatMap((part) => ('parameter' in part ? [part.parameter] : [])),
    );
    const specs = this.query.map(({ spec }) => spec);
    this.knownQuery = new Set(specs.flatMap(namesOf));
    this.deepQuery = specs
      .filter(({ style, shape }) => shape.kind === 'object' && style === 'deepObject')
      .map(({ name }) => `${name}[`);
  }

  get hasPath(): boolean {
    return this.path.length > 0;
  }

  /** True where anything in a query can be wrong. */
  get hasQuery(): boolean {
    return this.query.length > 0 || this.operation.unknownQuery === 'violation';
  }

  get hasHeader(): boolean {
    return this.header.length > 0;
  }

  get hasCookie(): boolean {
    return this.cookie.length > 0;
  }

  /** `values`: what the template took, as sent, in its order. */
  checkPath(values: readonly string[]): Finding | null {
    let found: Finding | null = null;
    for (const { spec, check } of this.path) {
      const at = this.pathNames.indexOf(spec.name);
      const raw = at < 0 ? undefined : values[at];
      if (raw === undefined) continue;
      found = graver(found, checkTexts(spec, check, [raw]));
    }
    return found;
  }

  checkQuery(query: string): Finding | null {
    const { operation } = this;
    const pairs = readPairs(query);
    if (pairs === null) return notEvaluated('query', 'size', operation.pointer);
    const byName = new Map<string, string[]>();
    let found: Finding | null = null;
    for (const { name, raw } of pairs) {
      if (name === null) {
        found = graver(found, violation('query', 'encoding', operation.pointer));
        continue;
      }
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [raw]);
      else known.push(raw);
    }
    if (operation.unknownQuery === 'violation') {
      for (const name of byName.keys()) {
        if (this.isKnown(name)) continue;
        found = graver(found, violation('query', 'unknown', operation.pointer));
        break;
      }
    }
    for (const parameter of this.query) found = graver(found, checkInQuery(parameter, byName));
    return found;
  }

  checkHeader(view: RequestView): Finding | null {
    let found: Finding | null = null;
    for (const { spec, check } of this.header) {
      const values = view.fields(spec.name);
      // RFC 9110 section 5.3: only lists may come in several fields.
      const listed = spec.shape.kind === 'array' || spec.shape.kind === 'object';
      const raws = listed && values.length > 1 ? [values.join(',')] : values;
      found = graver(found, checkPresent(spec, check, raws));
    }
    return found;
  }

  checkCookie(view: RequestView): Finding | null {
    const cookies = readCookies(view.fields('cookie'));
    let found: Finding | null = null;
    for (const { spec, check } of this.cookie) {
      const raws = cookies.get(spec.name) ?? [];
      found = graver(found, checkPresent(spec, check, raws));
      const [raw = ''] = raws;
      // Some servers take quotes off: both have to be valid.
      if (raw.length > 1 && raw.startsWith('"') && raw.endsWith('"')) {
        found = graver(found, checkPresent(spec, check, [raw.slice(1, -1)]));
      }
    }
    return found;
  }

  private isKnown(name: string): boolean {
    if (this.knownQuery.has(name)) return true;
    return this.deepQuery.some((prefix) => name.startsWith(prefix));
  }
}

function namesOf(spec: ApiParameter): string[] {
  if (!isSpread(spec)) return [spec.name];
  if (spec.style === 'deepObject' || spec.shape.kind !== 'object') return [];
  return Object.keys(spec.shape.properties);
}

function checkInQuery(
  parameter: Parameter,
  byName: ReadonlyMap<string, readonly string[]>,
): Finding | null {
  const { spec, check } = parameter;
  if (isSpread(spec)) return checkSpread(parameter, byName);
  const raws = byName.get(spec.name) ?? [];
  if (spec.allowEmptyValue && raws.length === 1 && raws[0] === '') return null;
  return checkPresent(spec, check, raws);
}

function checkPresent(
  spec: ApiParameter,
  check: ApiCheck | null,
  raws: readonly string[],
): Finding | null {
  const { in: place, pointer } = spec;
  if (raws.length === 0) return spec.required ? violation(place, 'required', pointer) : null;
  if (spec.shape.kind === 'unread') return unchecked(place, pointer);
  return checkTexts(spec, check, raws);
}

/** Numbers between two doubles are checked as both. */
function checkTexts(
  spec: ApiParameter,
  check: ApiCheck | null,
  raws: readonly string[],
): Finding | null {
  const { in: place, name, pointer } = spec;
  numberReading.inexact = false;
  const found = runCheck(check, readTexts(name, spec, raws, decoders[place]), place, pointer);
  if (found !== null || !numberReading.inexact) return found;
  numberReading.above = true;
  const other = runCheck(check, readTexts(name, spec, raws, decoders[place]), place, pointer);
  numberReading.above = false;
  return other;
}

/** An object whose properties have names of their own in the query. */
function checkSpread(
  { spec, check }: Parameter,
  byName: ReadonlyMap<string, readonly string[]>,
): Finding | null {
  const { name, pointer, shape, style } = spec;
  if (shape.kind !== 'object') return null;
  const entries: [string, string][] = [];
  for (const [key, raws] of byName) {
    const property = spreadProperty(name, style, shape, key);
    if (property === null) continue;
    if (property === undefined) return violation('query', 'style', pointer);
    for (const raw of raws) {
      const text = decodeForm(raw);
      if (text === null) return violation('query', 'encoding', pointer);
      entries.push([property, text]);
    }
  }
  if (entries.length === 0) return spec.required ? violation('query', 'required', pointer) : null;
  numberReading.inexact = false;
  const found = runCheck(check, readEntries(entries, shape), 'query', pointer);
  if (found !== null || !numberReading.inexact) return found;
  numberReading.above = true;
  const other = runCheck(check, readEntries(entries, shape), 'query', pointer);
  numberReading.above = false;
  return other;
}

/** Cookies by name, as sent. Several Cookie fields are one. */
function readCookies(fields: readonly string[]): Map<string, string[]> {
  const cookies = new Map<string, string[]>();
  for (const field of fields) {
    for (const piece of field.split(';')) {
      const equals = piece.indexOf('=');
      const name = (equals < 0 ? piece : piece.slice(0, equals)).trim();
      const value = equals < 0 ? '' : piece.slice(equals + 1).trim();
      const known = cookies.get(name);
      if (known === undefined) cookies.set(name, [value]);
      else known.push(value);
    }
  }
  return cookies;
}
