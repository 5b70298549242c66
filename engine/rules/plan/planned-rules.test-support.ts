/** Small rule sets for the tests of this room: from text to the linked program. Tests only. */

import { systemClock } from '../../../base/clock.ts';
import { fullCatalog } from '../features/full-catalog.ts';
import { loadText } from '../language/include.ts';
import { buildProgram } from '../program/build-program.ts';
import type { RulePorts } from '../transaction/ports.ts';
import type { Program, ProgramItem, Rule } from '../transaction/types.ts';
import { foldProgram } from './fold.ts';
import { prefilterFacts, type PrefilterFacts } from './prefilter-choice.ts';

/** Ports that answer nothing. */
export const emptyPorts: RulePorts = {
  clock: systemClock,
  collections: null,
  geo: null,
  rbl: null,
  env: new Map(),
};

/** The linked program of some lines of rules. Errors: the diagnostics of a text that is wrong. */
export function linkRules(...rules: string[]): Program {
  const text = `SecRuleEngine On\n${rules.join('\n')}\n`;
  const { program, diagnostics } = buildProgram(loadText(text, 't.conf'), fullCatalog, () => null);
  if (!program) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  return program;
}

/** The first link of the rule with that id. */
export function ruleOf(program: Program, id: number): Rule {
  const rule = program.rules.find((one) => one.id === id);
  if (!rule) throw new Error(`no rule ${id}`);
  return rule;
}

/** Ids of the rules of a phase that folding keeps. */
export function keptIds(program: Program, phase: number): number[] {
  const { items, kept } = foldProgram(program, emptyPorts).phases[phase]!;
  return items.flatMap((item: ProgramItem, at) => {
    return item.kind === 'rule' && kept[at] ? [item.id] : [];
  });
}

/** What the choice of a prefilter knows of the whole program. */
export function factsOf(program: Program): PrefilterFacts {
  const folded = foldProgram(program, emptyPorts);
  const kept = folded.phases.map(({ items, kept: keeps }) => items.filter((_, at) => keeps[at]));
  return prefilterFacts(kept, folded);
}
