/** The entries of the directives on the score of a request. */

import { decisions } from '../../../contract/decision.ts';
import type { DirectiveDefinition } from './definition.ts';
import { choice, integer, text } from './definition.ts';

const own = 'own; ModSecurity has no such score';

/** On scores. */
export const scoringDirectives: readonly DirectiveDefinition[] = [
  {
    name: 'SecDecision',
    summary: 'Says whether the anomaly score of the rules, the score of detection or both refuse.',
    status: 'supported',
    arguments: [choice(...decisions)],
    example: 'SecDecision score',
    source: own,
  },
  {
    name: 'SecScoreWeights',
    summary: 'Names the points of detectors and rules that make the score of detection.',
    status: 'supported',
    arguments: [text('the name of the weights')],
    example: 'SecScoreWeights crs4',
    source: own,
  },
  {
    name: 'SecWatchScore',
    summary: 'The score from which on a request is recorded; 0 takes what the weights say.',
    status: 'supported',
    arguments: [integer(0, 100)],
    example: 'SecWatchScore 25',
    source: own,
  },
  {
    name: 'SecChallengeScore',
    summary: 'The score from which on an event says challenge; 0 takes what the weights say.',
    status: 'supported',
    arguments: [integer(0, 100)],
    example: 'SecChallengeScore 40',
    source: own,
  },
  {
    name: 'SecBlockScore',
    summary: 'The score from which on a request is refused; 0 takes what the weights say.',
    status: 'supported',
    arguments: [integer(0, 100)],
    example: 'SecBlockScore 50',
    source: own,
  },
];
