/** The families of detectors, in the order in which they search, and all detectors of them. */

import type { Detector, Family } from './detector.ts';
import { addresses } from './families/addresses.ts';
import { html5 } from './families/html.table.ts';
import { injection } from './families/injection.table.ts';
import { paths } from './families/paths.table.ts';
import { script } from './families/script.table.ts';
import { shellShapes } from './shell/shapes.table.ts';
import { shell } from './shell/shell.ts';
import { sql } from './sql/sql.ts';
import { sqlValues } from './sql/values.table.ts';

/** The families. */
export const families: readonly Family[] = [
  sql,
  sqlValues,
  shell,
  shellShapes,
  paths,
  html5,
  script,
  injection,
  addresses,
];

/** All detectors, ascending by id. */
export const detectors: readonly Detector[] = families
  .flatMap((family) => family.detectors)
  .sort((one, other) => one.id - other.id);
