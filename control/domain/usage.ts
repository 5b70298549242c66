/** Refuses to remove what others use: the message names the users by their ids. */

import { refusal } from './errors.ts';

const namedMax = 10;

/** Something that uses a resource. */
export interface User {
  /** For people, for example 'site'. */
  readonly kind: string;
  readonly id: string;
}

/** Errors: failed_precondition at `field` that names the first ten users; none when unused. */
export function refuseUsed(field: string, users: readonly User[]): void {
  if (users.length === 0) return;
  const named = users.slice(0, namedMax).map(({ kind, id }) => `${kind} ${id}`);
  const more = users.length > namedMax ? ` and ${users.length - namedMax} more` : '';
  throw refusal('failed_precondition', `${field}: is used by ${named.join(', ')}${more}`);
}
