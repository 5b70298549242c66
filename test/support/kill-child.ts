/** Ends a server that a test started. */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** SIGKILL, unless it ended by itself; resolves once it is gone. */
export async function killChild(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}
