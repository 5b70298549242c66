/** What the name of a resource may be. */

import { resourceLimits } from '../limits/resource-limits.ts';
import { invalidField } from './errors.ts';

/** A name without space around it. Errors: invalid_argument at `field`. */
export function checkName(text: string | undefined, field: string): string {
  const name = checkNameLength(text, field);
  if (name === '') throw invalidField(field, 'is required');
  return name;
}

/** The same for a name that may be empty. */
export function checkNameLength(text: string | undefined, field: string): string {
  const name = (text ?? '').trim();
  const { nameCharactersMax } = resourceLimits;
  if (name.length <= nameCharactersMax) return name;
  throw invalidField(field, `has at most ${nameCharactersMax} characters`);
}
