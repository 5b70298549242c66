/** What must be known of a rule before its actions are linked: its id, phase and chain. */

import type { ActionExpression } from '../language/ast.ts';
import { quoteForMessage, type Report } from '../language/diagnostic.ts';

/** Values are 0 or false when the actions do not state them or state them wrongly. */
export interface RuleHead {
  readonly id: number;
  /** The id was stated, rightly or not. */
  readonly hasId: boolean;
  /** 1..5. */
  readonly phase: number;
  readonly chain: boolean;
}

/** The phase of a rule that states none. Source: ModSecurity reference manual, phase. */
export const defaultPhase = 2;

const phaseNames: ReadonlyMap<string, number> = new Map([
  ['request', 2],
  ['response', 4],
  ['logging', 5],
]);

/** Reads the head from an action list; the last of several phases counts. Errors: reported. */
export function readHead(actions: readonly ActionExpression[], report: Report): RuleHead {
  let id = 0;
  let hasId = false;
  let phase = 0;
  let chain = false;
  for (const action of actions) {
    const name = action.name.text.toLowerCase();
    if (name === 'chain') chain = true;
    else if (name === 'id') {
      id = readId(action, report);
      hasId = true;
    } else if (name === 'phase') phase = readPhase(action, report);
  }
  return { id, hasId, phase, chain };
}

function readId(action: ActionExpression, report: Report): number {
  const text = action.value?.text ?? '';
  const id = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (id > 0) return id;
  const message = `id: expected a whole number above 0, got ${quoteForMessage(text)}`;
  report('error', 'bad-id', message, (action.value ?? action.name).span);
  return 0;
}

function readPhase(action: ActionExpression, report: Report): number {
  const text = (action.value?.text ?? '').toLowerCase();
  const phase = phaseNames.get(text) ?? (/^[1-5]$/.test(text) ? Number(text) : 0);
  if (phase > 0) return phase;
  const shown = quoteForMessage(text);
  const message = `phase: expected 1 to 5, request, response or logging, got ${shown}`;
  report('error', 'bad-phase', message, (action.value ?? action.name).span);
  return 0;
}
