/** Reads the list of RPCs and their permissions that the contract is held against. */

import { readFileSync } from 'node:fs';

const file = new URL('../../proto/permissions.txt', import.meta.url);

/** A line an RPC: `Service/Method` and `public`, `session` or the codes that it needs. */
export function catalogue(): string[] {
  return readFileSync(file, 'utf8').trim().split('\n');
}
