/** Checks the parameters of one operation in a request's path, query, header and cookies. */

import type { ApiCheck } from '../base/check-code.ts';
import type { ApiOperation, ApiParameter } from '../contract/api-checks.ts';
import type { ArrayNames } from '../contract/array-names.ts';
import type { RequestView } from '../guard/request-view.ts';
import { graver, notEvaluated, unchecked, violation, type Finding } from './finding.ts';
import { checkBothSides } from '../base/number-reading.ts';
import { OriginNames, type Written } from './origin-names.ts';
import { decodeForm, readPairs } from './pairs.ts';
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
  private readonly queryNames: OriginNames;
  private readonly cookieNames: OriginNames;
  private readonly knownQuery: ReadonlySet<string>;
  /** Beginnings of names of deep objects: `filter[`. */
  private readonly deepQuery: readonly string[];

  constructor(
    operation: ApiOperation,
    checkOf: (index: number | undefined) => ApiCheck | null,
    arrayNames: ArrayNames = 'none',
  ) {
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
    this.queryNames = new OriginNames(arrayNames, specs.flatMap(declaredOf));
    // Express takes names of cookies as they are.
    const ofCookies = arrayNames === 'php' ? 'php' : 'none';
    const cookieNames = this.cookie.map(({ spec }) => spec.name);
    this.cookieNames = new OriginNames(ofCookies, cookieNames);
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
    let found: Finding | null = null;
    const named: [string, string][] = [];
    for (const { name, raw } of pairs) {
      if (name !== null) named.push([name, raw]);
      else found = graver(found, violation('query', 'encoding', operation.pointer));
    }
    const { byName, written } = this.queryNames.group(named);
    if (operation.unknownQuery === 'violation') {
      for (const name of byName.keys()) {
        if (this.isKnown(name)) continue;
        found = graver(found, violation('query', 'unknown', operation.pointer));
        break;
      }
    }
    for (const parameter of this.query) {
      const { spec } = parameter;
      const next = this.isAsWritten(spec, written)
        ? checkInQuery(parameter, byName)
        : violation('query', 'style', spec.pointer);
      found = graver(found, next);
    }
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
    const { byName, written } = this.cookieNames.group(readCookies(view.fields('cookie')));
    let found: Finding | null = null;
    for (const { spec, check } of this.cookie) {
      const raws = byName.get(spec.name) ?? [];
      if (!this.cookieNames.takes(spec.name, written.get(spec.name), spec)) {
        found = graver(found, violation('cookie', 'style', spec.pointer));
      }
      found = graver(found, checkPresent(spec, check, raws));
      const [raw = ''] = raws;
      // Some servers take quotes off: both have to be valid.
      if (raw.length > 1 && raw.startsWith('"') && raw.endsWith('"')) {
        found = graver(found, checkPresent(spec, check, [raw.slice(1, -1)]));
      }
    }
    return found;
  }

  /** Whether the texts of a parameter were written as its layout has them. */
  private isAsWritten(spec: ApiParameter, written: ReadonlyMap<string, Written>): boolean {
    if (written.size === 0) return true;
    if (!this.queryNames.takes(spec.name, written.get(spec.name), spec)) return false;
    return spec.style === 'deepObject' || !namesOf(spec).some((name) => isOwn(name, spec, written));
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

/** Names that texts are looked for under. */
function declaredOf(spec: ApiParameter): string[] {
  return spec.style === 'deepObject' ? [spec.name] : namesOf(spec);
}

/** Whether a property of an exploded object, which is a scalar, came as a list or map. */
function isOwn(name: string, spec: ApiParameter, written: ReadonlyMap<string, Written>): boolean {
  return name !== spec.name && written.has(name);
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
  return checkBothSides(() =>
    runCheck(check, readTexts(name, spec, raws, decoders[place]), place, pointer),
  );
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
  return checkBothSides(() => runCheck(check, readEntries(entries, shape), 'query', pointer));
}

/** Names and values of cookies, as sent. Several Cookie fields are one. */
function readCookies(fields: readonly string[]): [name: string, raw: string][] {
  const cookies: [string, string][] = [];
  for (const field of fields) {
    for (const piece of field.split(';')) {
      const equals = piece.indexOf('=');
      const name = (equals < 0 ? piece : piece.slice(0, equals)).trim();
      const value = equals < 0 ? '' : piece.slice(equals + 1).trim();
      cookies.push([name, value]);
    }
  }
  return cookies;
}
