/** What the code under test prints: kept instead of shown, until mocks are restored. */

import { vi } from 'vitest';

/** What went to standard output and to standard error since it was begun. */
export interface Printed {
  out: string;
  err: string;
}

/** Begins; a later call begins anew. `vi.restoreAllMocks` ends it. */
export function keepPrinted(): Printed {
  const printed: Printed = { out: '', err: '' };
  const into = (name: keyof Printed) => (text: string | Uint8Array) => {
    printed[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(into('out'));
  vi.spyOn(process.stderr, 'write').mockImplementation(into('err'));
  return printed;
}
