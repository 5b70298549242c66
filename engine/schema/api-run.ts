/**
 * The checks of one request: what its head breaks at once, what its body breaks later, and what is
 * counted in the end. Holds nothing of the request's values.
 */

import type { ApiChecks, ApiMediaKind, ApiMode, ApiScope } from '../contract/api-checks.ts';
import type { ProcessorReading } from '../../base/body-family.ts';
import { findingText } from '../../base/check-fingerprint.ts';
import { schemaLimits } from '../../base/schema-limits.ts';
import type { GuardVerdict } from '../contract/guard.ts';
import type { RequestView } from '../guard/request-view.ts';
import type { PendingBody } from './body-checks.ts';
import type { BodyControlRun } from './body-control-run.ts';
import type { CheckCounts } from './check-counts.ts';
import type { FoundOperation } from './compiled-operation.ts';
import {
  constraints,
  graver,
  notEvaluated,
  RESULT,
  violation,
  type Constraint,
  type Finding,
  type Result,
} from './finding.ts';

/** The site whose checks run. */
export interface RunSite {
  readonly checks: ApiChecks;
  readonly counts: CheckCounts;
}

/** What covers a request; one of them at least. */
export interface Covering {
  readonly found: FoundOperation | null;
  /** Null where an operation was found. */
  readonly scope: ApiScope | null;
  /** Null where no body control applies. */
  readonly controls: BodyControlRun | null;
}

/** One request; see the header. */
export class ApiRun {
  /** Results by constraint, in the order of `constraints`. */
  readonly results: Result[] = noResults();
  /** The gravest thing found. */
  finding: Finding | null = null;
  /** Index of the operation; -1 for none. */
  readonly operation: number;
  /** Null where an operation was found. */
  readonly scope: ApiScope | null;
  readonly mode: ApiMode;
  private readonly site: RunSite;
  private readonly found: FoundOperation | null;
  private readonly controls: BodyControlRun | null;
  private pending: PendingBody | null = null;
  /** -1 for a request that nobody sent: it is not counted. */
  private readonly receivedAtMs: number;

  constructor(
    site: RunSite,
    { found, scope, controls }: Covering,
    view: RequestView,
    hasBody: boolean,
  ) {
    this.site = site;
    this.found = found;
    this.scope = scope;
    this.controls = controls;
    this.receivedAtMs = view.trial ? -1 : view.nowMs;
    this.operation = found === null ? -1 : found.operation.index;
    this.mode = found === null ? 'off' : found.operation.spec.mode;
    if (this.mode !== 'off') this.checkHead(found!, view, hasBody);
  }

  /** What covers the request, for people who ask why. */
  get saw(): string {
    const { found, scope } = this;
    if (found !== null) return `${found.operation.spec.key}, ${this.mode}`;
    if (scope !== null) return `no operation under ${scope.basePath === '' ? '/' : scope.basePath}`;
    return 'a body control';
  }

  /** Bytes of the body that are needed; 0 where none are. */
  get bodyBytes(): number {
    const own = this.pending === null ? 0 : schemaLimits.bodyBytesMax;
    return this.controls === null ? own : Math.max(own, this.controls.bodyBytes);
  }

  /**
   * Takes what the rules read the body as: what they inspected as another kind than is checked here
   * has two readings, which breaks the document.
   */
  takeReading(read: ProcessorReading): void {
    this.controls?.takeReading(read);
    const { pending } = this;
    if (read !== 'none' && pending !== null && isOther(pending.media.kind, read)) {
      this.pending = null;
      this.note('body', violation('body', 'contentType', pending.media.pointer));
    }
  }

  /** Takes the body; null where it is longer than `bodyBytes`, or was not held. */
  checkBody(body: Uint8Array | null): void {
    const bytes = body === null ? null : asBuffer(body);
    this.controls?.checkBody(bytes);
    const { pending, found } = this;
    if (pending === null) return;
    this.pending = null;
    if (bytes === null || bytes.length > schemaLimits.bodyBytesMax) {
      this.note('body', notEvaluated('body', 'size', pending.media.pointer));
    } else this.note('body', found!.operation.body!.checkContent(pending, bytes));
  }

  /** What is to be done or recorded now. `failOpen`: what is not known may pass. */
  verdicts(failOpen: boolean): readonly GuardVerdict[] {
    const own = this.scope === null ? this.ownVerdict(failOpen) : undeclaredVerdict(this.scope);
    const others = this.controls === null ? [] : this.controls.verdicts(failOpen);
    return own === null ? others : [own, ...others];
  }

  /** Counts the request; once, when it ends. */
  end(): void {
    if (this.receivedAtMs < 0) return;
    // Others ended the request before its body was looked at.
    if (this.pending !== null) this.results[bodyAt] = RESULT.NOT_EVALUATED;
    const { site, controls, found, receivedAtMs } = this;
    const declared = found !== null || this.scope !== null;
    if (controls === null) return site.counts.add(site.checks, this, receivedAtMs);
    const results = found === null ? noResults() : this.results;
    results[controlAt] = controls.resultOf('body_control');
    results[candidateAt] = controls.resultOf('body_candidate');
    if (declared) site.counts.add(site.checks, this, receivedAtMs);
    const { finding } = controls;
    const place = found === null ? site.checks.operations.length + controls.index : this.operation;
    if (found !== null) site.counts.addViolation(site.checks, place, finding, receivedAtMs);
    else site.counts.add(site.checks, { operation: place, results, finding }, receivedAtMs);
  }

  private ownVerdict(failOpen: boolean): GuardVerdict | null {
    const { finding, mode, found } = this;
    if (finding === null || finding.unchecked === true) return null;
    const unknown = finding.result === RESULT.NOT_EVALUATED;
    const denies = mode === 'enforce' && !(unknown && failOpen);
    const { key } = found!.operation.spec;
    const verdict: GuardVerdict = {
      guard: 'schema',
      action: denies ? 'deny' : 'monitor',
      reason: unknown ? 'schema_not_evaluated' : 'schema_violation',
      ruleId: key,
      detail: findingText(finding),
      status: denies ? 403 : 0,
      scenario: denies ? 'waf_block' : null,
    };
    if (unknown) return verdict;
    const { location, keyword, pointer } = finding;
    const { contractId } = this.site.checks;
    return { ...verdict, finding: { contractId, operationKey: key, location, keyword, pointer } };
  }

  private checkHead(found: FoundOperation, view: RequestView, hasBody: boolean): void {
    const { parameters, body, spec } = found.operation;
    if (found.ambiguous) this.note('path', violation('path', 'ambiguous', spec.pointer));
    if (parameters.hasPath) {
      let broken: Finding | null = null;
      for (const values of found.values) broken = graver(broken, parameters.checkPath(values));
      this.note('path', broken);
    }
    if (parameters.hasQuery) this.note('query', parameters.checkQuery(view.query));
    if (parameters.hasHeader) this.note('header', parameters.checkHeader(view));
    if (parameters.hasCookie) this.note('cookie', parameters.checkCookie(view));
    if (body === null) return;
    const head = body.checkHead(view, hasBody);
    if (head !== null && 'media' in head) this.pending = head;
    else this.note('body', head);
  }

  private note(constraint: Constraint, finding: Finding | null): void {
    const at = constraints.indexOf(constraint);
    const result = finding === null ? RESULT.VALID : finding.result;
    // What was found wrong before stays wrong.
    if (this.results[at] !== RESULT.VIOLATION) this.results[at] = result;
    this.finding = graver(this.finding, finding);
  }
}

function asBuffer(body: Uint8Array): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** Texts and binary content are looked at by their size alone, whatever the rules make of them. */
function isOther(kind: ApiMediaKind, read: ProcessorReading): boolean {
  return kind !== 'text' && kind !== 'binary' && kind !== read;
}

const bodyAt = constraints.indexOf('body');
const controlAt = constraints.indexOf('body_control');
const candidateAt = constraints.indexOf('body_candidate');

const none: readonly Result[] = constraints.map(() => RESULT.NONE);

function noResults(): Result[] {
  return none.slice();
}

function undeclaredVerdict({ undeclared, basePath }: ApiScope): GuardVerdict | null {
  if (undeclared === 'allow') return null;
  const denies = undeclared === 'block';
  return {
    guard: 'schema',
    action: denies ? 'deny' : 'monitor',
    reason: 'undeclared_operation',
    ruleId: '',
    detail: `no operation under ${basePath === '' ? '/' : basePath}`,
    status: denies ? 403 : 0,
    scenario: denies ? 'waf_block' : null,
  };
}
