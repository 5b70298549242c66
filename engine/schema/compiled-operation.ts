/** What an operation is once it is compiled, and what a path led to; plain data. */

import type { ApiOperation } from '../contract/api-checks.ts';
import type { BodyChecks } from './body-checks.ts';
import type { ParameterChecks } from './parameter-checks.ts';

/** An operation with all that is compiled for it. */
export interface CompiledOperation {
  readonly spec: ApiOperation;
  /** Place in the list of operations. */
  readonly index: number;
  readonly parameters: ParameterChecks;
  /** Null where the document says nothing of a body. */
  readonly body: BodyChecks | null;
}

/** What a path led to, in each reading that led somewhere. */
export interface FoundOperation {
  readonly operation: CompiledOperation;
  /** What templates took, as sent; one list a reading. */
  readonly values: readonly (readonly string[])[];
  /** Readings of the path mean different operations. */
  readonly ambiguous: boolean;
}
