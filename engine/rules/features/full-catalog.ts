/** The product's catalog: every list, and how the regexes of selectors are compiled. */

import { compileExact } from '../../match/regex.ts';
import { actions } from './actions/list.ts';
import type { RuleCatalog } from './catalog.ts';
import { directives } from './directives/list.ts';
import { operators } from './operators/list.ts';
import { transformations } from './transformations/list.ts';
import { variables } from './variables/list.ts';

/** Everything that rules may name in this product. */
export const fullCatalog: RuleCatalog = {
  directives,
  operators,
  transformations,
  actions,
  variables,
  compileRegex(pattern, caseless) {
    try {
      return compileExact(pattern, { caseless });
    } catch {
      return { failure: 'this is no regular expression' };
    }
  },
};
