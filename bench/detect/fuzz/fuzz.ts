/** Which acting mutants pass: real interpreters say which act, the caller says which are found. */

import { startDice } from '../../worst/search.ts';
import { formatShare, wilson } from '../intervals.ts';
import { actsInShell, mutateShell } from './shell.ts';
import { actsInSqlite, mutateSql, type Mutant } from './sql.ts';

/** The languages, each with its mutants and its judge. */
export const fuzzed = [
  { name: 'SQL in SQLite', mutate: mutateSql, acts: actsInSqlite },
  { name: 'sh', mutate: mutateShell, acts: actsInShell },
] as const;

/** What became of the mutants of one language. */
export interface Fuzzed {
  readonly name: string;
  readonly mutants: number;
  readonly acting: number;
  readonly passed: readonly Mutant[];
}

/** Cost: one or two processes a mutant. Errors: an interpreter that is not there. */
export function fuzz(
  mutants: number,
  seed: number,
  isFound: (value: string) => boolean,
): readonly Fuzzed[] {
  return fuzzed.map(({ name, mutate, acts }) => {
    const dice = startDice(seed);
    const tried = new Set<string>();
    const passed: Mutant[] = [];
    let acting = 0;
    for (let count = 0; count < mutants; count++) {
      const mutant = mutate(dice);
      const known = `${mutant.context}\n${mutant.value}`;
      if (tried.has(known)) continue;
      tried.add(known);
      if (!acts(mutant)) continue;
      acting++;
      if (!isFound(mutant.value)) passed.push(mutant);
    }
    return { name, mutants: tried.size, acting, passed };
  });
}

/** A line for people. */
export function describeFuzzed({ name, mutants, acting, passed }: Fuzzed): string {
  const share = formatShare(wilson(passed.length, acting));
  return `${name}: ${mutants} mutants, ${acting} act, ${passed.length} of those pass: ${share}`;
}
