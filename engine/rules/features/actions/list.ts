/** The explicit list of actions; order is the order of the documentation. */

import type { ActionDefinition } from '../../transaction/types.ts';
import { deprecatevar, expirevar, initcol, setrsc, setsid, setuid } from './collection-actions.ts';
import { ctl } from './ctl.ts';
import { refusedActions } from './refused.ts';
import { sanitiseActions } from './sanitise.ts';
import { setenv } from './setenv.ts';
import { setvar } from './setvar.ts';
import { staticActions } from './static.ts';

/** Every action that SecLang texts may name. */
export const actions: readonly ActionDefinition[] = [
  ...staticActions,
  setvar,
  setenv,
  initcol,
  setsid,
  setuid,
  setrsc,
  expirevar,
  deprecatevar,
  ctl,
  ...sanitiseActions,
  ...refusedActions,
];
