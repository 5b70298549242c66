/** The list of every collection: what the files of collections export is on it. */

import type { AnyCollection } from './collection.ts';
import * as access from './access-collections.ts';
import * as acme from './acme-collections.ts';
import * as api from './api-collections.ts';
import * as alert from './alert-collections.ts';
import * as ai from './ai-collections.ts';
import * as answers from './answer-collections.ts';
import * as exported from './collections.ts';
import * as duties from './duties.ts';
import * as installation from './installation.ts';
import * as log from './log-collections.ts';
import * as nodes from './node-collections.ts';
import * as plugins from './plugin-collections.ts';
import * as published from './publication-collections.ts';
import * as tokens from './token-collections.ts';

const isCollection = (value: unknown): value is AnyCollection =>
  typeof value === 'object' && value !== null && 'name' in value && 'indexes' in value;

/**
 * Every collection, by name: what is not listed gets no index built when a store is opened, and
 * `waf admin verify` reports its records as unknown.
 */
export const collections: readonly AnyCollection[] = [
  // Some files hand on what others export.
  ...new Set(
    [
      ...[exported, access, acme, ai, alert, answers, api, duties, installation, log, nodes],
      ...[plugins, published, tokens],
    ]
      .flatMap((file) => Object.values<unknown>(file))
      .filter(isCollection),
  ),
].sort((left, right) => (left.name < right.name ? -1 : 1));
