/** The flags of `waf policy update` on what refuses a request, and what they change. */

import type { FlagDefinition, FlagValues } from '../command.ts';
import { textFlag } from '../command.ts';
import { badFlag } from '../input.ts';

/** Decisions of the API by the names that people write. */
const decisionNames: Readonly<Record<string, string>> = {
  crs: 'DECISION_CRS',
  score: 'DECISION_SCORE',
  both: 'DECISION_BOTH',
  'score-confirms': 'DECISION_SCORE_CONFIRMS',
};

/** Fields of `crsCore`, which have the names of their flags. */
const scoreFields = ['watchScore', 'challengeScore', 'blockScore'] as const;

/** On the score of detection. */
export const decisionFlags: readonly FlagDefinition[] = [
  {
    flags: '--decision <decision>',
    summary: 'which score refuses a request',
    choices: Object.keys(decisionNames),
  },
  { flags: '--watch-score <score>', summary: 'record requests from this score on, 1 to 100' },
  { flags: '--challenge-score <score>', summary: 'name requests from this score on so in events' },
  { flags: '--block-score <score>', summary: 'refuse requests from this score on' },
];

/** Fields of `crsCore` that the flags give. Errors: a score that is none. */
export function readDecision(flags: FlagValues): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const decision = textFlag(flags, 'decision');
  if (decision !== undefined) fields['decision'] = decisionNames[decision];
  for (const field of scoreFields) {
    const text = textFlag(flags, field);
    if (text === undefined) continue;
    const flag = `--${field.replace('Score', '-score')}`;
    if (!/^(?:[1-9]\d?|100)$/.test(text)) throw badFlag(`${flag}: expected 1 to 100`);
    fields[field] = Number(text);
  }
  return fields;
}
