/** The operator `rbl`: asks the injected blocklist port; never waits for the network. */

import type { OperatorDefinition } from '../../transaction/types.ts';

/** Matches when the blocklist is known to list the address; off unless the port is configured. */
export const rbl: OperatorDefinition = {
  name: 'rbl',
  summary: 'Matches when the DNS blocklist is known to list the address; off by default.',
  example: 'SecRule REMOTE_ADDR "@rbl dnsbl.example.org" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, rbl',
  argument: 'required',
  caution: 'asks nobody unless the operator names its zone (WAF_RBL_ZONES)',
  bind: (argument) => ({
    definition: rbl,
    argument,
    evaluate: (value, tx, captures) => {
      const listed = tx.ports.rbl?.listed(value, argument) ?? false;
      if (listed) captures?.push(value);
      return listed;
    },
  }),
};
