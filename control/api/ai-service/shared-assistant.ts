/** The assistant that all entrances share: the bound of calls at once is one for all. */

import { Assistant } from '../../assist/assistant.ts';
import type { Uses } from '../context.ts';

const assistants = new WeakMap<object, Assistant>();

/** The assistant of a deployment. */
export function assistantOf({ store, clock }: Uses<'store' | 'clock'>): Assistant {
  const known = assistants.get(store) ?? new Assistant(store, clock);
  assistants.set(store, known);
  return known;
}
