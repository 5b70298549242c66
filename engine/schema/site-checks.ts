/**
 * What one site checks of requests against its API documents: finds the operation of a request and
 * looks at its parts. Says what it found; enforcing it is the phase driver's.
 */

import { loadChecks, type ApiCheck, type LinearPattern } from '../base/check-code.ts';
import type { ApiChecks, ApiMode, ApiOperation, ApiScope } from '../contract/api-checks.ts';
import type { ArrayNames } from '../contract/array-names.ts';
import type { RequestView } from '../guard/request-view.ts';
import { BodyChecks } from './body-checks.ts';
import { BodyControlRun } from './body-control-run.ts';
import { BodyControls } from './body-controls.ts';
import type { CheckCounts } from './check-counts.ts';
import { decodePercent } from './pairs.ts';
import { ParameterChecks } from './parameter-checks.ts';
import type { CompiledOperation, FoundOperation } from './compiled-operation.ts';
import { findWithHead, PathMatcher, type PathMatch } from './path-matcher.ts';
import { pathReadings, type PathReading } from './request-path.ts';
import { ApiRun, type RunSite } from './api-run.ts';

/** Makes a matcher of a pattern in RE2 syntax. */
export type PatternMaker = (source: string, flags: string) => LinearPattern;

const strictness: Readonly<Record<ApiMode, number>> = { off: 0, observe: 1, enforce: 2 };

/** The checks of one site in one thread; see the header. */
export class SiteChecks implements RunSite {
  readonly checks: ApiChecks;
  readonly counts: CheckCounts;
  /** Why the text of the checks could not be used; '' where it could. */
  readonly fault: string;
  private readonly hosts = new Map<string, PathMatcher<CompiledOperation>>();
  private readonly scopes = new Map<string, ApiScope[]>();
  private readonly controls: BodyControls;
  private readonly arrayNames: ArrayNames;

  /** `code`: the text of the checks; `arrayNames`: how the origin reads names. */
  constructor(
    checks: ApiChecks,
    pattern: PatternMaker,
    counts: CheckCounts,
    code: string = checks.code,
    arrayNames: ArrayNames = 'none',
  ) {
    this.arrayNames = arrayNames;
    this.checks = checks;
    this.counts = counts;
    const { functions, fault } = load(code, pattern);
    this.fault = fault;
    const checkOf = (index: number | undefined): ApiCheck | null => {
      if (index === undefined) return null;
      return functions[index] ?? brokenCheck;
    };
    checks.operations.forEach((spec, index) => this.add(spec, index, checkOf));
    for (const scope of checks.scopes) {
      const known = this.scopes.get(scope.host) ?? [];
      this.scopes.set(scope.host, [...known, scope]);
    }
    for (const scopes of this.scopes.values()) {
      scopes.sort((left, right) => right.basePath.length - left.basePath.length);
    }
    this.controls = new BodyControls(checks);
  }

  /** Looks at the head of a request; null where no document and no body control covers it. */
  begin(view: RequestView, hasBody: boolean): ApiRun | null {
    const matcher = this.hosts.get(view.host);
    const scopes = this.scopes.get(view.host);
    const controlled = this.controls.covers(view.host);
    if (matcher === undefined && scopes === undefined && !controlled) return null;
    const readings = pathReadings(view.path);
    const controls = controlled ? this.beginControls(view, readings, hasBody) : null;
    const { found, missed } =
      matcher === undefined
        ? { found: null, missed: readings.filter(({ usual }) => usual) }
        : findOperation(matcher, view.method, readings);
    const scope = scopes === undefined ? null : strictestScope(scopes, missed);
    // What some origin takes for an operation that is not declared is blocked like one.
    if (found !== null && scope?.undeclared !== 'block') {
      return new ApiRun(this, { found, scope: null, controls }, view, hasBody);
    }
    if (scope === null && controls === null) return null;
    return new ApiRun(this, { found: null, scope, controls }, view, hasBody);
  }

  private beginControls(
    view: RequestView,
    readings: readonly PathReading[],
    hasBody: boolean,
  ): BodyControlRun | null {
    const found = this.controls.find(view.host, view.method, readings);
    if (found.length === 0) return null;
    const { readings: asPolicy } = this.checks.bodyControls;
    return new BodyControlRun(found, asPolicy, view, hasBody, this.arrayNames);
  }

  private add(
    spec: ApiOperation,
    index: number,
    checkOf: (index: number | undefined) => ApiCheck | null,
  ): void {
    let matcher = this.hosts.get(spec.host);
    if (matcher === undefined) this.hosts.set(spec.host, (matcher = new PathMatcher()));
    const { arrayNames } = this;
    const body = spec.body === undefined ? null : new BodyChecks(spec.body, checkOf, arrayNames);
    const parameters = new ParameterChecks(spec, checkOf, arrayNames);
    matcher.add(spec.method, spec.path, { spec, index, parameters, body });
  }
}

/** Stands for a check whose text cannot be used: it never says that a value is valid. */
const brokenCheck: ApiCheck = () => {
  throw new Error('the check could not be loaded');
};

function load(
  code: string,
  pattern: PatternMaker,
): { readonly functions: readonly ApiCheck[]; readonly fault: string } {
  try {
    return { functions: loadChecks(code, pattern), fault: '' };
  } catch (thrown) {
    // Every check then fails, which the mode of its operation decides about.
    return { functions: [], fault: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** What the readings of a path led to. */
interface Search {
  readonly found: FoundOperation | null;
  /** Those that led nowhere, and differ from the others in more than `//` and `/./`. */
  readonly missed: readonly PathReading[];
}

/** The operation of a request; the strictest one where readings of its path differ. */
function findOperation(
  matcher: PathMatcher<CompiledOperation>,
  sentMethod: string,
  readings: readonly PathReading[],
): Search {
  const method = sentMethod.toUpperCase();
  let operation: CompiledOperation | null = null;
  let ambiguous = false;
  const values: (readonly string[])[] = [];
  const take = ({ operation: next, values: taken }: PathMatch<CompiledOperation>): void => {
    if (operation !== null && operation !== next) ambiguous = true;
    else if (!values.some((one) => one.join('\0') === taken.join('\0'))) values.push(taken);
    const stricter =
      operation === null || strictness[next.spec.mode] > strictness[operation.spec.mode];
    if (stricter) operation = next;
  };
  const led: PathReading[] = [];
  let missed: PathReading[] = [];
  for (const reading of readings) {
    const matches = matchesOf(matcher, method, reading);
    matches.forEach(take);
    if (matches.length === 0) {
      if (reading.usual) missed.push(reading);
    } else led.push(reading);
  }
  if (operation === null) return { found: null, missed };
  if (missed.length > 0) {
    const names = led.map(namesIn);
    missed = missed.filter((one) => !names.includes(namesIn(one)));
  }
  return { found: { operation, values, ambiguous }, missed };
}

function namesIn({ segments }: PathReading): string {
  return segments.filter((segment) => segment !== '' && segment !== '.').join('\0');
}

/** In the spelling as sent where one segment is one parameter: escaped delimiters are data. */
function matchesOf(
  matcher: PathMatcher<CompiledOperation>,
  method: string,
  { segments, raw }: PathReading,
): PathMatch<CompiledOperation>[] {
  const first = findWithHead(matcher, method, segments, false);
  if (first === null) return [];
  const plain = asSent(first, segments, raw);
  if (!first.splits) return [plain];
  const other = findWithHead(matcher, method, segments, true);
  return other === null ? [plain] : [plain, asSent(other, segments, raw)];
}

function asSent(
  match: PathMatch<CompiledOperation>,
  segments: readonly string[],
  raw: readonly string[],
): PathMatch<CompiledOperation> {
  const { path } = match.operation.spec;
  if (match.values.length === 0) return match;
  const values: string[] = [];
  path.forEach((segment, at) => {
    const parameters = segment.filter((part) => 'parameter' in part).length;
    if (parameters === 0) return;
    const sent = raw[at] ?? segments[at] ?? '';
    const taken = match.values.slice(values.length, values.length + parameters);
    if (segment.length === 1) values.push(sent);
    // What cannot be decoded stays so.
    else if (decodePercent(sent) === null) values.push(...taken.map(() => sent));
    // A decoded text is escaped again, so that it is decoded once.
    else values.push(...taken.map((text) => encodeURIComponent(text)));
  });
  return { ...match, values };
}

const undeclaredStrictness: Readonly<Record<ApiScope['undeclared'], number>> = {
  allow: 0,
  observe: 1,
  block: 2,
};

/** The strictest of the scopes that readings lie in. */
function strictestScope(
  scopes: readonly ApiScope[],
  readings: readonly PathReading[],
): ApiScope | null {
  let strictest: ApiScope | null = null;
  for (const reading of readings) {
    const scope = scopeOf(scopes, reading);
    if (scope === null) continue;
    const stricter =
      strictest === null ||
      undeclaredStrictness[scope.undeclared] > undeclaredStrictness[strictest.undeclared];
    if (stricter) strictest = scope;
  }
  return strictest;
}

/** The longest base path that a reading lies under. */
function scopeOf(scopes: readonly ApiScope[], { segments }: PathReading): ApiScope | null {
  for (const scope of scopes) {
    const base = scope.basePath === '' ? [] : scope.basePath.slice(1).toLowerCase().split('/');
    if (base.every((text, at) => segments[at]?.toLowerCase() === text)) return scope;
  }
  return null;
}
