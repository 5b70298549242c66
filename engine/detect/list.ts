/** The families of detectors, in the order in which they search, and all detectors of them. */

import type { Detector, Family } from './detector.ts';
import { html5 } from './families/html.table.ts';
import { paths } from './families/paths.table.ts';

/** The families. */
export const families: readonly Family[] = [paths, html5];

/** All detectors, ascending by id. */
export const detectors: readonly Detector[] = families
  .flatMap((family) => family.detectors)
  .sort((one, other) => one.id - other.id);
