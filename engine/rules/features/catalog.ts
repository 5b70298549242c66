/**
 * What a rule set can name: the lists of the catalog as one value, handed to the linker so
 * that tests can give it another.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { ExactRegex } from '../../match/regex.ts';
import type { DirectiveDefinition } from './directives/definition.ts';
import type {
  ActionDefinition,
  BindFailure,
  OperatorDefinition,
  TransformationDefinition,
  VariableDefinition,
} from '../transaction/types.ts';

/** Everything that rules are linked against. */
export interface RuleCatalog {
  readonly directives: readonly DirectiveDefinition[];
  readonly operators: readonly OperatorDefinition[];
  readonly transformations: readonly TransformationDefinition[];
  readonly actions: readonly ActionDefinition[];
  readonly variables: readonly VariableDefinition[];
  /** Compiles the regex of a selector or of an exception. Never throws. */
  compileRegex(pattern: ByteString, caseless: boolean): ExactRegex | BindFailure;
}
