/** Runs one compiled check on the readings of a value. */

import type { ApiCheck } from '../base/check-code.ts';
import { notEvaluated, unchecked, violation, type Constraint, type Finding } from './finding.ts';
import type { Reading } from './parameter-reading.ts';

/** Null where one reading is valid. `check` null: nothing could be compiled. */
export function runCheck(
  check: ApiCheck | null,
  reading: Reading,
  location: Constraint,
  pointer: string,
): Finding | null {
  if ('fault' in reading) return faultOf(reading.fault, location, pointer);
  if (check === null) return unchecked(location, pointer);
  let keyword = 'type';
  let place = '';
  try {
    for (const value of reading.values) {
      if (check(value)) return null;
      const [error] = check.errors ?? [];
      keyword = error?.keyword ?? keyword;
      place = error?.schemaPath ?? place;
    }
  } catch {
    // A check that gives up (depth, a bound of its work) has not said that the value is valid.
    return notEvaluated(location, 'check_failed', pointer);
  }
  return violation(location, keyword, pointer + place.replace(/^#/, ''));
}

/** Bounds say nothing of the value; what else cannot be read breaks every schema. */
function faultOf(fault: string, location: Constraint, pointer: string): Finding {
  if (fault === 'unread') return unchecked(location, pointer);
  const bound = fault === 'depth' || fault === 'size';
  return bound ? notEvaluated(location, fault, pointer) : violation(location, fault, pointer);
}
