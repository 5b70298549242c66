/** The ordered list of variables; a new one is a line in its family and shows up at once. */

import type { VariableDefinition } from '../../transaction/types.ts';
import { argumentVariables } from './arguments.ts';
import { bodyVariables } from './body.ts';
import { collectionVariables } from './collections.ts';
import { engineVariables } from './engine.ts';
import { matchedVariables } from './matched.ts';
import { requestVariables } from './request.ts';
import { responseVariables } from './response.ts';
import { timeVariables } from './time.ts';
import { xmlVariables } from './xml.ts';

/** All variables, family by family. */
export const variables: readonly VariableDefinition[] = [
  ...argumentVariables,
  ...requestVariables,
  ...bodyVariables,
  ...xmlVariables,
  ...responseVariables,
  ...collectionVariables,
  ...matchedVariables,
  ...timeVariables,
  ...engineVariables,
];

const byName = new Map<string, VariableDefinition>();
for (const variable of variables) {
  for (const name of [variable.name, ...(variable.aliases ?? [])]) {
    if (byName.has(name)) throw new Error(`two variables are called ${name}`);
    byName.set(name, variable);
  }
}

/** The variable of that upper-case name or alias; undefined when there is none. */
export function findVariable(upperName: string): VariableDefinition | undefined {
  return byName.get(upperName);
}
