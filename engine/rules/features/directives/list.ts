/** The one list of all directives, from which lookup, messages and docs are made. */

import { bodyDirectives } from './bodies.ts';
import type { DirectiveDefinition } from './definition.ts';
import { engineDirectives } from './engine.ts';
import { loggingDirectives } from './logging.ts';
import { scoringDirectives } from './scoring.ts';
import { ruleDirectives } from './rules.ts';

/** Every directive that is known, whatever is done with it. */
export const directives: readonly DirectiveDefinition[] = [
  ...ruleDirectives,
  ...bodyDirectives,
  ...engineDirectives,
  ...loggingDirectives,
  ...scoringDirectives,
];
