/** Body controls of single operations, as control compiles them and the bundle carries them. */

import type { BodyFamily, PolicyReading } from '../../base/body-family.ts';
import type { ApiSegment } from './api-path.ts';

/** The body controls of one site. */
export interface ApiBodyControls {
  readonly operations: readonly ApiBodyControl[];
  /** Media types that the site's policy reads in a way of its own; the first of a type counts. */
  readonly readings: readonly PolicyReading[];
  /** SHA-256 of the values that the site's policy gave, hex; '' where there are no controls. */
  readonly policySha256: string;
}

/** What one operation takes as a body. */
export interface ApiBodyControl {
  /** Catalog entry. */
  readonly assetId: string;
  /** Name of the operation in counts and events. */
  readonly key: string;
  /** Upper case. */
  readonly method: string;
  /** Lower-case host name. */
  readonly host: string;
  readonly path: readonly ApiSegment[];
  /** What is carried out; absent where only a candidate is there. */
  readonly effective?: ApiBodyRule;
  /** What is recorded only. */
  readonly candidate?: ApiBodyRule;
}

/** One specification. */
export interface ApiBodyRule {
  readonly specRevision: string;
  readonly families: readonly BodyFamily[];
  /** What a body gets that does not keep to the rule; a candidate only observes. */
  readonly mismatch: 'observe' | 'block';
  /** Absent where nothing is asked of files. */
  readonly upload?: ApiUpload;
}

/** What is asked of the files of a multipart body. Sizes are bytes. */
export interface ApiUpload {
  readonly minFiles: number;
  readonly maxFiles: number;
  /** Ranges of media types, lower case; empty for any. */
  readonly contentTypes: readonly string[];
  /** Names of the fields that may hold files; empty for any. */
  readonly fields: readonly string[];
  /** Capacities; they come from the site's policy. */
  readonly fileBytes: number;
  readonly totalFileBytes: number;
  /** Whole body: what a node holds of one request while it looks at the files. */
  readonly bodyBytes: number;
}
