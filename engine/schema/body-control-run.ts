/**
 * The body controls of one request: what its head breaks at once, what its files break later. Its
 * media type is read once, as the checks of documents read it. Holds no value of the request.
 */

import {
  bodyFamilyOf,
  type BodyFamily,
  type PolicyReading,
  type ProcessorReading,
} from '../../base/body-family.ts';
import type { ArrayNames } from '../contract/array-names.ts';
import type { GuardVerdict } from '../contract/guard.ts';
import type { ApiBodyRule } from '../contract/body-control.ts';
import type { RequestView } from '../guard/request-view.ts';
import type { FoundControl } from './body-controls.ts';
import { graver, notEvaluated, RESULT, violation, type Finding, type Result } from './finding.ts';
import { readMediaType, type MediaType } from './media-type.ts';
import { checkUpload } from './upload-checks.ts';

type Slot = 'body_control' | 'body_candidate';

interface RuleRun {
  readonly key: string;
  readonly slot: Slot;
  readonly rule: ApiBodyRule;
  finding: Finding | null;
  /** The files are still to be looked at. */
  pending: boolean;
}

const noType: MediaType = { type: '', charset: '', boundary: '' };

/** One request; see the header. */
export class BodyControlRun {
  /** Place of the first control in the list of the site. */
  readonly index: number;
  private readonly runs: readonly RuleRun[];
  private readonly type: MediaType;
  private readonly arrayNames: ArrayNames;
  /** Null where the body has none. */
  private readonly family: BodyFamily | null;

  constructor(
    found: readonly FoundControl[],
    readings: readonly PolicyReading[],
    view: RequestView,
    hasBody: boolean,
    arrayNames: ArrayNames = 'none',
  ) {
    this.arrayNames = arrayNames;
    this.index = found[0]!.index;
    this.type = hasBody ? typeOf(view) : noType;
    const family = this.type.type === '' ? null : bodyFamilyOf(this.type.type, readings);
    this.family = family;
    const coding = view.header('content-encoding');
    const coded = coding !== null && coding.toLowerCase() !== 'identity';
    this.runs = found.flatMap(({ control: { key, effective, candidate } }) => [
      ...(effective === undefined ? [] : [startOf(key, 'body_control', effective)]),
      ...(candidate === undefined ? [] : [startOf(key, 'body_candidate', candidate)]),
    ]);
    for (const run of this.runs) {
      const { slot, rule } = run;
      if (!hasBody) run.finding = withoutBody(slot, rule);
      else if (family === null) run.finding = violation(slot, 'contentType', '/allowedFamilies');
      else if (!rule.families.includes(family)) {
        run.finding = violation(slot, 'family', '/allowedFamilies');
      } else if (coded) run.finding = notEvaluated(slot, 'contentEncoding', '/allowedFamilies');
      else run.pending = family === 'multipart' && rule.upload !== undefined;
    }
  }

  /** Bytes of the body that are needed; 0 where none are. */
  get bodyBytes(): number {
    let bytes = 0;
    for (const { pending, rule } of this.runs) {
      if (pending) bytes = Math.max(bytes, rule.upload!.bodyBytes);
    }
    return bytes;
  }

  /** The rules read the body as something: where that is another family, it has no one reading. */
  takeReading(read: ProcessorReading): void {
    if (read === 'none' || this.family === null || read === this.family) return;
    for (const run of this.runs) {
      run.pending = false;
      const conflict = violation(run.slot, 'contentType', '/allowedFamilies');
      run.finding = graver(run.finding, conflict);
    }
  }

  /** Takes the body; null where it is longer than `bodyBytes`. */
  checkBody(body: Buffer | null): void {
    for (const run of this.runs) {
      if (!run.pending) continue;
      run.pending = false;
      const { rule, slot } = run;
      run.finding = checkUpload(rule.upload!, body, this.type.boundary, slot, this.arrayNames);
    }
  }

  /** What is counted of a slot; NONE where there is no such slot. */
  resultOf(slot: Slot): Result {
    const runs = this.runs.filter((one) => one.slot === slot);
    if (runs.length === 0) return RESULT.NONE;
    const finding = runs.reduce<Finding | null>((found, one) => graver(found, one.finding), null);
    if (finding !== null) return finding.result;
    // Others ended the request before its files were looked at.
    return runs.some(({ pending }) => pending) ? RESULT.NOT_EVALUATED : RESULT.VALID;
  }

  /** The gravest thing found; of what is in effect first. */
  get finding(): Finding | null {
    return this.runs.reduce<Finding | null>((found, one) => graver(found, one.finding), null);
  }

  /** What is to be done or recorded. `failOpen`: what is not known may pass. */
  verdicts(failOpen: boolean): GuardVerdict[] {
    return this.runs.flatMap((run) => {
      const { finding } = run;
      return finding === null ? [] : [verdictOf(run, finding, failOpen)];
    });
  }
}

/** No type, several or a broken one have no family; RFC 9110 lets origins take a missing as any. */
function typeOf(view: RequestView): MediaType {
  const fields = view.fields('content-type');
  return fields.length === 1 ? (readMediaType(fields[0]!) ?? noType) : noType;
}

function startOf(key: string, slot: Slot, rule: ApiBodyRule): RuleRun {
  return { key, slot, rule, finding: null, pending: false };
}

function withoutBody(slot: Slot, { upload }: ApiBodyRule): Finding | null {
  const asked = upload !== undefined && upload.minFiles > 0;
  return asked ? violation(slot, 'minFiles', '/upload/minFiles') : null;
}

function verdictOf(
  { key, slot, rule }: RuleRun,
  finding: Finding,
  failOpen: boolean,
): GuardVerdict {
  const unknown = finding.result === RESULT.NOT_EVALUATED;
  const blocks = slot === 'body_control' && rule.mismatch === 'block';
  const denies = blocks && !(unknown && failOpen);
  return {
    guard: 'schema',
    action: denies ? 'deny' : 'monitor',
    reason: `${slot}_${unknown ? 'not_evaluated' : 'violation'}`,
    ruleId: key,
    detail: `${finding.keyword} at ${finding.pointer} of ${rule.specRevision}`,
    status: denies ? 403 : 0,
    scenario: denies ? 'waf_block' : null,
  };
}
