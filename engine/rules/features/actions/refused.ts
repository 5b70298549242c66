/** The actions that rules may name but that are refused, each with the reason. */

import type { ActionDefinition } from '../../transaction/types.ts';

type Row = readonly [name: string, summary: string, example: string, failure: string];

const rows: readonly Row[] = [
  ['exec', 'Refused: would run a script.', 'exec:/opt/x.lua', 'refused: no script execution'],
  ['proxy', 'Unsupported: sites choose their origins.', 'proxy:http://x/', 'unsupported: proxy'],
  ['pause', 'Unsupported: would hold the request.', 'pause:100', 'unsupported: pause'],
  ['append', 'Unsupported: would change bodies.', "append:'x'", 'unsupported: changing bodies'],
  ['prepend', 'Unsupported: would change bodies.', "prepend:'x'", 'unsupported: changing bodies'],
];

/** Their definitions, for the action list. */
export const refusedActions: readonly ActionDefinition[] = rows.map(
  ([name, summary, example, failure]) => ({
    name,
    kind: 'runtime',
    argument: 'required',
    summary,
    example: `SecRule ARGS "@rx x" "id:1,${example}"`,
    source: `ModSecurity Reference Manual, Actions, ${name}`,
    bind: () => ({ failure }),
  }),
);
