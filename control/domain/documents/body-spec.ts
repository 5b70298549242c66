/** What a body control says of one operation; plain data. */

import type { BodyFamily } from '../../../base/body-family.ts';
import type { UploadRequirements } from './body-upload.ts';

/** The endpoint that a specification is of. */
export interface BodyScope {
  readonly format: 'waf.body_scope.v1';
  readonly method: string;
  readonly host: string;
  readonly path: string;
}

/** What a body control says of one operation. It holds no value of any request. */
export interface BodySpec {
  readonly format: 'waf.body_spec.v1';
  readonly profile: BodyFamily | 'custom';
  readonly mismatchAction: 'observe' | 'block';
  /** Sorted. */
  readonly allowedFamilies: readonly BodyFamily[];
  readonly scope: BodyScope;
  /** Null where nothing is asked of files. */
  readonly upload: UploadRequirements | null;
}
