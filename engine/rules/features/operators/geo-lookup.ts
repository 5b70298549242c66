/** The operator `geoLookup`: fills the GEO variables from the country database. */

import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches when the database knows the address; GEO then holds what it says. */
export const geoLookup: OperatorDefinition = {
  name: 'geoLookup',
  summary: 'Looks the address up in the country database, fills GEO, matches when it is known.',
  example: 'SecRule REMOTE_ADDR "@geoLookup" "id:1,pass,nolog"',
  source: 'ModSecurity Reference Manual, Operators, geoLookup',
  argument: 'none',
  bind: (argument) => ({
    definition: geoLookup,
    argument,
    evaluate: (value, tx) => {
      const found = tx.ports.geo?.find(value) ?? null;
      if (found) tx.geo = found;
      return found !== null;
    },
  }),
};
